package host

import (
	"testing"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// One function derives the shown status of a subscription from its evidence.
func TestStateFollowsFromEvidence(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	text := trust.Untrusted
	runner := func(s event.State, change ...func(*delivery.Status)) *delivery.Status {
		status := &delivery.Status{State: s, Mode: event.ModeWebhook}
		for _, c := range change {
			c(status)
		}
		return status
	}
	because := func(reason event.Reason, err string) func(*delivery.Status) {
		return func(s *delivery.Status) { s.Reason, s.Error = reason, text(err) }
	}
	asked := func(before time.Duration) func(*delivery.Status) {
		return func(s *delivery.Status) { s.Asked = ago(before) }
	}
	refused := func(since time.Duration) refusals {
		return refusals{event.Refused{Count: 2, Last: ago(time.Second), Reason: "signature wrong"}, ago(since)}
	}
	soon := now.Add(20 * time.Second)
	next := func(at time.Time) func(*delivery.Status) { return func(s *delivery.Status) { s.NextTry = at } }
	throttled := func(until time.Time) func(*delivery.Status) {
		return func(s *delivery.Status) { s.Throttled = until }
	}
	brought := func(after time.Duration) func(*delivery.Status) { // an event, after the fault that said so
		return func(s *delivery.Status) { s.Mode, s.FaultAt, s.LastEvent = event.ModePush, now, now.Add(after) }
	}
	lost := func(n int, before time.Duration) func(*delivery.Status) {
		return func(s *delivery.Status) { s.Losses, s.LostAt = n, ago(before) }
	}
	ready := &ServerView{Reach: ReachReady}
	const told = "signature wrong, 2 deliveries refused"

	for name, tt := range map[string]struct {
		evidence
		state   event.State
		reason  event.Reason
		err     string
		running bool
	}{
		"live":                {evidence{runner: runner(event.StateLive)}, event.StateLive, "", "", true},
		"an old error":        {evidence{runner: runner(event.StateLive, because(event.ReasonQuota, "slow down"))}, event.StateLive, "", "slow down", true},
		"proving":             {evidence{runner: runner(event.StateLive, func(s *delivery.Status) { s.Proof = event.ProofProving })}, event.StateLive, event.ReasonProving, "", true},
		"polled just now":     {evidence{runner: runner(event.StatePolling, asked(delivery.UnansweredAfter-1))}, event.StatePolling, "", "", true},
		"no answer to a poll": {evidence{runner: runner(event.StatePolling, asked(12*time.Second))}, event.StatePolling, event.ReasonUnreachable, "no answer for 12 s", true},
		"refused just now":    {evidence{runner: runner(event.StateLive), refused: refused(refusedAfter - 1)}, event.StateLive, "", "", true},
		"refused for 5 s":     {evidence{runner: runner(event.StateLive), refused: refused(refusedAfter)}, event.StateRefused, event.ReasonRefused, told, true},
		"while it refreshes":  {evidence{runner: runner(event.StateRefreshing), refused: refused(time.Hour)}, event.StateRefused, event.ReasonRefused, told, true},
		"accepted since":      {evidence{runner: runner(event.StateLive), refused: refusals{Refused: event.Refused{Count: 2, Reason: "x"}}}, event.StateLive, "", "", true},
		"refused and over it": {evidence{runner: runner(event.StateLive, func(s *delivery.Status) { s.Mode = event.ModePush }), refused: refused(time.Hour)}, event.StateLive, "", "", true},
		"suspended":           {evidence{runner: runner(event.StateSuspended)}, event.StateSuspended, event.ReasonSuspended, "", true},
		"suspended by us":     {evidence{runner: runner(event.StateSuspended), refused: refused(time.Hour)}, event.StateSuspended, event.ReasonSuspended, told, true},
		"challenge failed": {evidence{runner: runner(event.StateBackoff, because(event.ReasonChallenge, "challenge_failed")), refused: refused(time.Second)},
			event.StateBackoff, event.ReasonChallenge, "challenge_failed; " + told, true},
		"server away": {evidence{runner: runner(event.StateStarting), server: &ServerView{Reach: ReachBackoff, Reason: event.ReasonUnreachable, Err: "refused"}},
			event.StateStarting, event.ReasonUnreachable, "refused", true},
		"server that wants a sign-in": {evidence{runner: runner(event.StateBackoff, because(event.ReasonRights, "HTTP 401")), server: &ServerView{Reach: ReachReady, SignIn: "who is asking"}},
			event.StateBackoff, event.ReasonSignIn, "HTTP 401", true},
		"server that wants a token": {evidence{runner: runner(event.StateBackoff, because(event.ReasonRights, "HTTP 401")), server: ready}, event.StateBackoff, event.ReasonRights, "HTTP 401", true},
		"denied":                    {evidence{runner: runner(event.StateDenied), server: ready}, event.StateDenied, event.ReasonRights, "", true},
		"denied, sign-in helps":     {evidence{runner: runner(event.StateDenied), server: &ServerView{SignIn: "more rights"}}, event.StateDenied, event.ReasonSignIn, "", true},
		"ended":                     {evidence{runner: runner(event.StateEnded, because(event.ReasonServerError, "gone"))}, event.StateEnded, event.ReasonServerError, "gone", true},

		"nothing runs it":          {evidence{sub: event.Subscription{State: event.StateLive}}, event.StateNotRunning, "", "no server of this name is configured", false},
		"paused, of no server":     {evidence{sub: event.Subscription{State: event.StatePaused, Paused: true}}, event.StatePaused, "", "", true},
		"about to run":             {evidence{sub: event.Subscription{State: event.StateLive}, server: ready}, event.StateStarting, "", "", true},
		"denied in an earlier run": {evidence{sub: event.Subscription{State: event.StateDenied}, server: ready}, event.StateDenied, event.ReasonRights, "", true},
		"ended in an earlier run":  {evidence{sub: event.Subscription{State: event.StateEnded, Error: text("gone")}, server: ready}, event.StateEnded, "", "gone", true},
		"ended, of no server":      {evidence{sub: event.Subscription{State: event.StateEnded, Error: text("gone")}}, event.StateEnded, "", "gone", true},

		"a poll that was answered 429": {evidence{runner: runner(event.StateBackoff, because(event.ReasonQuota, "slow down"), next(soon))}, event.StateThrottled, event.ReasonQuota, "slow down", true},
		"while it is asked again":      {evidence{runner: runner(event.StateBackoff, because(event.ReasonQuota, "slow down"), next(ago(1)))}, event.StateThrottled, event.ReasonQuota, "slow down", true},
		"a server that answers 429":    {evidence{runner: runner(event.StateStarting), server: &ServerView{Reach: ReachBackoff, Reason: event.ReasonQuota, Err: "429", NextTry: soon}}, event.StateThrottled, event.ReasonQuota, "429", true},
		"a lease that is throttled":    {evidence{runner: runner(event.StateLive, throttled(soon))}, event.StateThrottled, event.ReasonQuota, "", true},
		"while it is refreshed":        {evidence{runner: runner(event.StateRefreshing, throttled(soon))}, event.StateThrottled, event.ReasonQuota, "", true},
		"no more":                      {evidence{runner: runner(event.StateLive, throttled(now))}, event.StateLive, "", "", true},
		"refused, and throttled":       {evidence{runner: runner(event.StateLive, throttled(soon)), refused: refused(time.Hour)}, event.StateRefused, event.ReasonRefused, told, true},
		"silent, and throttled":        {evidence{runner: runner(event.StateStale, throttled(soon))}, event.StateStale, "", "", true},
		"a stream that said so":        {evidence{runner: runner(event.StateLive, throttled(soon), brought(0))}, event.StateThrottled, event.ReasonQuota, "", true},
		"and brings events again":      {evidence{runner: runner(event.StateLive, throttled(soon), brought(1))}, event.StateLive, "", "", true},
		"flapping":                     {evidence{runner: runner(event.StateLive, lost(4, time.Minute))}, event.StateFlapping, "", "lost 4 times in 5 min", true},
		"lost again":                   {evidence{runner: runner(event.StateBackoff, lost(4, 0), because(event.ReasonUnreachable, "cut"))}, event.StateBackoff, event.ReasonUnreachable, "cut", true},
		"it holds":                     {evidence{runner: runner(event.StateLive, lost(4, delivery.FlapWithin))}, event.StateLive, "", "", true},
	} {
		tt.now = now
		s, running := derive(tt.evidence)
		if until := s.Throttled; (s.State == event.StateThrottled) != !until.IsZero() || !until.IsZero() && until != soon && until != ago(1) {
			t.Errorf("%s: %s until %v", name, s.State, until)
		}
		if s.State != tt.state || s.Reason != tt.reason || s.Error.Raw() != tt.err || running != tt.running {
			t.Errorf("%s: %s, %q, %q, running %t", name, s.State, s.Reason, s.Error.Raw(), running)
		}
		if s.Refused != tt.refused.Refused {
			t.Errorf("%s: refused %+v", name, s.Refused)
		}
	}
	sub := event.Subscription{ID: "a", State: event.StateLive}
	kept := []event.Refusal{ // newest first, as the store returns them
		{At: now, Sub: "b", Reason: "too large", Status: 413},
		{At: ago(time.Second), Sub: "a", Reason: "id-learned", Status: 200},
		{At: ago(2 * time.Second), Sub: "a", Reason: "signature wrong", Status: 401},
		{At: ago(3 * time.Second), Sub: "a", Reason: "clock off by 9 minutes", Status: 401},
	}
	v := Stored(sub, kept)
	if v.Running || v.Status.State != event.StateNotRunning {
		t.Errorf("a store that no process runs: %s", v.Status.State)
	}
	if want := (event.Refused{Count: 2, Last: ago(2 * time.Second), Reason: "signature wrong"}); v.Status.Refused != want {
		t.Errorf("a store that no process runs: refused %+v, want %+v", v.Status.Refused, want)
	}
}

// The proof of a subscription that does not run is the stored one.
func TestStoredProof(t *testing.T) {
	seen := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	a, b := event.At(trust.Untrusted("a")), event.At(trust.Untrusted("b"))
	for name, tt := range map[string]struct {
		sub  event.Subscription
		want event.Proof
	}{
		"never seen":               {event.Subscription{Mode: event.ModePoll, Cursor: a}, event.ProofNew},
		"poll":                     {event.Subscription{Mode: event.ModePoll, Cursor: a, LastSeen: seen}, event.ProofProved},
		"push":                     {event.Subscription{Mode: event.ModePush, Cursor: a, LastSeen: seen}, event.ProofProved},
		"no cursor":                {event.Subscription{Mode: event.ModePush, NoReplay: true, LastSeen: seen}, event.ProofNoReplay},
		"push that was not proved": {event.Subscription{Mode: event.ModePush, Cursor: a, LastSeen: seen, Proof: event.ProofProving}, event.ProofProving},
		"push with a possible gap": {event.Subscription{Mode: event.ModePush, Cursor: a, LastSeen: seen, Proof: event.ProofPossibleGap}, event.ProofPossibleGap},
		"webhook that was proved":  {event.Subscription{Mode: event.ModeWebhook, Cursor: b, Proved: a, LastSeen: seen, Proof: event.ProofProved}, event.ProofProved},
	} {
		if got := Stored(tt.sub, nil).Status.Proof; got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		if s, _ := derive(evidence{sub: tt.sub}); s.Proof != tt.want {
			t.Errorf("%s, of no server: %s, want %s", name, s.Proof, tt.want)
		}
	}
}
