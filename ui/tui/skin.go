package tui

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"eventdeck/themes"
	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/timeline"
)

// Settings that the screen keeps.
const (
	keptTheme  = "ui.theme"
	keptGlyphs = "ui.glyphs"
	keptMouse  = "ui.mouse"
	keptNotify = "ui.notify"
)

// skin says how the theme is chosen. What is named first decides: the command
// line, colours that are not wanted, what the operator kept, the terminal.
type skin struct {
	dir    string         // of the operator's themes, "" if there is none
	own    []themes.Theme // read from dir
	wrong  string         // what was wrong in dir when it was read last
	name   string         // the theme that was chosen, "" lets the terminal decide
	dark   bool           // the terminal's background
	depth  themes.Depth
	asking bool // dir is being read
}

// ownThemesMsg: the operator's themes were read again.
type ownThemesMsg struct {
	own   []themes.Theme
	err   error
	asked bool // by the operator
}

func (a *app) initSkin(o Options, env func(string) string) {
	a.skin = skin{dir: o.ThemeDir, dark: true, name: a.kept(keptTheme)}
	if o.NoColor || env("NO_COLOR") != "" {
		a.skin.depth, a.skin.name = themes.NoColours, ""
	}
	if o.Theme != "" {
		a.skin.name = o.Theme
	}
	if a.skin.dir != "" {
		own, err := themes.ReadDir(a.skin.dir)
		a.ownThemes(ownThemesMsg{own: own, err: err})
	}
	a.dress()
	if name := a.skin.name; name != "" && a.Theme.Name != name {
		a.Fail("theme "+name, fmt.Errorf("there is none of that name; %s chooses another", a.KeyOf("theme")))
	}
	a.Glyphs = cells.ChooseGlyphs(env, o.Glyphs, a.kept(keptGlyphs))
}

// themes are all that can be chosen, the operator's first.
func (a *app) themes() []themes.Theme { return slices.Concat(a.skin.own, themes.All()) }

// dress puts on the theme that was chosen, or that suits the terminal.
func (a *app) dress() {
	for _, t := range a.themes() {
		if t.Name == a.skin.name {
			a.wear(t)
			return
		}
	}
	a.wear(themes.For(a.skin.dark, a.skin.depth))
}

// wear shows the screen in a theme. Everything that is laid out is laid out anew.
func (a *app) wear(t themes.Theme) {
	a.Theme = t.At(a.skin.depth)
	a.restyle()
}

func (a *app) restyle() {
	a.Style++
	a.detail.Forget()
}

// terminalSays takes what the terminal tells of its colours.
func (a *app) terminalSays(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.BackgroundColorMsg:
		a.skin.dark = msg.IsDark()
	case tea.ColorProfileMsg:
		if a.skin.depth == themes.NoColours {
			break
		}
		switch msg.Profile {
		case colorprofile.ANSI:
			a.skin.depth = themes.SixteenColours
		case colorprofile.ANSI256:
			a.skin.depth = themes.Colours256
		default:
			a.skin.depth = themes.ManyColours
		}
	}
	if _, picking := a.dialog.(*themePicker); !picking {
		a.dress()
	}
}

// reloadThemes reads the operator's themes again.
func (a *app) reloadThemes(asked bool) tea.Cmd {
	dir := a.skin.dir
	if dir == "" || a.skin.asking {
		return nil
	}
	a.skin.asking = true
	return a.Do(func(context.Context) tea.Msg {
		own, err := themes.ReadDir(dir)
		return ownThemesMsg{own, err, asked}
	})
}

// ownThemes takes the operator's themes. What is wrong with a file is told once,
// and whenever the operator asks.
func (a *app) ownThemes(msg ownThemesMsg) {
	s := &a.skin
	s.asking = false
	wrong := ""
	if msg.err != nil {
		wrong = msg.err.Error()
	}
	switch {
	case msg.err != nil && (msg.asked || wrong != s.wrong):
		a.Fail("themes", msg.err)
	case msg.asked:
		a.Tell(fmt.Sprintf("read %s from %s", cells.Count(len(msg.own), "theme"), s.dir))
	}
	s.wrong = wrong
	worn := a.Theme.Name
	s.own = msg.own
	if slices.ContainsFunc(s.own, func(t themes.Theme) bool { return t.Name == worn || t.Name == s.name }) {
		a.dress()
	}
	if p, ok := a.dialog.(*themePicker); ok {
		p.load()
	}
}

// switchGlyphs goes from Unicode to ASCII glyphs, or back, and keeps that.
func (a *app) switchGlyphs() tea.Cmd {
	name := "ascii"
	if a.Glyphs == &cells.ASCIIGlyphs {
		name = "unicode"
	}
	a.Glyphs = cells.GlyphSets[name]
	a.restyle()
	return a.keep(keptGlyphs, name, name+" glyphs")
}

// lookActions are about how the screen looks and behaves in its terminal.
func (a *app) lookActions() []action.Action {
	return action.Grouped("Screen",
		action.Action{ID: "theme", Title: "choose a theme", Also: "colours colors dark light", Keys: []string{"T"}, Run: action.Act(a.openThemes)},
		action.Action{ID: "theme.reload", Title: "read your themes again", When: func() bool { return a.skin.dir != "" }, Run: func() tea.Cmd { return a.reloadThemes(true) }},
		action.Action{ID: "glyphs", Title: "ASCII or Unicode glyphs", Run: a.switchGlyphs},
		action.Action{ID: "stats", Title: "rates, counters and lag", Also: "metrics rates graph", Keys: []string{"S"}, Run: func() tea.Cmd { return a.rates.Open() }},
		action.Action{ID: "timeline", Title: "timeline: histogram of events over time", Also: "histogram graph chart", Keys: []string{"H"}, Run: func() tea.Cmd { return timeline.Open(&a.Env, a, a.api.Log()) }},
		action.Action{ID: "mouse", Title: "mouse on, or off so that it selects text", Keys: []string{"f2"}, Run: a.switchMouse},
		action.Action{ID: "notify", Title: "notifications while you look elsewhere", Also: "bell alert desktop", Keys: []string{"b"}, Run: action.Act(a.openNotify)},
	)
}
