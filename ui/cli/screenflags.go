package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"eventdeck/host/attach"
	"eventdeck/themes"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

func (a *app) addScreenFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.Flags.Screen.Theme, "theme", "", "theme of the screen; T in it chooses one and keeps it")
	f.StringVar(&a.Flags.Screen.View, "view", "", "saved view that the screen begins with; p in it saves and lists views")
	f.BoolVar(&a.Flags.Screen.ASCII, "ascii", false, "only ASCII glyphs; EVENTDECK_GLYPHS=ascii does the same")
	f.BoolVar(&a.Flags.Screen.Plain, "plain", false, "the screen in words, for screen readers: only appends lines, needs no terminal")
	f.BoolVar(&a.Flags.Screen.Present, "present", false, "for an audience: captions, more space, personal and secret values masked")
	f.BoolVar(&a.Flags.Screen.ReadOnly, "read-only", false, "a screen that only reads: nothing that changes servers or what is kept can be done")
	plain.CompleteValues(cmd, "theme", themes.Names()...)
}

// themeDir is where the operator's themes are, "" if no such place is known.
func (a *app) themeDir() string {
	file, err := a.Paths().ConfigFile()
	if err != nil {
		return "" // the screen works without
	}
	return filepath.Join(filepath.Dir(file), "themes")
}

// session is the name of this run in the window title: the directory that --data names, or
// demo.
func (a *app) session(demo bool) string {
	switch {
	case a.Flags.Data != "":
		return filepath.Base(filepath.Clean(a.Flags.Data))
	case demo:
		return "demo"
	}
	return ""
}

// screenOptions say how the screen looks and behaves.
func (a *app) screenOptions(d *program.OpenHost, demo bool) program.ScreenOptions {
	s := &a.Flags.Screen
	o := program.ScreenOptions{
		API: d.API, Demo: demo, Input: a.Stdin, Output: a.Stdout,
		Session: a.session(demo), NoColor: a.NoColor(), Theme: s.Theme, View: s.View, ThemeDir: a.themeDir(), Present: s.Present,
		ReadOnly: s.ReadOnly, Settings: a.SettingsFile(),
	}
	if c, ok := d.API.(attach.Controller); ok {
		o.React = following{c}
	}
	if !demo {
		o.Servers, o.StartDemo = a.source(), d.StartDemo
	}
	if s.ASCII {
		o.Glyphs = "ascii"
	}
	return o
}
