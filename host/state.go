package host

import (
	"fmt"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// refusedAfter is how long a delivery may be refused, and none accepted after it, until
// the subscription is not called alive any more (contracts, command line).
const refusedAfter = 5 * time.Second

// evidence is all that is known of how a subscription fares.
type evidence struct {
	sub     event.Subscription
	runner  *delivery.Status // of what runs it; nil: nothing does
	server  *ServerView      // nil: none of its name is known here
	refused refusals
	now     time.Time
}

// refusals are the deliveries to a subscription that the receiver refused.
type refusals struct {
	event.Refused
	open time.Time // the first since a delivery was accepted; zero: none
}

// lasting reports whether deliveries have been refused for so long that the
// subscription does not receive what is sent.
func (r refusals) lasting(now time.Time) bool {
	return !r.open.IsZero() && now.Sub(r.open) >= refusedAfter
}

// since adds what was refused before this host was started.
func (r refusals) since(before event.Refused) event.Refused {
	if r.Count == 0 {
		return before
	}
	r.Count += before.Count
	return r.Refused
}

// words tells of the refusals, the cause first, which rows that are short cut off last;
// "" while a delivery was accepted after them.
func (r refusals) words() string {
	if r.open.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s, %s refused", r.Reason, event.Some(r.Count, "delivery", "deliveries"))
}

// derive tells how a subscription fares: the one source of its state for the screen,
// the commands, and attached processes. It looks at nothing but the evidence.
func derive(e evidence) (s delivery.Status, running bool) {
	if e.runner == nil {
		return idle(e)
	}
	s = *e.runner
	if s.Proof == "" {
		s.Proof = openingProof(e.sub)
	}
	s.Refused = e.refused.Refused
	switch s.State {
	case event.StateLive, event.StateRefreshing:
		if s.Mode == event.ModeWebhook && e.refused.lasting(e.now) {
			s.State, s.Since, s.Reason = event.StateRefused, e.refused.open, event.ReasonRefused
			s.Error = trust.Unescaped(e.refused.words())
		}
	case event.StateSuspended:
		s.Reason = event.ReasonSuspended
		s.Error = beside(s.Error, e.refused.words())
	case event.StateStarting, event.StateVerifying, event.StateBackoff, event.StateDenied:
		unconfirmed(&s, e)
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
	return s, true
}

// openingProof is what is known of continuity while the delivery has not said it yet.
func openingProof(sub event.Subscription) event.Proof {
	switch p := storedProof(sub); {
	case p == event.ProofProved, p == event.ProofNew && !sub.LastSeen.IsZero():
		return event.ProofProving
	default:
		return p
	}
}

// storedProof is what is known of the continuity of a subscription that nothing runs: as
// its last run knew it. Older programs did not store that; then its stored positions
// tell: those of a webhook lie apart after its last checkpoint, and its old path stays
// until a fresh one is proved.
func storedProof(sub event.Subscription) event.Proof {
	switch {
	case sub.NoReplay:
		return event.ProofNoReplay
	case sub.LastSeen.IsZero():
		return event.ProofNew
	case sub.Proof != "":
		return sub.Proof
	case sub.Mode != event.ModeWebhook:
		return event.ProofProved
	case !sub.Opening().Same(sub.Cursor), sub.Hook.OldPath != "" && sub.Hook.OldUntil.IsZero():
		return event.ProofProving
	}
	return event.ProofProved
}

// unconfirmed tells why a subscription is not confirmed, or not any more.
func unconfirmed(s *delivery.Status, e evidence) {
	if s.State == event.StateDenied && s.Reason == "" {
		s.Reason = event.ReasonRights
	}
	if v := e.server; v != nil {
		if s.State != event.StateDenied && v.Reach != ReachReady && v.Reason != "" {
			// Nothing is asked while the server is away: its attempts are what is made.
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
		s.Error = beside(s.Error, e.refused.words())
	}
}

// idle tells of a subscription that nothing runs. The word that was stored last would
// look alive.
func idle(e evidence) (s delivery.Status, running bool) {
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
		unconfirmed(&s, e)
	}
	return s, s.State != event.StateNotRunning
}

// beside adds words to an error, if there are any.
func beside(err trust.Text, words string) trust.Text {
	switch {
	case words == "":
		return err
	case err.IsZero():
		return trust.Unescaped(words)
	}
	return trust.Untrusted(err.Raw() + "; " + words)
}

// Stored tells of a subscription in a store that no process runs: what it was when it
// was last seen, and which of its deliveries are among those that were refused.
func Stored(sub event.Subscription, refused []event.Refusal) SubscriptionView {
	s := delivery.Status{
		State: event.StateNotRunning, Error: sub.Error, Lease: sub.Lease, Mode: sub.Mode, Proof: storedProof(sub),
	}
	s.Refused = sumRefused(refused)[sub.ID]
	return SubscriptionView{Subscription: sub, Status: s, Expires: expires(sub)}
}
