package evidence_test

import (
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
)

var start = time.Date(2026, 3, 14, 14, 3, 5, 0, time.UTC)

// refusedCallback is the error of a subscription whose callback was refused.
var refusedCallback = trust.Untrusted("events/subscribe: server answered CallbackEndpointError (-32027): the callback could not be verified (reason tls_error)")

func TestRowsBeginWithTheState(t *testing.T) {
	now := start.Local()
	for want, v := range map[string]host.SubscriptionView{
		"waiting for the server, unreachable for 6 m": {Status: delivery.Status{State: event.StateStarting, Reason: event.ReasonUnreachable, Since: now.Add(-6 * time.Minute)}},
		"every second, last answer 14:03:05":          {Subscription: event.Subscription{Mode: event.ModePoll}, Status: delivery.Status{State: event.StatePolling, LastPoll: now, NextTry: now.Add(time.Second)}},
		"live, heartbeat 3 s ago":                     {Status: delivery.Status{State: event.StateLive, Opened: now, LastHeartbeat: now.Add(-3 * time.Second)}},
	} {
		if word, rest := evidence.Row(&v, now); word+", "+rest != want {
			t.Errorf("%q, want %q", word+", "+rest, want)
		}
	}
	v := host.SubscriptionView{Status: delivery.Status{State: event.StateStarting, Reason: event.ReasonUnreachable, Attempt: 4, Since: now.Add(-6 * time.Minute),
		Error: trust.Untrusted("cannot connect: http://127.0.0.1:9/mcp: server/discover: dial tcp 127.0.0.1:9: connect: connection refused")}}
	if got := evidence.Why(&v, now); got != "unreachable: connection refused, 4 tries since 13:57:05" || !v.InTrouble() || evidence.Urgency(&v) != 1 {
		t.Errorf("it says %q", got)
	}
}

// Every state has its evidence, and says whether silence means that nothing happened.
func TestStatesWithTheirEvidence(t *testing.T) {
	now := start.Local()
	for word, v := range map[string]host.SubscriptionView{
		"starting, for 4 s":                                           {Status: delivery.Status{State: event.StateStarting, Since: now.Add(-4 * time.Second)}},
		"verifying, for 4 s":                                          {Status: delivery.Status{State: event.StateVerifying, Since: now.Add(-4 * time.Second)}},
		"live, heartbeat 3 s ago":                                     {Status: delivery.Status{State: event.StateLive, Opened: now, LastHeartbeat: now.Add(-3 * time.Second)}},
		"quiet, no event for 20 m, heartbeat 3 s ago":                 {Status: delivery.Status{State: event.StateLive, Opened: now.Add(-20 * time.Minute), LastHeartbeat: now.Add(-3 * time.Second)}},
		"stale, silent for 40 s":                                      {Status: delivery.Status{State: event.StateStale, LastByte: now.Add(-40 * time.Second)}},
		"polling, every 28 s, next in 24 s":                           {Subscription: event.Subscription{Mode: event.ModePoll}, Status: delivery.Status{State: event.StatePolling, LastPoll: now.Add(-4 * time.Second), NextTry: now.Add(24 * time.Second)}},
		"polling, no answer for 12 s":                                 {Subscription: event.Subscription{Mode: event.ModePoll}, Status: delivery.Status{State: event.StatePolling, Reason: event.ReasonUnreachable, Error: trust.Untrusted("no answer for 12 s"), LastPoll: now.Add(-20 * time.Second)}},
		"throttled, until 14:03:25":                                   {Status: delivery.Status{State: event.StateThrottled, Reason: event.ReasonQuota, Throttled: now.Add(20 * time.Second)}},
		"flapping, lost 3 times in 5 min, heartbeat 3 s ago":          {Status: delivery.Status{State: event.StateFlapping, Error: trust.Untrusted("lost 3 times in 5 min"), LastHeartbeat: now.Add(-3 * time.Second)}},
		"draining, the server has more, last answer 14:03:04":         {Status: delivery.Status{State: event.StateDraining, LastPoll: now.Add(-time.Second)}},
		"backoff, try 4 in 8 s":                                       {Status: delivery.Status{State: event.StateBackoff, Attempt: 3, NextTry: now.Add(8 * time.Second)}},
		"backoff, retrying (4th)":                                     {Status: delivery.Status{State: event.StateBackoff, Attempt: 3, NextTry: now.Add(time.Second / 2)}},
		"waiting, unreachable for 6 m":                                {Status: delivery.Status{State: event.StateStarting, Reason: event.ReasonUnreachable, Since: now.Add(-6 * time.Minute)}},
		"waiting, callback refused: certificate not trusted, for 4 s": {Status: delivery.Status{State: event.StateStarting, Reason: event.ReasonTLS, Error: refusedCallback, Since: now.Add(-4 * time.Second)}},
		"refreshing, lease 1 m":                                       {Subscription: event.Subscription{Mode: event.ModeWebhook, Lease: event.Lease{RefreshBefore: now.Add(time.Minute)}}, Status: delivery.Status{State: event.StateRefreshing}},
		"live, refresh due in 12 m":                                   {Subscription: event.Subscription{Mode: event.ModeWebhook}, Status: delivery.Status{State: event.StateLive, NextTry: now.Add(12 * time.Minute)}},
		"suspended, http_5xx since 13:50:00":                          {Subscription: event.Subscription{Lease: event.Lease{Status: &event.DeliveryStatus{LastError: trust.Untrusted("http_5xx"), FailedSince: trust.Untrusted("2026-03-14T13:50:00Z")}}}, Status: delivery.Status{State: event.StateSuspended}},
		"gap, opened 9 s ago, 1 gap":                                  {Gaps: 1, Status: delivery.Status{State: event.StateLive, Opened: now.Add(-9 * time.Second)}},
		"denied, since 14:03:00":                                      {Status: delivery.Status{State: event.StateDenied, Since: now.Add(-5 * time.Second)}},
		"ended, since 14:03:00":                                       {Status: delivery.Status{State: event.StateEnded, Since: now.Add(-5 * time.Second)}},
		"paused, by you, 5 s ago":                                     {Status: delivery.Status{State: event.StatePaused, Since: now.Add(-5 * time.Second)}},
	} {
		if got := string(evidence.StateWord(&v, now)) + ", " + evidence.Of(v, now); got != word {
			t.Errorf("%q, want %q", got, word)
		}
		facts := evidence.Quietness(&v, true, now)
		var text string
		for _, f := range facts {
			text += f.Label + f.Text.Plain() + "\n"
		}
		known := strings.Contains(text, "nothing happened: ")
		unknown := strings.Contains(text, "proves nothing: ") || strings.Contains(text, "no events come: ") || strings.Contains(text, "cause   ")
		if known == unknown || !strings.Contains(text, "next") || !strings.Contains(text, evidence.NoReplay) {
			t.Errorf("%s: it says\n%s", word, text)
		}
		if certain := strings.HasPrefix(word, "polling, every") || strings.Contains(word, "heartbeat"); known != certain {
			t.Errorf("%s: known is %v", word, known)
		}
	}
}

// While events arrive, the subscription is not called quiet.
func TestQuietnessWhileEventsArrive(t *testing.T) {
	now := start
	for last, want := range map[time.Duration]string{
		2 * time.Second: "it is not quiet: the last event came 2 s ago",
		5 * time.Minute: "nothing happened since " + cells.At(now, now.Add(-5*time.Minute)) + ": the stream is alive",
	} {
		v := host.SubscriptionView{Status: delivery.Status{State: event.StateLive, Opened: now.Add(-time.Hour), LastEvent: now.Add(-last), LastHeartbeat: now}}
		if got := evidence.Quietness(&v, false, now)[0].Text.Plain(); !strings.HasPrefix(got, want) {
			t.Errorf("%v after an event: %q, want %q", last, got, want)
		}
	}
	v := host.SubscriptionView{Status: delivery.Status{State: event.StateBackoff, Attempt: 1, LastEvent: now}}
	if got := evidence.Quietness(&v, false, now)[0].Text.Plain(); !strings.HasPrefix(got, "no events come: ") {
		t.Errorf("in backoff: %q", got)
	}
}

// The countdown ends when an attempt begins.
func TestRunningAttemptHasNoCountdown(t *testing.T) {
	s := host.ServerView{Reach: host.ReachBackoff, Attempt: 1, NextTry: start}
	if got := evidence.Reach(s, start); got != "unreachable, retrying (2nd)" {
		t.Errorf("at its time: %q", got)
	}
	if got := evidence.Reach(s, start.Add(-time.Second)); got != "unreachable, try 2 in 1 s" {
		t.Errorf("before: %q", got)
	}
	v := host.SubscriptionView{Status: delivery.Status{State: event.StateBackoff, Attempt: 3, NextTry: start}}
	if got := evidence.Of(v, start.Add(time.Second)); got != "retrying (4th)" {
		t.Errorf("a subscription: %q", got)
	}
}

func TestATimeInTheFutureNamesTheSendersClock(t *testing.T) {
	at := time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)
	for timestamp, want := range map[string]string{
		"2027-05-23T03:00:00Z": ", 181 d 0 h before it occurred by the sender's clock", "2026-11-23T03:00:20Z": "",
		"2026-11-23 03:58:58+0100": ", 1 m after it occurred", "next spring": "",
	} {
		r := event.Record{Kind: event.KindEvent, ReceivedAt: at, Timestamp: trust.Untrusted(timestamp)}
		if got := evidence.Lag(r); got != want {
			t.Errorf("%q: %q, want %q", timestamp, got, want)
		}
	}
}

// The lag is unknown for records without a time, with an absurd one, and for changes of state.
func TestLagMayBeUnknown(t *testing.T) {
	at := time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)
	for timestamp, want := range map[string]time.Duration{
		"": 0, "soon": 0, "0001-01-01T00:00:00Z": 0, "2026-11-23T04:00:00Z": 0, "2026-11-23T02:59:58Z": 2 * time.Second, "2026-11-23 03:59:58+0100": 2 * time.Second,
	} {
		r := event.Record{Kind: event.KindEvent, ReceivedAt: at, Timestamp: trust.Untrusted(timestamp)}
		if got, known := evidence.LagOf(&r); got != want || known != (want > 0) {
			t.Errorf("%q: %v, %v", timestamp, got, known)
		}
		r.Kind = event.KindState
		if got, known := evidence.LagOf(&r); got != 0 || known {
			t.Errorf("a change of state, %q: %v, %v", timestamp, got, known)
		}
	}
}
