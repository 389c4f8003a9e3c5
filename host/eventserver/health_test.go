package eventserver_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventserver"
)

func TestSubscriptionsAreSuspendedAndRenewed(t *testing.T) {
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
	var h eventserver.Health
	if got := h.Status(); !maps.Equal(got, map[string]any{"active": true, "lastDeliveryAt": nil, "lastError": nil, "failedSince": nil, "throttled": false}) {
		t.Errorf("at first: %v", got)
	}
	fail := func(after time.Duration) { h.Note(eventserver.Outcome{Category: "http_5xx"}, at.Add(after)) }
	h.Note(eventserver.Outcome{OK: true}, at)
	fail(time.Minute)
	fail(10 * time.Minute)
	if h.Suspend(at.Add(time.Hour), time.Minute) {
		t.Error("suspended after two failures")
	}
	fail(11 * time.Minute)
	if h.Suspend(at.Add(11*time.Minute), time.Hour) || h.Suspended {
		t.Error("suspended too soon after the first of three failures")
	}
	if !h.Suspend(at.Add(11*time.Minute), 10*time.Minute) || !h.Suspended {
		t.Error("not suspended")
	}
	want := map[string]any{"active": false, "lastDeliveryAt": "2026-11-01T11:00:00Z", "lastError": "http_5xx", "failedSince": "2026-11-01T11:01:00Z", "throttled": false}
	if got := h.Status(); !maps.Equal(got, want) {
		t.Errorf("suspended: %v", got)
	}
	// A delivery that was under way does not lift a suspension; a refresh does.
	if h.Note(eventserver.Outcome{OK: true}, at.Add(time.Hour)); !h.Suspended {
		t.Error("a delivery lifted the suspension")
	}
	fail(time.Hour)
	if h.Renew(); h.Suspended || h.Failures != 0 || h.Suspend(at.Add(24*time.Hour), 0) {
		t.Errorf("after a refresh: %+v", h)
	}
}

func TestSecretsSignTwiceAfterARotation(t *testing.T) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	a, b, c := event.NewSecret("a"), event.NewSecret("b"), event.NewSecret("c")
	s := eventserver.NewSecrets(a)
	wants := func(after time.Duration, want ...event.Secret) {
		t.Helper()
		if got := s.At(now.Add(after)); !slices.Equal(got, want) {
			t.Errorf("after %v %d secrets sign, want %d", after, len(got), len(want))
		}
	}
	s.Rotate(a, now)
	wants(0, a)
	s.Rotate(b, now)
	wants(0, b, a)
	s.Rotate(b, now.Add(time.Minute)) // a refresh does not make it longer
	wants(eventserver.DualSign-1, b, a)
	wants(eventserver.DualSign, b)
	s.Rotate(c, now)
	wants(0, c, b)
}
