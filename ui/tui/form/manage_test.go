package form_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/internal/tuitest"
)

// fakeHost records the calls.
type fakeHost struct {
	did    []string
	refuse error
}

func (h *fakeHost) note(what string, args ...any) error {
	h.did = append(h.did, fmt.Sprintf(what, args...))
	return h.refuse
}

func (h *fakeHost) Subscribe(_ context.Context, r host.Request) (event.Subscription, error) {
	return event.Subscription{}, h.note("subscribe to %s", r.Type.Raw())
}
func (h *fakeHost) Unsubscribe(context.Context, event.SubID) error  { return h.note("unsubscribe") }
func (h *fakeHost) Pause(context.Context, event.SubID) error        { return h.note("pause") }
func (h *fakeHost) Resume(context.Context, event.SubID) error       { return h.note("resume") }
func (h *fakeHost) Refresh(context.Context, event.SubID) error      { return h.note("refresh") }
func (h *fakeHost) RotateSecret(context.Context, event.SubID) error { return h.note("rotate") }
func (h *fakeHost) SetMode(_ context.Context, _ event.SubID, m event.Mode) error {
	return h.note("mode %s", m)
}
func (h *fakeHost) SetFailover(_ context.Context, _ event.SubID, on bool) error {
	return h.note("failover %v", on)
}
func (h *fakeHost) ResetCursor(_ context.Context, _ event.SubID, from host.From) error {
	return h.note("reset %v", from.Cursor.Valid)
}
func (h *fakeHost) RemoveServer(_ context.Context, name string) error {
	return h.note("remove %s", name)
}
func (h *fakeHost) Reconnect(name string) error { return h.note("reconnect %s", name) }
func (h *fakeHost) SignOut(_ context.Context, name string) error {
	return h.note("sign out of %s", name)
}

type world struct {
	*form.Manager
	host   *fakeHost
	screen *tuitest.Screen
	sub    *host.SubscriptionView
}

func newWorld(file string) world {
	key := event.Key{Server: "pager", Type: trust.Untrusted("page.sent")}
	snap := &host.Snapshot{
		Servers: []host.ServerView{{Name: "pager", Types: []event.Type{{Name: key.Type, Modes: []event.Mode{event.ModePush, event.ModePoll}}}}},
		Subs:    []host.SubscriptionView{{Subscription: event.Subscription{ID: key.ID(), Key: key, Mode: event.ModePush}}},
	}
	h, s := &fakeHost{}, &tuitest.Screen{}
	return world{&form.Manager{
		Env: tuitest.Env(), Screen: s, Host: h, Snap: snap, Servers: config.Source{File: file},
		Passing: func(name string) bool { return name == "demo" },
	}, h, s, &snap.Subs[0]}
}

func (w world) record() event.Record {
	return event.Record{Seq: 7, Sub: w.sub.ID, Cursor: event.Cursor{Valid: true}}
}

func TestActionsOnASubscription(t *testing.T) {
	for want, do := range map[string]func(world) tea.Cmd{
		"pause":          func(w world) tea.Cmd { return w.TogglePause(w.sub) },
		"resume":         func(w world) tea.Cmd { w.sub.Paused = true; return w.TogglePause(w.sub) },
		"refresh":        func(w world) tea.Cmd { return w.Refresh(w.sub) },
		"":               func(w world) tea.Cmd { w.sub.Paused = true; return w.Refresh(w.sub) },
		"failover false": func(w world) tea.Cmd { return w.SetFailover(w.sub, false) },
		"reconnect x":    func(w world) tea.Cmd { return w.Reconnect("x") },
		"sign out of x":  func(w world) tea.Cmd { return w.SignOut("x") },
	} {
		w := newWorld("")
		cmd := do(w)
		if strings.HasPrefix(want, "reconnect") {
			cmd()
		} else {
			tuitest.Run(cmd)
		}
		if got := strings.Join(w.host.did, " "); got != want {
			t.Errorf("did %q, not %q", got, want)
		}
		if want == "" && !strings.Contains(w.screen.Told, "is paused: <pause> resumes it") {
			t.Errorf("told is %q", w.screen.Told)
		}
	}
}

func TestActionsWithoutUndoAreConfirmed(t *testing.T) {
	for want, do := range map[string]func(world){
		"reset false": func(w world) { w.AskReset(w.sub, nil); w.screen.Press("r", "n") },
		"reset true":  func(w world) { r := w.record(); w.AskReset(w.sub, &r); w.screen.Press("r") },
		"rotate":      func(w world) { w.AskRotate(w.sub); w.screen.Press("y") },
		"":            func(w world) { w.AskRotate(w.sub); w.screen.Press("esc") },
	} {
		w := newWorld("")
		if do(w); strings.Join(w.host.did, " ") != want || w.screen.Dialog != nil {
			t.Errorf("did %q, not %q", w.host.did, want)
		}
	}
	w := newWorld("")
	w.AskReread(event.Record{Sub: w.sub.ID})
	if w.screen.Dialog != nil {
		t.Error("asked about a record without a cursor")
	}
	w.AskReread(w.record())
	if w.screen.Press("y"); !slices.Equal(w.host.did, []string{"reset true"}) || !strings.Contains(w.screen.Told, "from record 7 on") {
		t.Errorf("did %q, told %q", w.host.did, w.screen.Told)
	}
}

func TestTypedActions(t *testing.T) {
	for line, want := range map[string]string{
		"mode poll": "mode poll", "failover on": "failover true", "rotate": "rotate", "refresh": "refresh",
		"reset now": "reset false", "reset here": "reset true", "mode auto": "", "failover": "", "reset there": "",
	} {
		w := newWorld("")
		r, typed := w.record(), strings.Fields(line)
		cmd, err := w.Words(w.sub, &r, typed[0], typed[1:])
		tuitest.Run(cmd)
		if got := strings.Join(w.host.did, " "); got != want || errors.Is(err, evidence.ErrUsage) != (want == "") {
			t.Errorf("%s did %q: %v", line, got, err)
		}
	}
	w := newWorld("")
	if _, err := w.Words(w.sub, nil, "reset", []string{"here"}); !errors.Is(err, form.ErrNoCursor) {
		t.Error(err)
	}
	if got := w.OtherModes(w.sub); !slices.Equal(got, []string{"poll"}) {
		t.Errorf("other modes are %q", got)
	}
	w.host.refuse = errors.New("no")
	if tuitest.Run(w.TogglePause(w.sub)); !errors.Is(w.screen.Failed, w.host.refuse) {
		t.Errorf("told is %v", w.screen.Failed)
	}
}

func TestRemovingAServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "servers.json")
	const text = `{"mcpServers": {"pager": {"command": "pager"}}}`
	for keys, want := range map[string]struct{ did, file string }{
		"esc": {"", "pager"}, "y": {"remove pager", "pager"}, "f": {"remove pager", ""},
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w := newWorld(file)
		tuitest.Run(w.AskRemove("pager"))
		if s := w.screen.Text(60, 12); !strings.Contains(s, "Its subscription ends here and at the server.") || !strings.Contains(s, "lists it") {
			t.Errorf("asked is\n%s", s)
		}
		w.screen.Press(keys)
		left, err := os.ReadFile(file)
		if err != nil || strings.Contains(string(left), "pager") != (want.file != "") || strings.Join(w.host.did, " ") != want.did {
			t.Errorf("after %s: did %q, left %s, %v", keys, w.host.did, left, err)
		}
	}
	w := newWorld(file)
	if cmd := w.AskRemove("demo"); cmd != nil || !strings.Contains(w.screen.Text(60, 12), "It has no subscriptions here.") {
		t.Error("the configuration is read for a server that ends with the program")
	}
}

func TestUnsubscribingCanBeUndone(t *testing.T) {
	w := newWorld("")
	w.sub.Failover, w.sub.Paused = true, true
	w.AskUnsubscribe(w.sub, "14:03:05 a page")
	if s := w.screen.Text(80, 12); !strings.Contains(s, "Of the row 14:03:05 a page") || !strings.Contains(s, "<undo> undoes it for 10 s") {
		t.Errorf("asked is\n%s", s)
	}
	if w.screen.Press("y"); w.screen.Undo == nil || !strings.HasPrefix(w.screen.Told, "unsubscribed from ") {
		t.Fatalf("told %q", w.screen.Told)
	}
	tuitest.Run(w.screen.Undo())
	if got := strings.Join(w.host.did, ", "); got != "unsubscribe, subscribe to page.sent, failover true, pause" {
		t.Errorf("did %q", got)
	}
	w = newWorld("")
	w.sub.NoServer = true
	w.AskUnsubscribe(w.sub, "")
	if s := w.screen.Text(80, 12); !strings.Contains(s, "cannot be undone") {
		t.Errorf("asked is\n%s", s)
	}
	if w.screen.Press("y"); w.screen.Undo != nil {
		t.Error("undoing is offered")
	}
}
