package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// Fault is something that pager or chat does wrong on purpose, to test a host.
type Fault struct {
	Name     string
	Sentence string // what the server does
	// Default is the duration that the fault takes after "=", 0 if it takes none.
	Default time.Duration

	webhook bool // only pager has it
}

// The names of the faults.
const (
	faultLiveIgnored     = "replay-live-ignored"
	faultReplayNever     = "replay-never"
	faultEcho            = "push-echo"
	faultEchoHeartbeat   = "push-echo-heartbeat"
	faultRetriesShort    = "retries-short"
	faultForgotten       = "subscription-forgotten"
	faultUnconfirmed     = "stream-unconfirmed"
	faultChallenge       = "challenge-refused"
	faultGrantKept       = "grant-expired-kept"
	faultPollLags        = "poll-lags"
	faultPollForeign     = "poll-cursor-foreign"
	faultLastErrorSticky = "lasterror-sticky"
	faultCloseEvery      = "close-every"
	faultSignature       = "signature-wrong"
	faultSignatureOnce   = "signature-wrong-once"
	faultErrors          = "stream-errors"
	faultQuota           = "quota-exhausted"
)

// Faults returns every fault.
func Faults() []Fault {
	return []Fault{
		{Name: faultLiveIgnored, webhook: true, Sentence: "a webhook subscribe on a key that lives ignores the cursor, answers where the server stands, and says that nothing is missing"},
		{Name: faultReplayNever, Sentence: "push and webhook accept a cursor, answer a later one, and replay nothing, also on a fresh key"},
		{Name: faultEcho, Sentence: "active repeats the cursor that was asked for, and nothing is replayed; no heartbeat comes before the first event"},
		{Name: faultEchoHeartbeat, Sentence: "active repeats the cursor that was asked for, and nothing is replayed; a heartbeat with a later cursor comes at once"},
		{Name: faultRetriesShort, webhook: true, Sentence: "a delivery is given up after 1.4 s, without a gap envelope"},
		{Name: faultForgotten, webhook: true, Default: time.Minute, Sentence: "a webhook subscription and the verification of its callback are forgotten after a minute, or =DURATION"},
		{Name: faultUnconfirmed, Sentence: "a stream has neither active nor heartbeats, only events"},
		{Name: faultChallenge, webhook: true, Sentence: "no answer to the challenge of a callback is accepted"},
		{Name: faultGrantKept, webhook: true, Sentence: "a webhook grant that ran out lives on, and is delivered to"},
		{Name: faultPollLags, Default: 5 * time.Second, Sentence: "polls are answered from a replica that is 5 s, or =DURATION, behind"},
		{Name: faultPollForeign, Sentence: "poll has cursors of its own, and refuses those of push and webhook"},
		{Name: faultLastErrorSticky, webhook: true, Sentence: "deliveryStatus names an error that is long over, for ever"},
		{Name: faultCloseEvery, Default: time.Minute, Sentence: "every stream is closed after a minute, or =DURATION"},
		{Name: faultSignature, webhook: true, Sentence: "deliveries are signed with an unknown secret; challenges are not"},
		{Name: faultSignatureOnce, webhook: true, Sentence: "the first delivery of a webhook subscription is signed with an unknown secret; the next try is right"},
		{Name: faultErrors, Default: 5 * time.Second, Sentence: "a stream tells of an error every 5 s, or =DURATION, and goes on"},
		{Name: faultQuota, Sentence: "every subscription is refused with ResourceExhausted"},
	}
}

// faultSet are the faults of one server, each with its duration.
type faultSet map[string]time.Duration

func (s faultSet) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, ok := s[name]
		return ok
	})
}

// parseFaults reads faults as they are spelled on the command line: names, of which some
// take a duration as in close-every=60s. webhook: the server has webhooks.
//
// Error: [ErrOptions].
func parseFaults(list []string, webhook bool) (faultSet, error) {
	set := faultSet{}
	for _, text := range list {
		name, value, given := strings.Cut(text, "=")
		i := slices.IndexFunc(Faults(), func(f Fault) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%w: there is no fault %q", ErrOptions, name)
		}
		f := Faults()[i]
		if f.webhook && !webhook {
			return nil, fmt.Errorf("%w: fault %s needs webhooks, which pager alone has", ErrOptions, name)
		}
		set[name] = f.Default
		if !given {
			continue
		}
		if f.Default == 0 {
			return nil, fmt.Errorf("%w: fault %s takes no duration", ErrOptions, name)
		}
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return nil, fmt.Errorf("%w: fault %s: %q is no duration above zero", ErrOptions, name, value)
		}
		set[name] = d
	}
	return set, nil
}

// refuse refuses every valid subscription, if the fault is set.
func (s faultSet) refuse() *eventserver.Refusal {
	if !s.has(faultQuota) {
		return nil
	}
	return eventserver.Refuse(wire.ResourceExhausted, "no more subscriptions", map[string]any{"limit": "subscriptions", "max": 0})
}

// misplace sets where a faulty server begins. asked is the cursor of the request.
func (s faultSet) misplace(w *requested, mode, asked string, count uint64) {
	if !w.held || mode == "poll" {
		return
	}
	switch {
	case mode == "push" && s.has(faultEcho, faultEchoHeartbeat):
		w.pos, w.truncated, w.echo = count, false, asked
	case s.has(faultReplayNever):
		w.pos, w.truncated = count, false
	}
}

// foreignPoll begins the cursors of poll that other modes do not accept.
const foreignPoll = "poll-"

// unknownSecret belongs to no subscription: receivers refuse what it signs.
const unknownSecret = "whsec_bm9ib2R5IGhhcyB0aGlzIHNlY3JldCBhdCBhbGwhISE="
