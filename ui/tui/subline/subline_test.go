package subline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/subline"
	"eventdeck/ui/tui/words"
)

// fakeHost records subscriptions.
type fakeHost struct {
	form.Host
	snap   *host.Snapshot
	asked  []host.Request
	refuse error
	noAuto error // why the host does not choose a mode
	types  []event.Type
}

func (h *fakeHost) Snapshot() host.Snapshot { return *h.snap }
func (h *fakeHost) Types(context.Context, string) ([]event.Type, error) {
	return h.types, nil
}
func (h *fakeHost) Check(_ context.Context, r host.Request) (event.Mode, error) {
	if r.Mode == event.ModeAuto {
		return r.Mode, h.noAuto
	}
	return r.Mode, nil
}
func (h *fakeHost) Subscribe(_ context.Context, r host.Request) (event.Subscription, error) {
	h.asked = append(h.asked, r)
	return event.Subscription{}, h.refuse
}

var placed = event.Type{Name: trust.Untrusted("order.placed"), InputSchema: json.RawMessage(
	`{"type":"object","properties":{"pin":{"type":"string","format":"password"},"team":{"type":"string"}}}`)}

func newShop() (*fakeHost, *tuitest.Screen, *subline.Env) {
	snap := &host.Snapshot{Servers: []host.ServerView{
		{Name: "shop", Reach: host.ReachReady, TypesKnown: true, Types: []event.Type{placed}},
		{Name: "late", Reach: host.ReachConnecting},
		{Name: "away", Reach: host.ReachBackoff},
	}}
	h, s := &fakeHost{snap: snap}, &tuitest.Screen{}
	return h, s, &subline.Env{Env: tuitest.Env(), Screen: s, Host: h, Snap: snap, KeyOf: s.KeyOf, Take: func(host.Snapshot) tea.Cmd { return nil }}
}

func TestLineSubscribes(t *testing.T) {
	h, s, env := newShop()
	cmd, err := subline.Subscribe(env, []string{"order.placed", "team=the core", "mode=poll", "from=saved", "server=shop"})
	if err != nil || !strings.HasPrefix(s.Told, "asking shop for order.placed") {
		t.Fatalf("%v, told %q", err, s.Told)
	}
	tuitest.Run(cmd)
	if len(h.asked) != 1 || string(h.asked[0].Args) != `{"team":"the core"}` || h.asked[0].Mode != event.ModePoll || !h.asked[0].From.Saved || !strings.HasPrefix(s.Told, "subscribed to ") {
		t.Errorf("asked %+v, told %q", h.asked, s.Told)
	}
	h.refuse = errors.New("no")
	cmd, _ = subline.Subscribe(env, []string{"order.placed"})
	if tuitest.Run(cmd); s.Failed == nil {
		t.Error("a refusal is not told")
	}
	env.Snap.Receiver = "https://127.0.0.1:7777"
	h.refuse = &wire.Error{Code: wire.ProfileSketch.Code(wire.CallbackEndpointError), Message: trust.Untrusted("no"), Data: json.RawMessage(`{"reason":"timeout"}`)}
	cmd, _ = subline.Subscribe(env, []string{"order.placed", "mode=webhook"})
	if tuitest.Run(cmd); s.Failed == nil || !strings.HasPrefix(s.Failed.Error(), "The server cannot reach this host's receiver. It asks https://127.0.0.1:7777: change to push or poll") {
		t.Errorf("a callback that is refused is told as %v", s.Failed)
	}
}

// In mode auto a type that offers only webhook is subscribed to by webhook.
func TestModeAutoUsesTheOnlyMode(t *testing.T) {
	h, s, env := newShop()
	h.noAuto = fmt.Errorf("%w: only webhook", host.ErrMode)
	cmd, err := subline.Subscribe(env, []string{"order.placed"})
	if tuitest.Run(cmd); err != nil || len(h.asked) != 1 || h.asked[0].Mode != event.ModeWebhook {
		t.Errorf("%v, asked %+v, told %q, %v", err, h.asked, s.Told, s.Failed)
	}
}

// The types of a server that has not listed them are listed first.
func TestTypesAreListedFirst(t *testing.T) {
	h, s, env := newShop()
	h.types = []event.Type{placed}
	cmd, err := subline.Subscribe(env, []string{"order.placed", "server=late", "team=a"})
	if err != nil {
		t.Fatal(err)
	}
	if tuitest.Run(cmd); len(h.asked) != 1 || string(h.asked[0].Args) != `{"team":"a"}` {
		t.Errorf("asked %+v", h.asked)
	}
	cmd, _ = subline.Subscribe(env, []string{"order.paid", "server=late"})
	if tuitest.Run(cmd); !errors.Is(s.Failed, host.ErrUnknownType) {
		t.Errorf("told is %v", s.Failed)
	}
	if _, err := subline.Subscribe(env, []string{"order.placed", "server=away"}); err == nil || !strings.Contains(err.Error(), "<server.reconnect> on it tries at once") {
		t.Error(err)
	}
}

func TestWrongLinesAreRefused(t *testing.T) {
	_, _, env := newShop()
	for line, want := range map[string]error{
		"order.placed team":        words.ErrUsage,
		"order.placed mode=fax":    words.ErrUsage,
		"order.placed from=there":  words.ErrUsage,
		"order.placed server=none": host.ErrUnknownServer,
		"order.placed pin=***":     words.ErrUsage,
	} {
		if _, err := subline.Subscribe(env, strings.Fields(line)); !errors.Is(err, want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestCompletions(t *testing.T) {
	_, _, env := newShop()
	if got := subline.Complete(env.Snap, []string{"ord"}); !slices.Equal(got, []string{"order.placed"}) {
		t.Errorf("types are %q", got)
	}
	if got := subline.Complete(env.Snap, []string{"order.placed", ""}); !slices.Contains(got, "server=away") || !slices.Contains(got, "mode=poll") || !strings.HasPrefix(got[0], "pin=") {
		t.Errorf("words are %q", got)
	}
}

func TestHistoryHasNoSecrets(t *testing.T) {
	_, _, env := newShop()
	for line, want := range map[string]string{
		`sub order.placed  team=core mode=poll`:                    `sub order.placed  team=core mode=poll`,
		`sub order.placed pin=hunter2 team="the core" server=shop`: `sub order.placed pin=*** 'team=the core' server=shop`,
		`sub order.placed "pin=hunter2 sesame" team=it\'s`:         `sub order.placed pin=*** 'team=it'\''s'`,
		`sub order.placed pin=***`:                                 `sub order.placed pin=***`,
		`sub nothing.here pin=hunter2`:                             ``,
		`sub order.placed pin=hunter2 server=other`:                ``,
		`time utc`: `time utc`,
	} {
		if got := subline.ForHistory(env.Snap, "sub", line); got != want {
			t.Errorf("%s is remembered as %q, want %q", line, got, want)
		}
	}
}
