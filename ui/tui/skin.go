package tui

import (
	"cmp"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"eventdeck/themes"
	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/memo"
	"eventdeck/ui/tui/skin"
	"eventdeck/ui/tui/timeline"
)

func (a *app) initSkin(o Options, env func(string) string) {
	noColours := o.NoColor || env("NO_COLOR") != ""
	name := a.memo.Kept(memo.Theme)
	if noColours {
		name = ""
	}
	a.skin = skin.New(skin.Env{
		Env: &a.Env, Screen: a, Dir: o.ThemeDir, Wear: a.wear,
		Keep: func(name, done string) tea.Cmd { return a.memo.Keep(memo.Theme, name, done) },
	}, cmp.Or(o.Theme, name), noColours)
	if err := a.skin.Begin(); err != nil {
		a.Fail("theme "+cmp.Or(o.Theme, name), fmt.Errorf("there is none of that name; %s chooses another", a.KeyOf("theme")))
	}
	a.Glyphs = cells.ChooseGlyphs(env, o.Glyphs, a.memo.Kept(memo.Glyphs))
}

// wear shows the screen in a theme. Everything that is laid out is laid out anew.
func (a *app) wear(t themes.Theme) {
	a.Theme = t
	a.restyle()
}

func (a *app) restyle() {
	a.Style++
	a.detail.Forget()
}

// switchGlyphs goes from Unicode to ASCII glyphs, or back, and keeps that.
func (a *app) switchGlyphs() tea.Cmd {
	name := "ascii"
	if a.Glyphs == &cells.ASCIIGlyphs {
		name = "unicode"
	}
	a.Glyphs = cells.GlyphSets[name]
	a.restyle()
	return a.memo.Keep(memo.Glyphs, name, name+" glyphs")
}

// lookActions are about how the screen looks and behaves in its terminal.
func (a *app) lookActions() []action.Action {
	return action.Grouped("Screen",
		action.Action{ID: "theme", Title: "choose a theme", Also: "colours colors dark light", Keys: []string{"T"}, Run: action.Act(func() { a.skin.Open() })},
		action.Action{ID: "theme.reload", Title: "read your themes again", When: func() bool { return a.skin.HasDir() }, Run: func() tea.Cmd { return a.skin.Reload(true) }},
		action.Action{ID: "glyphs", Title: "ASCII or Unicode glyphs", Run: a.switchGlyphs},
		action.Action{ID: "stats", Title: "rates, counters and lag", Also: "metrics rates graph", Keys: []string{"S"}, Run: func() tea.Cmd { return a.rates.Open() }},
		action.Action{ID: "timeline", Title: "timeline: histogram of events over time", Also: "histogram graph chart", Keys: []string{"H"}, Run: func() tea.Cmd { return timeline.Open(&a.Env, a, a.o.API.Log()) }},
		action.Action{ID: "mouse", Title: "mouse on, or off so that it selects text", Keys: []string{"f2"}, Run: a.switchMouse},
		action.Action{ID: "notify", Title: "notifications while you look elsewhere", Also: "bell alert desktop", Keys: []string{"b"}, Run: action.Act(a.openNotify)},
	)
}
