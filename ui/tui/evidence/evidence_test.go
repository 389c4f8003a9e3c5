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

// TestVocabulary shows every word of the vocabulary with its evidence.
func TestVocabulary(t *testing.T) {
	now := start.Local()
	for word, v := range map[string]host.SubscriptionView{
		"starting, for 4 s":                              {Status: delivery.Status{State: event.StateStarting, Since: now.Add(-4 * time.Second)}},
		"verifying, for 4 s":                             {Status: delivery.Status{State: event.StateVerifying, Since: now.Add(-4 * time.Second)}},
		"live, heartbeat 3 s ago":                        {Status: delivery.Status{State: event.StateLive, Opened: now, LastHeartbeat: now.Add(-3 * time.Second)}},
		"quiet, no event for 20 m, heartbeat 3 s ago":    {Status: delivery.Status{State: event.StateLive, Opened: now.Add(-20 * time.Minute), LastHeartbeat: now.Add(-3 * time.Second)}},
		"stale, silent for 40 s":                         {Status: delivery.Status{State: event.StateStale, LastByte: now.Add(-40 * time.Second)}},
		"polling, polled 14:03:01, next in 24 s":         {Subscription: event.Subscription{Mode: event.ModePoll}, Status: delivery.Status{State: event.StatePolling, LastPoll: now.Add(-4 * time.Second), NextTry: now.Add(24 * time.Second)}},
		"draining, polled 14:03:04, the server has more": {Status: delivery.Status{State: event.StateDraining, LastPoll: now.Add(-time.Second)}},
		"backoff, try 4 in 8 s":                          {Status: delivery.Status{State: event.StateBackoff, Attempt: 3, NextTry: now.Add(8 * time.Second)}},
		"refreshing, lease 1 m":                          {Subscription: event.Subscription{Mode: event.ModeWebhook, Lease: event.Lease{RefreshBefore: now.Add(time.Minute)}}, Status: delivery.Status{State: event.StateRefreshing}},
		"live, refresh due in 12 m":                      {Subscription: event.Subscription{Mode: event.ModeWebhook}, Status: delivery.Status{State: event.StateLive, NextTry: now.Add(12 * time.Minute)}},
		"suspended, http_5xx since 13:50:00":             {Subscription: event.Subscription{Lease: event.Lease{Status: &event.DeliveryStatus{LastError: trust.Untrusted("http_5xx"), FailedSince: trust.Untrusted("2026-03-14T13:50:00Z")}}}, Status: delivery.Status{State: event.StateSuspended}},
		"gap, opened 9 s ago, 1 gap":                     {Gaps: 1, Status: delivery.Status{State: event.StateLive, Opened: now.Add(-9 * time.Second)}},
		"denied, since 14:03:00":                         {Status: delivery.Status{State: event.StateDenied, Since: now.Add(-5 * time.Second)}},
		"ended, since 14:03:00":                          {Status: delivery.Status{State: event.StateEnded, Since: now.Add(-5 * time.Second)}},
		"paused, by you, 5 s ago":                        {Status: delivery.Status{State: event.StatePaused, Since: now.Add(-5 * time.Second)}},
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
		if known == strings.Contains(text, "we cannot know: ") || !strings.Contains(text, "next") || !strings.Contains(text, evidence.NoReplay) {
			t.Errorf("%s: the view tells\n%s", word, text)
		}
		if certain := strings.HasPrefix(word, "polling") || strings.Contains(word, "heartbeat"); known != certain {
			t.Errorf("%s: known is %v", word, known)
		}
	}
}

// Where events come, the view does not say that nothing happens.
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
	if got := evidence.Quietness(&v, false, now)[0].Text.Plain(); !strings.HasPrefix(got, "we cannot know: ") {
		t.Errorf("in backoff: %q", got)
	}
}

// While an attempt runs, its time is not counted down any more.
func TestAttemptThatRuns(t *testing.T) {
	s := host.ServerView{Reach: host.ReachBackoff, Attempt: 1, NextTry: start}
	if got := evidence.Reach(s, start); got != "connecting, try 2" {
		t.Errorf("at its time: %q", got)
	}
	if got := evidence.Reach(s, start.Add(-time.Second)); got != "unreachable, try 2 in 1 s" {
		t.Errorf("before: %q", got)
	}
	v := host.SubscriptionView{Status: delivery.Status{State: event.StateBackoff, Attempt: 3, NextTry: start}}
	if got := evidence.Of(v, start.Add(time.Second)); got != "try 4 runs" {
		t.Errorf("a subscription: %q", got)
	}
}
