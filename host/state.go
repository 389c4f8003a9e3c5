package host

import (
	"cmp"
	"fmt"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// refusedAfter is how long after a refused delivery, with none accepted since, a subscription
// is shown as refused (contracts, command line).
const refusedAfter = 5 * time.Second

// evidence is what the state of a subscription is derived from.
type evidence struct {
	sub     event.Subscription
	runner  *delivery.Status // of its runner; nil: it does not run
	server  *ServerView      // nil: no server of its name was added
	refused refusals
	now     time.Time
}

// refusals are the deliveries to a subscription that the receiver refused.
type refusals struct {
	event.Refused
	since time.Time // the first since a delivery was accepted; zero: none
}

// lasting reports whether no delivery was accepted for refusedAfter since one was refused.
func (r refusals) lasting(now time.Time) bool {
	return !r.since.IsZero() && now.Sub(r.since) >= refusedAfter
}

// pending returns the time until the refusals are lasting; 0 or less: there are none, or they are.
func (r refusals) pending(now time.Time) time.Duration {
	if r.since.IsZero() {
		return 0
	}
	return refusedAfter - now.Sub(r.since)
}

// withEarlier returns the refusals together with those of earlier runs.
func (r refusals) withEarlier(before event.Refused) event.Refused {
	if r.Count == 0 {
		return before
	}
	r.Count += before.Count
	return r.Refused
}

// summary describes the refusals, with the reason first, as narrow rows cut off the end. It is ""
// if a delivery was accepted since.
func (r refusals) summary() string {
	if r.since.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s, %s refused", r.Reason, event.Some(r.Count, "delivery", "deliveries"))
}

// derive returns the status of a subscription as the screen, commands and attached processes show
// it. It depends on the evidence alone.
func derive(e evidence) (s delivery.Status, running bool) {
	if e.runner == nil {
		return derivedIdle(e)
	}
	s = *e.runner
	if s.Proof == "" {
		s.Proof = openingProof(e.sub)
	}
	s.Refused = e.refused.Refused
	switch s.State {
	case event.StateLive, event.StateRefreshing:
		if s.Mode == event.ModeWebhook && e.refused.lasting(e.now) {
			s.State, s.Since, s.Reason = event.StateRefused, e.refused.since, event.ReasonRefused
			s.Error = trust.Unescaped(e.refused.summary())
		}
	case event.StateSuspended:
		s.Reason = event.ReasonSuspended
		s.Error = appendWords(s.Error, e.refused.summary())
	case event.StateStarting, event.StateVerifying, event.StateBackoff, event.StateDenied:
		explainUnconfirmed(&s, e)
	}
	if s.State.Alive() {
		if s.Reason = ""; e.runner.Proof == event.ProofProving {
			s.Reason = event.ReasonProving
		}
	}
	if wait := e.now.Sub(s.Asked); !s.Asked.IsZero() && wait >= delivery.UnansweredAfter {
		s.Reason = event.ReasonUnreachable
		s.Error = trust.Unescaped(fmt.Sprintf("no answer for %d s", int(wait.Seconds())))
	}
	derivePace(&s, e.now)
	return s, true
}

// derivePace shows a subscription that has to wait for its server as throttled, and one that works
// again but was lost too often as flapping.
func derivePace(s *delivery.Status, now time.Time) {
	until := s.Throttled
	switch s.Throttled = (time.Time{}); {
	case s.Reason == event.ReasonQuota && !s.State.Over():
		s.State, s.Throttled = event.StateThrottled, s.NextTry
	case until.After(now) && s.State.Alive() && !(s.Mode == event.ModePush && s.LastEvent.After(s.FaultAt)):
		s.State, s.Reason, s.Throttled = event.StateThrottled, event.ReasonQuota, until
	case s.Losses > 0 && s.State.Alive() && now.Sub(s.LostAt) < delivery.FlapWithin:
		s.State = event.StateFlapping
		s.Error = trust.Unescaped(fmt.Sprintf("lost %s in %d min", event.Some(uint64(s.Losses), "time", "times"), delivery.FlapWithin/time.Minute))
	}
}

// openingProof returns the proof to show while the runner has none yet.
func openingProof(sub event.Subscription) event.Proof {
	switch p := storedProof(sub); {
	case p == event.ProofProved, p == event.ProofNew && !sub.LastSeen.IsZero():
		return event.ProofProving
	default:
		return p
	}
}

// storedProof returns the proof that the last run of a subscription stored.
func storedProof(sub event.Subscription) event.Proof {
	switch {
	case sub.NoReplay:
		return event.ProofNoReplay
	case sub.LastSeen.IsZero():
		return event.ProofNew
	}
	return cmp.Or(sub.Proof, event.ProofProved)
}

// explainUnconfirmed sets the reason for which a subscription is not confirmed.
func explainUnconfirmed(s *delivery.Status, e evidence) {
	if s.State == event.StateDenied && s.Reason == "" {
		s.Reason = event.ReasonRights
	}
	if v := e.server; v != nil {
		if s.State != event.StateDenied && v.Reach != ReachReady && v.Reason != "" {
			// While the server is away only attempts to connect are made.
			s.Reason, s.Attempt, s.NextTry = v.Reason, v.Attempt, v.NextTry
			if s.State == event.StateStarting {
				s.Since = v.Since
			}
			if s.Error.IsZero() {
				s.Error = trust.Unescaped(v.Err)
			}
		}
		if s.Reason == event.ReasonRights && v.SignIn != "" {
			s.Reason = event.ReasonSignIn
		}
	}
	if s.Reason == event.ReasonChallenge {
		s.Error = appendWords(s.Error, e.refused.summary())
	}
}

// derivedIdle returns the state of a subscription that does not run. The stored state may still
// be one of a running subscription.
func derivedIdle(e evidence) (s delivery.Status, running bool) {
	s = delivery.Status{
		State: event.StateNotRunning, Error: e.sub.Error, Lease: e.sub.Lease, Mode: e.sub.Mode,
		Proof: storedProof(e.sub), Refused: e.refused.Refused,
	}
	switch {
	case e.sub.Paused:
		s.State = event.StatePaused
	case e.sub.State.Over():
		s.State = e.sub.State
	case e.server == nil:
		s.Error = trust.Untrusted("no server of this name is configured")
	default:
		s.State = event.StateStarting // it is about to run
	}
	if s.State == event.StateDenied {
		explainUnconfirmed(&s, e)
	}
	return s, s.State != event.StateNotRunning
}

// appendWords appends words, if any, to an error, if there is one.
func appendWords(err trust.Text, words string) trust.Text {
	switch {
	case words == "":
		return err
	case err.IsZero():
		return trust.Unescaped(words)
	}
	return trust.Untrusted(err.Raw() + "; " + words)
}

// Stored returns the view of a subscription in a store that no host runs. refused are all
// refused deliveries of the store.
func Stored(sub event.Subscription, refused []event.Refusal) SubscriptionView {
	s := delivery.Status{
		State: event.StateNotRunning, Error: sub.Error, Lease: sub.Lease, Mode: sub.Mode, Proof: storedProof(sub),
	}
	s.Refused = sumRefused(refused)[sub.ID]
	return SubscriptionView{Subscription: sub, Status: s, Expires: expires(sub)}
}
