package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/mcpserver"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// operator stands in for the engine of reactions, and decides client requests.
type operator struct {
	react.Control
	mu   sync.Mutex
	runs map[react.RunID]react.Run
	full bool
	// gathers: a run does not ask at once, as with the engine.
	gathers bool
}

func (o *operator) Run(_ context.Context, id react.RunID) (react.Run, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r, ok := o.runs[id]
	if !ok {
		return r, react.ErrNoRun
	}
	return r, nil
}

func (o *operator) ClientRequest(_ context.Context, w react.ClientRequest) (react.Run, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.full {
		return react.Run{}, react.ErrClientRequests
	}
	r := react.Run{ID: w.Run(), Rule: react.ClientRule, State: react.Asking, Due: time.Unix(2e9, 0), Request: &react.Request{Kind: react.RequestClient, Wish: &w}}
	o.runs[r.ID] = r
	if o.gathers {
		r.State, r.Due, r.Request = react.Gathering, time.Now(), nil
	}
	return r, nil
}

// decides changes the state of the only request.
func (o *operator) decides(t *testing.T, state react.State, reason string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.runs) != 1 {
		t.Fatalf("%d requests: %v", len(o.runs), o.runs)
	}
	for id, r := range o.runs {
		r.State, r.Reason, r.Ended = state, reason, time.Now()
		o.runs[id] = r
	}
}

func (o *operator) request(t *testing.T) react.ClientRequest {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.runs {
		return *r.Request.Wish
	}
	t.Fatal("nothing was asked")
	return react.ClientRequest{}
}

// newAsking serves a store with an operator, and counts how often a request was checked.
func newAsking(t *testing.T) (*rig, *operator, *int) {
	t.Helper()
	o, checked := &operator{runs: map[react.RunID]react.Run{}}, new(int)
	r := newRig(t, func(opts *mcpserver.Options) { opts.React = o })
	r.check = func(q host.Request) (event.Mode, error) {
		*checked++
		if q.Server != "pager" || q.Type.Raw() != "incident" {
			return "", fmt.Errorf("%w %q", host.ErrUnknownServer, q.Server)
		}
		return event.ModePush, nil
	}
	return r.serve(""), o, checked
}

// A client asks for a subscription and is answered at once; asking again returns the state of the
// request, and nothing is checked or asked a second time.
func TestClientAsksForSubscription(t *testing.T) {
	r, o, checked := newAsking(t)
	ask := map[string]any{"server": "pager", "type": "incident", "arguments": map[string]any{"b": 1, "a": "<x>"}}
	got := r.tool("subscribe", ask)
	if got["state"] != "asking" || got["subscription"] != nil || got["mode"] != "push" || got["expires"] == nil {
		t.Fatal(got)
	}
	w := o.request(t)
	if w.Server != "pager" || string(w.Args) != `{"a":"<x>","b":1}` || w.Asked != event.ModeAuto || w.Mode != event.ModePush || w.Client.Raw() != "loopback test" {
		t.Errorf("%+v", w)
	}
	for state, want := range map[react.State]string{react.Gathering: "asking", react.Ready: "approved", react.Running: "approved", react.Done: "done",
		react.Denied: "denied", react.Expired: "expired", react.Failed: "failed", react.Killed: "failed"} {
		o.decides(t, state, "because")
		if got := r.tool("subscribe", ask); got["state"] != want || got["id"] != string(w.Run()) || got["reason"] != "because" {
			t.Errorf("%s: %v", state, got)
		}
	}
	if *checked != 1 {
		t.Errorf("it was checked %d times", *checked)
	}
}

// The first answer comes before the run asks: it has no time yet at which the question ends, but the
// mode that was found.
func TestTheFirstAnswerToAClientRequest(t *testing.T) {
	r, o, _ := newAsking(t)
	o.gathers = true
	got := r.tool("subscribe", map[string]any{"server": "pager", "type": "incident"})
	if got["state"] != "asking" || got["mode"] != "push" || got["expires"] != nil {
		t.Error(got)
	}
}

// An existing subscription needs no request.
func TestExistingSubscriptionNeedsNoRequest(t *testing.T) {
	r, o, _ := newAsking(t)
	key := event.Key{Server: "pager", Type: trust.Untrusted("incident"), Args: []byte(`{}`)}
	sub := r.subscribed(key)
	if got := r.tool("subscribe", map[string]any{"server": "pager", "type": "incident", "mode": "poll"}); got["state"] != "done" || got["subscription"] != string(sub) || got["mode"] != "push" || got["id"] != nil {
		t.Error(got)
	}
	if len(o.runs) > 0 {
		t.Error("the operator was asked")
	}
	if got := r.tool("unsubscribe", map[string]any{"subscription": string(sub)}); got["state"] != "asking" || got["mode"] != nil {
		t.Error(got)
	}
	if w := o.request(t); w.Act != react.ClientEnd || w.Sub != sub || w.Server != "pager" || w.Type.Raw() != "incident" || string(w.Args) != `{}` {
		t.Errorf("%+v", w)
	}
}

// A client asks to pause, resume and change a subscription; what is so already is not asked.
func TestClientAsksForAChange(t *testing.T) {
	key := event.Key{Server: "pager", Type: trust.Untrusted("incident"), Args: []byte(`{"a":1}`)}
	for _, c := range []struct {
		tool   string
		args   map[string]any
		paused bool
		want   react.ClientRequest // Act is empty where nothing is asked
	}{
		{"pause", nil, false, react.ClientRequest{Act: react.ClientPause, Args: key.Args}},
		{"pause", nil, true, react.ClientRequest{}},
		{"resume", nil, true, react.ClientRequest{Act: react.ClientResume, Args: key.Args}},
		{"resume", nil, false, react.ClientRequest{}},
		{"change", map[string]any{"mode": "poll"}, false, react.ClientRequest{Act: react.ClientChange, Was: key.Args, Asked: event.ModePoll, Mode: event.ModePush}},
		{"change", map[string]any{"mode": "push"}, false, react.ClientRequest{}},
		{"change", map[string]any{"mode": "poll", "arguments": map[string]any{"a": 1}}, false, react.ClientRequest{Act: react.ClientChange, Was: key.Args, Asked: event.ModePoll, Mode: event.ModePush}},
		{"change", map[string]any{"arguments": map[string]any{"b": 2, "a": 1}}, false, react.ClientRequest{Act: react.ClientChange, Args: []byte(`{"a":1,"b":2}`), Was: key.Args, Mode: event.ModePush}},
	} {
		r, o, _ := newAsking(t)
		id := r.subscribed(key)
		if c.paused {
			done := make(chan error, 1)
			err := r.store.Submit(t.Context(), event.Batch{Sub: id, Update: func(s *event.Subscription) { s.Paused, s.State = true, event.StatePaused }, Done: func(_ event.Outcome, err error) { done <- err }})
			if err := errors.Join(err, <-done); err != nil {
				t.Fatal(err)
			}
		}
		args := map[string]any{"subscription": string(id)}
		for name, value := range c.args {
			args[name] = value
		}
		got := r.tool(c.tool, args)
		if c.want.Act == "" {
			if got["state"] != "done" || got["subscription"] != string(id) || len(o.runs) > 0 {
				t.Errorf("%s %v: %v, %d asked", c.tool, c.args, got, len(o.runs))
			}
			continue
		}
		w := o.request(t)
		c.want.Client, c.want.Sub, c.want.Server, c.want.Type = w.Client, id, "pager", key.Type
		if !reflect.DeepEqual(w, c.want) || got["state"] != "asking" {
			t.Errorf("%s %v: %v, asked %+v", c.tool, c.args, got, w)
		}
		o.decides(t, react.Done, "")
		if got := r.tool(c.tool, args); got["state"] != "done" || got["subscription"] != string(w.Subscription()) {
			t.Errorf("%s %v, done: %v", c.tool, c.args, got)
		}
	}
}

// subscribed stores a subscription by push.
func (r *rig) subscribed(key event.Key) event.SubID {
	r.t.Helper()
	done := make(chan error, 1)
	err := r.store.Submit(r.t.Context(), event.Batch{Sub: key.ID(), Update: func(s *event.Subscription) {
		s.ID, s.Key, s.Created, s.Mode, s.State = key.ID(), key, time.Now(), event.ModePush, event.StateLive
	}, Done: func(_ event.Outcome, err error) { done <- err }})
	if err == nil {
		err = <-done
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return key.ID()
}

func TestBadClientRequestsAreRefused(t *testing.T) {
	r, o, _ := newAsking(t)
	for want, args := range map[string]map[string]any{
		"unknown server":    {"server": "other", "type": "incident"},
		"16384 are taken":   {"server": "pager", "type": "incident", "arguments": map[string]any{"a": strings.Repeat("x", 16<<10)}},
		`needs "type"`:      {"server": "pager"},
		"mode":              {"server": "pager", "type": "incident", "mode": "telepathy"},
		`has no "approved"`: {"server": "pager", "type": "incident", "approved": true},
	} {
		if said := r.refused("subscribe", args); !strings.Contains(said, want) {
			t.Errorf("%v is refused with %q", args, said)
		}
	}
	if said := r.refused("unsubscribe", map[string]any{"subscription": "nothing1"}); !strings.Contains(said, "no subscription of this id") {
		t.Error(said)
	}
	if len(o.runs) > 0 {
		t.Error("the operator was asked")
	}
	o.full = true
	if said := r.refused("subscribe", map[string]any{"server": "pager", "type": "incident"}); !strings.Contains(said, react.ErrClientRequests.Error()) {
		t.Error(said)
	}
	none := newRig(t, nil).serve("")
	if said := none.refused("subscribe", map[string]any{"server": "pager", "type": "incident"}); !strings.Contains(said, "eventdeck react run") {
		t.Error(said)
	}
}

// A client is named by how it reached the server and by its own name, which is bounded.
func TestClientsAreNamed(t *testing.T) {
	r, o, _ := newAsking(t)
	session := r.sdkSession("stdio")
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "subscribe", Arguments: map[string]any{"server": "pager", "type": "incident"}}); err != nil {
		t.Fatal(err)
	}
	if w := o.request(t); w.Client.Raw() != "stdio test" {
		t.Errorf("%q", w.Client.Raw())
	}
	clear(o.runs)
	long := meta()
	long["io.modelcontextprotocol/clientInfo"] = map[string]any{"name": strings.Repeat("ü", 1000)}
	result := r.call("tools/call", map[string]any{"_meta": long, "name": "subscribe", "arguments": map[string]any{"server": "pager", "type": "incident"}})
	if result["isError"] == true {
		t.Fatal(result)
	}
	if w := o.request(t); w.Client.Raw() != "loopback "+strings.Repeat("ü", 60) {
		t.Errorf("%q", w.Client.Raw())
	}
}
