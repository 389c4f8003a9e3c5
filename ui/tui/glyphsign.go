package tui

import (
	"eventdeck/host/event"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// sign returns the glyph and the role of a subscription's state. The word of
// the state always stands beside it.
func sign(g *cells.Glyphs, s event.State) (string, themes.Role) {
	switch s {
	case event.StateLive, event.StatePolling:
		return g.Live, themes.Good
	case stateQuiet:
		return g.Leaf, themes.Good
	case stateGap:
		return g.Gap, themes.Warn
	case event.StateDraining, event.StateRefreshing, event.StateResumed, event.StateSwitched:
		return g.Live, themes.Busy
	case event.StateStarting, event.StateVerifying:
		return g.Busy, themes.Busy
	case event.StateStale, event.StateBackoff:
		return g.Quiet, themes.Warn
	case event.StateSuspended, event.StateDenied:
		return g.Bad, themes.Bad
	case event.StatePaused:
		return g.Paused, themes.Dim
	case event.StateEnded:
		return g.Ended, themes.Bad
	}
	return g.Busy, themes.Dim
}
