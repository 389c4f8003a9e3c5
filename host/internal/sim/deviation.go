package sim

import (
	"slices"
	"time"

	"eventdeck/host/event"
)

// Deviation is a permanent violation of the protocol by a server, for one type. The same
// fault has the same name in a demo server.
type Deviation string

// The deviations. Those of a stream concern its opening. Those of a poll also hold for a
// type that offers poll as a further mode.
const (
	// ReplayLiveIgnored: a webhook subscribe on a live key ignores the cursor, answers with
	// the current position, and says that nothing is missing.
	ReplayLiveIgnored Deviation = "replay-live-ignored"
	// ReplayNever: the cursor is accepted and nothing is replayed, also on a fresh key.
	ReplayNever Deviation = "replay-never"
	// PushEcho: `active` repeats the requested cursor, and nothing is replayed. No heartbeat
	// comes before the first event.
	PushEcho Deviation = "push-echo"
	// PushEchoHeartbeat is PushEcho with an immediate heartbeat that has a later cursor.
	PushEchoHeartbeat Deviation = "push-echo-heartbeat"
	// RetriesShort: a delivery is given up after three more tries within 1.4 s.
	RetriesShort Deviation = "retries-short"
	// StreamUnconfirmed: only events, neither `active` nor heartbeats.
	StreamUnconfirmed Deviation = "stream-unconfirmed"
	// GrantExpiredKept: deliveries go on after a grant has expired.
	GrantExpiredKept Deviation = "grant-expired-kept"
	// PollLags: a poll is answered by a replica that is behind by [pollLag].
	PollLags Deviation = "poll-lags"
	// PollCursorForeign: poll and the other modes have different cursors, and refuse each
	// other's.
	PollCursorForeign Deviation = "poll-cursor-foreign"
	// LastErrorSticky: deliveryStatus keeps naming an error that is long over.
	LastErrorSticky Deviation = "lasterror-sticky"
	// CloseEvery: the server closes every stream after [Feed.CloseAfter].
	CloseEvery Deviation = "close-every"

	// HeartbeatLate: no heartbeat comes before the first event of a stream. A correct server
	// may also delay heartbeats while events come.
	HeartbeatLate Deviation = "heartbeat-late"
	// OnePath: one webhook subscription of a type at a time; a second one is refused.
	OnePath Deviation = "one-path"
	// FailureUnsaid: there is no deliveryStatus, so that deliveries that were given up are
	// not reported. None is given up while the host runs, since the host could never find
	// out.
	FailureUnsaid Deviation = "failure-unsaid"
	// Filtered: each answer to a webhook subscribe has another cursor, as on a correct server
	// whose subscription leaves out events by a filter.
	Filtered Deviation = "filtered"
)

// pollLag is the lag of the replica of [PollLags]: less than a heartbeat.
const pollLag = 1500 * time.Millisecond

// Deviate adds deviations. Call it before the server runs.
func (f *Feed) Deviate(d ...Deviation) { f.deviations = append(f.deviations, d...) }

// Deviates reports whether the type's server has one of the deviations.
func (f *Feed) Deviates(d ...Deviation) bool {
	return slices.ContainsFunc(d, func(d Deviation) bool { return slices.Contains(f.deviations, d) })
}

// pollsTruly reports whether a poll with the cursor of any mode returns all held events.
func (f *Feed) pollsTruly() bool {
	return slices.Contains(f.modes, event.ModePoll) && !f.Deviates(PollLags, PollCursorForeign)
}

// deviant draws a type whose server deviates.
func deviant(name string, mode event.Mode, r *Random) *Feed {
	f := newFeed(name, mode, false)
	pick := func(p float64, d ...Deviation) {
		if r.Chance(p) {
			f.deviations = append(f.deviations, d[r.N(len(d))])
		}
	}
	switch mode {
	case event.ModePush:
		pick(0.95, PushEcho, PushEchoHeartbeat, ReplayNever, StreamUnconfirmed)
		pick(0.3, CloseEvery)
		f.CloseAfter = r.Between(time.Second, 10*time.Second)
	case event.ModeWebhook:
		pick(0.8, ReplayLiveIgnored, ReplayNever)
		pick(0.9, RetriesShort)
		pick(0.2, GrantExpiredKept)
		pick(0.2, LastErrorSticky)
		pick(0.2, OnePath)
		pick(0.3, FailureUnsaid)
		pick(0.3, Filtered)
	}
	if mode != event.ModePoll && r.Chance(0.5) {
		f.modes = append(f.modes, event.ModePoll)
	}
	pick(0.3, PollLags, PollCursorForeign)
	return f
}

// quiet draws a type of a correct server with few events.
func quiet(name string, mode event.Mode, r *Random) *Feed {
	f := newFeed(name, mode, false)
	for _, m := range []event.Mode{event.ModePoll, event.ModePush, event.ModeWebhook} {
		if m != mode && r.Chance(0.5) {
			f.modes = append(f.modes, m)
		}
	}
	if r.Chance(0.5) {
		f.deviations = append(f.deviations, HeartbeatLate)
	}
	if r.Chance(0.5) {
		f.deviations = append(f.deviations, Filtered)
	}
	return f
}
