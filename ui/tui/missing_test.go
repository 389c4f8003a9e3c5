package tui

import (
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
)

// forsaken returns a host with a subscription at a server that is not configured.
func forsaken() *fakeHost {
	h := newFake()
	h.subscribe("digest", "filtered-stream", event.ModePush, `{"channels":["cron"],"cronExpression":"* * * * *"}`)
	v := &h.snap.Subs[0]
	v.NoServer, v.NoReplay, v.Dialect = true, true, "mcpe"
	v.Status = delivery.Status{State: event.StateNotRunning, Error: trust.Untrusted("no server of this name is configured")}
	return h
}

// A subscription whose server is not configured is in the tree, without a promise of new events.
func TestSubscriptionWithoutServer(t *testing.T) {
	a := open(t, forsaken(), 200, 40)
	press(t, a, "1", "j")
	s := screenOf(a)
	for _, want := range []string{"No server is configured.", "digest not configured", "filtered-stream not-running", "no server of this name"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is missing:\n%s", want, s)
		}
	}
	press(t, a, "4")
	s = screenOf(a)
	if !strings.Contains(s, " waits for its server, no-replay") || !strings.Contains(s, "nothing, until a server of its name") || strings.Contains(s, "delivers") {
		t.Errorf("the table and its detail:\n%s", s)
	}
	press(t, a, "D")
	if s = screenOf(a); !strings.Contains(s, "Unsubscribe") || !strings.Contains(s, "hears nothing") || strings.Contains(s, "and at the server") {
		t.Errorf("the end of it:\n%s", s)
	}
}

// A server that is not configured cannot be removed or connected. When its last subscription ends,
// the scope ends too.
func TestScopeEndsWithItsServer(t *testing.T) {
	h := forsaken()
	a := open(t, h, 120, 30)
	press(t, a, "1", "j")
	for _, key := range []string{"X", "R"} {
		if press(t, a, key); a.dialog != nil || !strings.Contains(a.Edges.Status.Note.Text, "needs a configured server") {
			t.Errorf("%s opens %T and says %q", key, a.dialog, a.Edges.Status.Note.Text)
		}
	}
	if a.stream.Query.Node.Server != "digest" {
		t.Fatalf("the scope is %+v", a.stream.Query.Node)
	}
	h.snap.Subs = nil
	h.snap.Version++
	a.take(h.Snapshot())
	if a.stream.Query.Node != (query.Node{}) {
		t.Errorf("the scope stays: %+v", a.stream.Query.Node)
	}
}

// A state without evidence has no trailing comma.
func TestNoEvidence(t *testing.T) {
	h := forsaken()
	h.snap.Subs[0].NoServer, h.snap.Subs[0].Status.State = false, event.StateStarting
	a := open(t, h, 160, 40)
	press(t, a, "4")
	if s := screenOf(a); strings.Contains(s, "starting,") || strings.Contains(s, " , ") {
		t.Error(s)
	}
	h.snap.Subs[0].NoReplay = false
	h.snap.Version++
	a.take(h.Snapshot())
	if s := screenOf(a); !strings.Contains(s, "  no server of this name is configured") {
		t.Errorf("the evidence does not begin with what is known:\n%s", s)
	}
}

func TestWebhookOnlyTypeHasASecretAtOnce(t *testing.T) {
	h := newFake()
	h.server("pager", event.Type{Name: trust.Untrusted("page.sent"), Modes: []event.Mode{event.ModeWebhook}})
	if _, f := openedForm(t, h, 120, 40); f.Secret().IsZero() {
		t.Error("the form speaks of a secret that is kept, and there is none")
	}
}

func TestProtocolIsNamedOnce(t *testing.T) {
	for want, v := range map[string]host.ServerView{
		"2026-07-28 stateless": {Era: "2026-07-28 stateless", Version: "2026-07-28"},
		"2025-06-18 handshake": {Era: "handshake", Version: "2025-06-18"},
		"handshake":            {Era: "handshake"},
		"":                     {},
	} {
		if got := evidence.Protocol(&v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNarrowScreenWithoutServers(t *testing.T) {
	a := open(t, newFake(), 60, 20)
	press(t, a, "2")
	if s := screenOf(a); !strings.Contains(s, "1 no servers") {
		t.Error(s)
	}
}

// On a narrow line the reason why a key does nothing comes first.
func TestRefusalsBeginWithTheReason(t *testing.T) {
	a := openWith(t, newFake(), Options{ReadOnly: true, Theme: "none"})
	for key, want := range map[string]string{
		"e": "e does nothing: this screen only reads (--read-only)",
		"i": "i needs a subscription: choose one in 1",
	} {
		a.Edges.Status.Hush()
		if press(t, a, key); !strings.HasPrefix(a.Edges.Status.Note.Text, want) || a.Edges.Status.Note.Bad {
			t.Errorf("%s says %q", key, a.Edges.Status.Note.Text)
		}
	}
}
