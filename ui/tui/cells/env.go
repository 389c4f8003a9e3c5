// Package cells writes rows of safe text in exact cells: the canvas, the signs,
// numbers and times in words, small curves. Everything that the screen shows is
// written by it. It knows no host.
package cells

import (
	"time"

	"eventdeck/themes"
)

// Env is what drawing depends on beside what is drawn. The screen has one and
// changes it; its parts keep a pointer to it and never write to it.
type Env struct {
	Theme  themes.Theme
	Glyphs *Glyphs
	Now    func() time.Time
	Times  TimeView // how times are told
	Style  int      // grows with every change of how rows look
	Pins   []string // values in lower case that stand out wherever payloads are shown
}

// Clock is the time now, in the zone in which times are told.
func (e *Env) Clock() time.Time { return e.Now().In(e.Times.Zone()) }

// When spells a moment of a table's row; before is that of the row above, zero
// if there is none.
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
