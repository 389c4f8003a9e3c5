package tui

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// away makes a server of the stand-in unreachable, without a list of its types.
func (h *fakeHost) away(name string) {
	h.server(name)
	s := &h.snap.Servers[len(h.snap.Servers)-1]
	s.Reach, s.TypesKnown, s.Reason, s.Attempt = host.ReachBackoff, false, event.ReasonUnreachable, 4
	s.NextTry, s.Err = start.Add(time.Minute), "cannot connect: http://127.0.0.1:9/mcp: dial tcp 127.0.0.1:9: connect: connection refused"
}

// waits makes a host store subscriptions without a confirmation, with a status that says why.
func (h *fakeHost) waits(reason event.Reason, text string) {
	h.never = func(r host.Request) event.Subscription {
		mode := r.Mode
		if mode == event.ModeAuto {
			mode = event.ModePush
		}
		v := h.subscribe(r.Server, r.Type.Raw(), mode, string(r.Args))
		h.mu.Lock()
		defer h.mu.Unlock()
		s := &h.snap.Subs[len(h.snap.Subs)-1].Status
		*s = (host.SubscriptionView{}).Status
		s.State, s.Reason, s.Attempt, s.Since, s.Error = event.StateStarting, reason, 2, start, trust.Untrusted(text)
		return v.Subscription
	}
}

// The error of a typed subscription names the unknown or unreachable server, and the type only if its
// server has listed its types.
func TestTypedSubscriptionErrorNamesItsCause(t *testing.T) {
	h := incident()
	h.away("down")
	a := open(t, h, 140, 40)
	for line, want := range map[string]string{
		"sub incident.changed server=nosuch": `unknown server "nosuch"; there are pager, chat, down`,
		"sub incident.created server=pagr":   `unknown server "pagr"; did you mean "pager"?`,
		"sub x.y server=down":                "down has not listed its types yet: it is unreachable: connection refused, 4 tries since 14:03:05",
		"sub incident.x server=pager":        `unknown event type "incident.x" at pager`,
		"reconnect nosuch":                   `unknown server "nosuch"`,
	} {
		if _, err := a.actions.Execute(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	if len(h.asked) != 0 {
		t.Errorf("asked %+v", h.asked)
	}
}

// A typed line subscribes to a type that offers only webhook, with this host's receiver.
func TestTypedSubscriptionByWebhookAlone(t *testing.T) {
	h := incident()
	h.callback = true
	h.snap.Servers[0].Types = append(h.snap.Servers[0].Types, event.Type{Name: trust.Untrusted("page.sent"), Modes: []event.Mode{event.ModeWebhook}})
	a := open(t, h, 140, 40)
	press(t, a, ":")
	word(t, a, "sub page.sent server=pager")
	press(t, a, "enter", "ctrl+s")
	if s := screenOf(a); !strings.Contains(s, "subscribed to pager page.sent") || len(h.asked) != 1 || h.asked[0].Mode != event.ModeWebhook {
		t.Errorf("asked %+v:\n%s", h.asked, s)
	}
}

// The palette stays open with the line and its error.
func TestTypedSubscriptionAtAServerThatIsAway(t *testing.T) {
	h := incident()
	h.away("down")
	a := open(t, h, 160, 40)
	press(t, a, ":")
	word(t, a, "sub x.y server=down")
	press(t, a, "enter")
	if s := screenOf(a); a.dialog == nil || !strings.Contains(s, "down has not listed its types yet: it is unreachable") {
		t.Errorf("nothing is said:\n%s", s)
	}
}

// The form that a typed line opens has all that was typed, and asks before it is closed.
func TestTypedSubscriptionFillsTheForm(t *testing.T) {
	h := newFake()
	h.server("shop", event.Type{Name: trust.Untrusted("order.placed"), Modes: []event.Mode{event.ModePush, event.ModePoll}, InputSchema: json.RawMessage(
		`{"type":"object","properties":{"n":{"type":"integer"},"team":{"type":"string"}}}`)})
	a := open(t, h, 120, 40)
	press(t, a, ":")
	word(t, a, `sub order.placed server=shop n=5 team="the core" mode=poll from=saved`)
	press(t, a, "enter")
	if s := screenOf(a); !strings.Contains(s, "the core") || !strings.Contains(s, "order.placed") || len(h.asked) != 0 {
		t.Fatalf("asked %+v:\n%s", h.asked, s)
	}
	press(t, a, "esc")
	if a.dialog == nil {
		t.Error("esc drops what was typed")
	}
	press(t, a, "n", "ctrl+s")
	if len(h.asked) != 1 || string(h.asked[0].Args) != `{"n":5,"team":"the core"}` || h.asked[0].Mode != event.ModePoll || !h.asked[0].From.Saved || h.asked[0].Server != "shop" {
		t.Errorf("asked %+v", h.asked)
	}
}

// The form shows the last answer of the server and what to do, while it waits and afterwards.
func TestFormThatIsNotConfirmed(t *testing.T) {
	for name, c := range map[string]struct {
		reason event.Reason
		text   string
		want   []string
	}{
		"unreachable": {event.ReasonUnreachable, "connect: connection refused", []string{"Unreachable: connection refused, 2 tries since 14:03:05.", "esc leaves it; it begins when the server is back"}},
		"certificate": {event.ReasonTLS, "events/subscribe: server answered CallbackEndpointError (-32027): the callback could not be verified (reason tls_error)",
			[]string{"The server does not trust this host's certificate.", "Give it what `eventdeck ca` prints, or change to push"}},
		"silent": {"", "", []string{"The server has not confirmed the subscription yet.", "it goes on trying"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := incident()
				h.snap.Servers[0].Types[1].InputSchema = json.RawMessage(`{"type":"object"}`)
				h.waits(c.reason, c.text)
				a := open(t, h, 120, 40)
				press(t, a, "1", "j", "j", "j", "j", "j", "j", "s")
				if a.dialog == nil || !strings.Contains(screenOf(a), "deploy.finished") {
					t.Fatalf("no form\n%s", screenOf(a))
				}
				began, answered := time.Now(), make(chan tea.Msg)
				cmd := a.key(tea.KeyPressMsg{Code: 's', Mod: tea.ModCtrl})
				go func() { answered <- cmd() }() // only what is asked runs in the background
				synctest.Wait()
				a.take(h.Snapshot())
				if c.reason != "" {
					for _, want := range c.want {
						if s := screenOf(a); !strings.Contains(s, want) || !strings.Contains(s, "asking the server") || !strings.Contains(s, "esc go on in the background") {
							t.Errorf("while it asks, no %q in\n%s", want, s)
						}
					}
				}
				msg := <-answered
				settle(a, func() tea.Msg { return msg })
				if took := time.Since(began); took != 10*time.Second {
					t.Errorf("it took %v", took)
				}
				for _, want := range c.want {
					if s := screenOf(a); !strings.Contains(s, want) || strings.Contains(s, "asking the server") {
						t.Errorf("no %q in\n%s", want, s)
					}
				}
				press(t, a, "esc")
				if a.dialog != nil || !strings.Contains(a.Edges.Status.Note.Text, "goes on in the background") || len(h.ended) != 0 {
					t.Errorf("esc shows %v and says %+v", a.dialog, a.Edges.Status.Note)
				}
			})
		})
	}
}

// A request goes on when its form is closed, and its result is shown.
func TestFormClosedDuringARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := incident()
		h.waits(event.ReasonUnreachable, "connection refused")
		a := open(t, h, 120, 40)
		press(t, a, "1", "j", "j", "j", "j", "j", "j", "s")
		answered := make(chan tea.Msg)
		cmd := a.key(tea.KeyPressMsg{Code: 's', Mod: tea.ModCtrl})
		go func() { answered <- cmd() }() // only what is asked runs in the background
		synctest.Wait()
		a.key(tea.KeyPressMsg{Code: tea.KeyEscape})
		if a.dialog != nil {
			t.Fatalf("%v is shown", a.dialog)
		}
		msg := <-answered
		settle(a, func() tea.Msg { return msg })
		if !strings.Contains(a.Edges.Status.Note.Text, "not confirmed yet, it goes on trying") || a.Edges.Status.Note.Bad {
			t.Errorf("it says %+v", a.Edges.Status.Note)
		}
	})
}

// An empty line does nothing.
func TestEmptyCommandDoesNothing(t *testing.T) {
	a := open(t, incident(), 120, 40)
	at := a.stream.At
	press(t, a, ":", "enter")
	if a.dialog != nil || a.stream.At != at || a.Edges.Status.Note.Text != "" {
		t.Errorf("it shows %v and says %+v", a.dialog, a.Edges.Status.Note)
	}
}
