package host_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// acts returns the actors and actions of the audit log, oldest first. Of the refused deliveries only
// those with a wrong signature count: one that is under way when its subscription ends is refused too.
func (r *rig) acts() (out []string) {
	r.t.Helper()
	err := r.host.Audit().Before(0, func(e event.AuditEntry) bool {
		if e.Action != "delivery refused" || strings.Contains(e.Detail.Raw(), "signature") {
			out = append(out, fmt.Sprintf("%s: %s", e.Actor, e.Action))
		}
		return true
	})
	if err != nil {
		r.t.Fatal(err)
	}
	slices.Reverse(out)
	return out
}

func TestActsAreAudited(t *testing.T) {
	r := newRig(t)
	sub := r.webhook(1)
	// A flood of one kind is one entry.
	for range 20 {
		if got := r.deliver(sub.Hook.URL); got != http.StatusUnauthorized {
			t.Fatalf("a wrong signature is answered %d", got)
		}
	}
	r.await("counting the refusals", func(host.Snapshot) bool {
		return r.host.Stats().Refusals == 20 && slices.Contains(r.acts(), "security: delivery refused")
	})
	for _, verb := range []func() error{
		func() error { return r.host.Pause(r.ctx(), sub.ID) },
		func() error { return r.host.Resume(r.ctx(), sub.ID) },
		func() error { return r.host.Unsubscribe(r.ctx(), sub.ID) },
	} {
		if err := verb(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := r.host.Subscribe(r.ctx(), host.Request{Server: "pager", Type: trust.Untrusted("load.tick"), Mode: event.ModePoll, Args: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	got := slices.DeleteFunc(r.acts(), func(s string) bool { return s == "security: challenge answered" })
	want := []string{"operator: subscribe", "security: delivery refused", "operator: pause", "operator: resume", "operator: unsubscribe", "operator: subscribe"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if !slices.Contains(r.acts(), "security: challenge answered") {
		t.Error("the answered challenge is missing")
	}
}

func TestFrontendsHaveSettingsOfTheirOwnOnly(t *testing.T) {
	r := newRig(t)
	if err := r.host.SetSetting(r.ctx(), "ui.columns", `{"a":1}`); err != nil {
		t.Fatal(err)
	}
	if got, err := r.host.Setting("ui.columns"); err != nil || got != `{"a":1}` {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := r.host.Setting("ui.none"); !errors.Is(err, event.ErrNotFound) {
		t.Errorf("absent: %v", err)
	}
	if err := r.host.SetSetting(r.ctx(), "receiver.address", "x"); !errors.Is(err, host.ErrSetting) {
		t.Errorf("the host's own: %v", err)
	}
}

func TestMarksAreKept(t *testing.T) {
	r := newRig(t)
	if err := r.host.SetMark(r.ctx(), event.Mark{Seq: 4, Note: "here"}); err != nil {
		t.Fatal(err)
	}
	if m := r.host.Marks(); len(m) != 1 || m[0].Note != "here" || m[0].At.IsZero() {
		t.Errorf("%+v", m)
	}
	r.close()
	r.open()
	if err := r.host.RemoveMark(r.ctx(), 4, true); err != nil || len(r.host.Marks()) != 1 {
		t.Errorf("a line was not there: %v, %v", err, r.host.Marks())
	}
	if err := r.host.RemoveMark(r.ctx(), 4, false); err != nil || len(r.host.Marks()) != 0 {
		t.Errorf("removed: %v, %v", err, r.host.Marks())
	}
}

func TestWireIsKeptMaskedAndCounted(t *testing.T) {
	r := newRig(t)
	sub := r.webhook(5)
	secret := sub.Hook.Secret.Reveal()
	sent, received := 0, 0
	r.host.Wire().After(0, func(_ uint64, f host.WireFrame) bool {
		if strings.Contains(f.Frame.Raw(), secret) {
			t.Error("the secret is in the wire log")
		}
		if f.Server != "pager" || f.Bytes < f.Frame.Len()/2 || f.At.IsZero() {
			t.Errorf("%+v", f)
		}
		if f.Sent {
			sent++
		} else {
			received++
		}
		return true
	})
	if sent == 0 || received == 0 {
		t.Errorf("%d frames sent, %d received", sent, received)
	}
	s := r.host.Stats()
	if s.Events < 5 || s.Store.Commits == 0 || s.BySub[sub.ID].Minutes[59] == 0 && s.BySub[sub.ID].Minutes[58] == 0 || s.Ingest.N == 0 {
		t.Errorf("%+v", s)
	}
}

func TestWarningsAreKept(t *testing.T) {
	r := newRig(t)
	r.host.AddServer(event.Server{Name: "broken", Fault: errors.New("needs \x1b[31m${TOKEN}")})
	if _, err := r.host.Connected(r.ctx(), "broken", true); err == nil {
		t.Fatal("a faulty server is connected")
	}
	r.await("the warning", func(host.Snapshot) bool {
		found := false
		r.host.AppLog().After(0, func(_ uint64, l host.LogLine) bool {
			found = found || l.Server == "broken" && l.Level == slog.LevelWarn && strings.Contains(l.Text, "server not connected") && !strings.Contains(l.Text, "\x1b")
			return true
		})
		return found
	})
}

func TestAddedServersAreInTheAuditLog(t *testing.T) {
	r := newRig(t)
	if acts := r.acts(); len(acts) > 0 {
		t.Errorf("configured servers were noted: %q", acts)
	}
	r.host.AddServer(event.Server{Name: "hub", URL: "http://user:hunter2@127.0.0.1:1/secret-path?key=hunter2", ByHand: true})
	r.host.AddServer(event.Server{Name: "hub", Command: "./hub", Args: []string{"hunter2"}, ByHand: true})
	r.host.AddServer(event.Server{Name: "broken", Fault: errors.New("needs ${TOKEN}"), ByHand: true})
	var got []string
	if err := r.host.Audit().Before(0, func(e event.AuditEntry) bool {
		got = append(got, fmt.Sprintf("%s: %s %s: %s, %s", e.Actor, e.Action, e.Server, e.Result, e.Detail.Raw()))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"operator: add server broken: failed, needs ${TOKEN}",
		"operator: change server hub: ok, ./hub",
		"operator: add server hub: ok, http://127.0.0.1:1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Log lines of a subscription's runner name its server.
func TestLogLinesOfRunnersNameTheServer(t *testing.T) {
	r, s := hookRig(t, event.Server{})
	if _, err := r.host.Subscribe(r.ctx(), r.tick()); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.refuse = true
	s.mu.Unlock()
	_ = r.host.Refresh(r.ctx(), r.store.Subscriptions()[0].ID) // its failure is logged
	r.await("the runner's line", func(host.Snapshot) bool {
		found := false
		r.host.AppLog().After(0, func(_ uint64, l host.LogLine) bool {
			if strings.Contains(l.Text, "subscription interrupted") {
				found = true
				if l.Server != "pager" || strings.Contains(l.Text, "server=") {
					t.Errorf("%+v", l)
				}
			}
			return true
		})
		return found
	})
}
