package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"eventdeck/host/attach"
	"eventdeck/themes"
)

// screenFlags are those of the commands that open the screen.
type screenFlags struct {
	theme   string
	view    string
	ascii   bool
	plain   bool
	present bool
	reads   bool
}

func (a *app) addScreenFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.flags.screen.theme, "theme", "", "theme of the screen; T in it chooses one and keeps it")
	f.StringVar(&a.flags.screen.view, "view", "", "saved view that the screen begins with; p in it saves and lists views")
	f.BoolVar(&a.flags.screen.ascii, "ascii", false, "ASCII glyphs only; EVENTDECK_GLYPHS=ascii does the same")
	f.BoolVar(&a.flags.screen.plain, "plain", false, "the screen in words, for screen readers: only appends lines, needs no terminal")
	f.BoolVar(&a.flags.screen.present, "present", false, "for an audience: captions, more space, personal and secret values masked")
	f.BoolVar(&a.flags.screen.reads, "read-only", false, "a screen that only reads: nothing that changes servers or what is kept can be done")
	fixed(cmd, "theme", themes.Names()...)
}

// themeDir is where the operator's themes are, "" if no such place is known.
func (a *app) themeDir() string {
	file, err := a.paths().ConfigFile()
	if err != nil {
		return "" // the screen works without
	}
	return filepath.Join(filepath.Dir(file), "themes")
}

// settingsFile is the operator's file of settings, "" if no such place is known.
func (a *app) settingsFile() string {
	file, err := a.paths().SettingsFile()
	if err != nil {
		return "" // the screen works without
	}
	return file
}

// session is what the window title calls this run: the directory that --data
// names, or demo.
func (a *app) session(demo bool) string {
	switch {
	case a.flags.data != "":
		return filepath.Base(filepath.Clean(a.flags.data))
	case demo:
		return "demo"
	}
	return ""
}

// screenOptions say how the screen is to look and behave.
func (a *app) screenOptions(d *deck, demo bool) ScreenOptions {
	s := &a.flags.screen
	o := ScreenOptions{
		API: d.API, Demo: demo, Input: a.Stdin, Output: a.Stdout,
		Session: a.session(demo), NoColor: a.noColor(), Theme: s.theme, View: s.view, ThemeDir: a.themeDir(), Present: s.present,
		ReadOnly: s.reads, Settings: a.settingsFile(),
	}
	if c, ok := d.API.(attach.Controller); ok {
		o.React = following{c}
	}
	if !demo {
		o.Servers, o.StartDemo = a.source(), d.startDemo
	}
	if s.ascii {
		o.Glyphs = "ascii"
	}
	return o
}
