// Package cells draws text in rows of an exact width in cells: the canvas, glyphs, formatted
// numbers and times, sparklines. Everything on the screen is drawn with it. It does not know the
// host.
package cells

import (
	"time"

	"eventdeck/themes"
)

// Env is shared by all parts of the screen. The screen owns and changes it; the parts keep a
// pointer and never write to it.
type Env struct {
	Theme  themes.Theme
	Glyphs *Glyphs
	Now    func() time.Time
	Times  TimeView // how times are shown
	Style  int      // changes with the theme or the glyphs: all rows must be drawn again
	Pins   []string // values in lower case that are highlighted in payloads
	// Clusters: the terminal measures grapheme clusters (mode 2027), as the canvas does. Otherwise
	// it measures code points: see [Env.Fit].
	Clusters bool
}

// Clock returns the current time in the time zone that is shown.
func (e *Env) Clock() time.Time { return e.Now().In(e.Times.Zone()) }

// When formats the time of a row as [Env.Times] says. layout is one of package time; before is
// the time of the row above, zero if there is none.
func (e *Env) When(t, before time.Time, layout string) string {
	switch {
	case e.Times == TimeRelative:
		return Ago(e.Clock(), t)
	case e.Times == TimeDelta && before.IsZero():
		return ""
	case e.Times == TimeDelta:
		return delta(t.Sub(before))
	}
	return TimeText(t, e.Times.Zone(), layout)
}

// Divider returns the line between two panes, as one cell.
func (e *Env) Divider(r themes.Role) string { return e.Theme.On(r) + e.Glyphs.Divider + themes.Reset }
