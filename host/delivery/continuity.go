package delivery

import (
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// continuity is what is known of one opening of a stream: which of its events are replayed,
// and, for a type without replay, whether the opening leaves a gap. Whether events are
// missing after a position is what a [proof] finds out.
type continuity struct {
	sent   event.Cursor // the position that was asked for
	before time.Time    // last sign of life before this opening; zero: none
	from   time.Time    // where the gap of this opening begins
	opened time.Time

	gapDecided bool // the gap of a type without replay is recorded, or there is none
	early      bool // without replay: an event came before the confirmation
}

// takeGap reports, once, whether the opening leaves a gap: the subscription ran before, and
// there is no position to go on from.
func (c *continuity) takeGap() bool {
	if c.gapDecided || c.before.IsZero() || c.sent.Valid {
		return false
	}
	c.gapDecided = true
	return true
}

// takeEarly reports, once, whether an event of a type without replay came before the
// confirmation. That event may still belong to the previous stream on the same connection;
// then what was sent between the two streams is missing. A heartbeat confirms nothing.
func (c *continuity) takeEarly(isHeartbeat bool) bool {
	early := c.early && !isHeartbeat
	c.early = c.early && !early
	return early
}

// replayed reports whether an event came from the server's history.
func (c *continuity) replayed(timestamp trust.Text) bool {
	return c.sent.Valid && occurredBefore(timestamp, c.opened)
}
