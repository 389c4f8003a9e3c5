package tui

import (
	"cmp"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/memo"
	"eventdeck/ui/tui/skin"
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
