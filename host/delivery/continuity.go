package delivery

import (
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// continuity decides, after a stream was opened at a saved position, whether
// what came first proves that nothing is missing (field notes 9). A server that
// ignores the cursor and says nothing would otherwise lose events in silence.
type continuity struct {
	sent   event.Cursor // the position that was asked for
	before time.Time    // last sign of life before this opening; zero: none
	from   time.Time    // where a gap begins that this opening shows
	opened time.Time
	known  func(id trust.Text) bool

	decided bool
	placed  bool // the server has told a position since the opening
	early   bool // without replay: an event came before the opening was confirmed
	moved   bool // the server confirmed another position than the one asked for

	// doubt: it replays, and nothing has shown yet whether up to the confirmed
	// position, or from there. Until then the position is not moved.
	doubt     bool
	confirmed trust.Text
	caught    bool // in doubt: an event has come with the confirmed position
}

// noReplay reports whether the opening itself is a gap: there was a life before,
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

// mark looks at an active or heartbeat notification. It reports whether a
// possible gap must be recorded.
func (c *continuity) mark(m wire.Mark, heartbeat bool) bool {
	c.placed = true
	if m.Truncated {
		c.decided, c.doubt = true, false // the gap is told
		return false
	}
	if heartbeat && c.doubt {
		c.doubt = false
		return !c.caught && m.Cursor.HasText() && m.Cursor.Text != c.confirmed
	}
	if c.decided || c.before.IsZero() || !c.sent.Valid {
		return false
	}
	if m.Cursor.HasText() && m.Cursor.Text == c.sent.Text {
		c.decided = true // the server said what it did
		return false
	}
	if m.Cursor.HasText() {
		c.moved, c.confirmed = true, m.Cursor.Text
	}
	if heartbeat && c.moved {
		c.decided = true
		return true
	}
	return false
}

// reached reports whether the position of an active or heartbeat notification may
// be kept. A server that confirms another position than the one asked for may
// still be about to replay what lies between: a cut there must not pass it over.
func (c *continuity) reached(m wire.Mark, heartbeat bool) bool {
	return heartbeat || m.Truncated || c.decided && !c.doubt || !c.sent.Valid || m.Cursor.Text == c.sent.Text
}

// since returns where a gap that the server tells of now begins, when last was
// the last sign of life: what came before the server told its position does not
// show that all of it came.
func (c *continuity) since(last time.Time) time.Time {
	if c.placed || c.before.IsZero() {
		return last
	}
	return c.before
}

// event looks at an event. It reports whether it came from the server's history,
// and whether a possible gap must be recorded before it.
func (c *continuity) event(id, timestamp trust.Text, position event.Cursor) (replayed, gap bool) {
	at, ok := wire.ParseTime(timestamp)
	replayed = c.sent.Valid && ok && at.Before(c.opened)
	if c.doubt {
		return replayed, c.doubted(id, position, replayed)
	}
	if c.decided || c.before.IsZero() || !c.sent.Valid {
		return replayed, false
	}
	c.decided = true
	switch {
	case c.moved && replayed:
		c.doubt = true
		return true, c.doubted(id, position, replayed)
	case replayed, c.known(id):
		return true, false
	}
	return false, true
}

// doubted looks at an event while it is in doubt where the replay began, and reports
// whether the event shows that it was behind the position that was asked for. The
// confirmed position alone does not end the doubt: an event that overtook the first
// one of a replay from there carries it too.
func (c *continuity) doubted(id trust.Text, position event.Cursor, replayed bool) (gap bool) {
	if position.Valid && position.Text == c.confirmed {
		c.caught = true
		c.doubt = replayed
		return false
	}
	if replayed && (!c.caught || c.known(id)) {
		return false
	}
	c.doubt = false
	return replayed == c.caught
}
