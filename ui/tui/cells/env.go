// Package cells writes rows of rendered text that have an exact width in cells: the canvas, the
// glyphs, numbers and times in words, sparklines. Everything that the screen shows is written
// by it. It does not know the host.
package cells

import (
	"time"

	"eventdeck/themes"
)

// Env is what all parts of the screen draw with. The screen has one and changes it; the parts
// keep a pointer to it and never write to it.
type Env struct {
	Theme  themes.Theme
	Glyphs *Glyphs
	Now    func() time.Time
	Times  TimeView // how times are shown
	Style  int      // changes whenever rows are to be drawn again because they look different
	Pins   []string // values in lower case that are highlighted in payloads
}

// Clock is the time now, in the zone in which times are told.
func (e *Env) Clock() time.Time { return e.Now().In(e.Times.Zone()) }

// When returns the time of a row as [Env.Times] says, in a layout of package time; before is the
// time of the row above, zero if there is none.
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

// Divider is the sign between two panes.
func (e *Env) Divider(r themes.Role) string { return e.Theme.On(r) + e.Glyphs.Divider + themes.Reset }
