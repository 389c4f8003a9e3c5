package form_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/internal/tuitest"
)

// fixture is a screen and a host that records the calls.
type fixture struct {
	tuitest.Screen
	env form.Env
	tuitest.Settings

	noMode map[event.Mode]error
	found  host.ServerView // the result of TestServer
	refuse error           // returned by methods that change something
	asked  []host.Request
	did    []string
}

func newFixture(t *testing.T) *fixture {
	d := &fixture{Settings: tuitest.Settings{}, noMode: map[event.Mode]error{}}
	dir := t.TempDir()
	d.env = form.Env{
		Env: tuitest.Env(), Screen: d, Host: d,
		Servers:   config.Source{File: dir + "/servers.json", Paths: config.Paths{Home: dir, Env: func(string) (string, bool) { return "", false }}},
		Snap:      &host.Snapshot{Servers: []host.ServerView{{Name: "shop", Types: []event.Type{orders}}}},
		Elsewhere: func(server, command string) string { return "eventdeck " + command + " " + server },
	}
	return d
}

func (d *fixture) Check(_ context.Context, r host.Request) (event.Mode, error) {
	if r.Mode == event.ModeAuto {
		return event.ModePush, nil
	}
	return r.Mode, d.noMode[r.Mode]
}

func (d *fixture) Preview(r host.Request) (host.Preview, error) {
	return host.Preview{}, fmt.Errorf("no preview of %s", r.Type.Raw())
}

func (d *fixture) Subscribe(_ context.Context, r host.Request) (event.Subscription, error) {
	d.asked = append(d.asked, r)
	return event.Subscription{Key: event.Key{Server: r.Server, Type: r.Type, Args: r.Args}}, d.refuse
}

func (d *fixture) Unsubscribe(_ context.Context, id event.SubID) error {
	return d.note("unsubscribe", id)
}

func (d *fixture) SetMode(_ context.Context, id event.SubID, m event.Mode) error {
	return d.note("mode "+string(m), id)
}

func (d *fixture) SetFailover(_ context.Context, id event.SubID, on bool) error {
	return d.note(fmt.Sprint("failover ", on), id)
}

func (d *fixture) TestServer(_ context.Context, s event.Server) (host.ServerView, error) {
	return d.found, d.note("test", s.Name)
}

func (d *fixture) AddServer(s event.Server) { _ = d.note("add", s.Name) }

func (d *fixture) SignIn(context.Context, string) (host.SignIn, error) {
	return host.SignIn{}, host.ErrNoSignIn
}

func (d *fixture) note(what string, of any) error {
	if d.refuse == nil {
		d.did = append(d.did, fmt.Sprint(what, " ", of))
	}
	return d.refuse
}

// shows checks that a text is on the screen.
func (d *fixture) shows(t *testing.T, want string) {
	t.Helper()
	if d.Dialog != nil {
		d.Dialog.Size(120, 40)
	}
	if text := d.Text(116, 34); !strings.Contains(text, want) {
		t.Errorf("%q is not shown:\n%s", want, text)
	}
}

var orders = event.Type{
	Name: trust.Untrusted("order.placed"), Modes: []event.Mode{event.ModePoll, event.ModePush, event.ModeWebhook},
	InputSchema: json.RawMessage(`{"type":"object","required":["team"],"properties":{"team":{"type":"string","pattern":"^[a-z]+$"},"limit":{"type":"integer","maximum":50}}}`),
}
