package tui

import (
	"cmp"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/persist"
)

func (a *app) initTheme(o Options, env func(string) string) {
	noColours := o.NoColor || env("NO_COLOR") != ""
	name := a.persist.Get(persist.Theme)
	if noColours {
		name = ""
	}
	a.theming = persist.NewSelector(a.settingsEnv(), cmp.Or(o.Theme, name), noColours)
	if err := a.theming.Start(); err != nil {
		a.Fail("theme "+cmp.Or(o.Theme, name), fmt.Errorf("there is none of that name; %s chooses another", a.KeyOf("theme")))
	}
	a.Glyphs = cells.ChooseGlyphs(env, o.Glyphs, a.persist.Get(persist.Glyphs))
}

// restyle draws everything again after a change of theme, glyphs or keys.
func (a *app) restyle() {
	a.Style++
	a.detail.Forget()
}

// switchGlyphs switches between Unicode and ASCII glyphs, and saves the choice.
func (a *app) switchGlyphs() tea.Cmd {
	name := "ascii"
	if a.Glyphs == &cells.ASCIIGlyphs {
		name = "unicode"
	}
	a.Glyphs = cells.GlyphSets[name]
	a.restyle()
	return a.persist.Set(persist.Glyphs, name, name+" glyphs")
}
