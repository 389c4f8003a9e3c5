package delivery

import (
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// continuity is what an opened stream shows by itself: which events come from the
// server's history, and, of a type without replay, the gap that every opening is.
// Whether anything is missing behind a position is for [proof] to show.
type continuity struct {
	sent   event.Cursor // the position that was asked for
	before time.Time    // last sign of life before this opening; zero: none
	from   time.Time    // where a gap begins that this opening shows
	opened time.Time

	decided bool // the gap of a type without replay is told, or there is none
	early   bool // without replay: an event came before the opening was confirmed
}

// noReplay reports whether the opening itself is a gap: there was a run before,
// and no position to go on from.
func (c *continuity) noReplay() bool {
	if c.decided || c.before.IsZero() || c.sent.Valid {
		return false
	}
	c.decided = true
	return true
}

// tooEarly reports, once, whether an event came before the confirmation that m is,
// of a type without replay. It may be the last one of the subscription before this
// one on the same connection, and what came between the two is missing.
func (c *continuity) tooEarly(heartbeat bool) bool {
	early := c.early && !heartbeat
	c.early = c.early && !early
	return early
}

// replayed reports whether an event came from the server's history.
func (c *continuity) replayed(timestamp trust.Text) bool {
	at, ok := wire.ParseTime(timestamp)
	return c.sent.Valid && ok && at.Before(c.opened)
}
