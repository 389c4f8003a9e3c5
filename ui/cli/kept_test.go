package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/host/trust"
	"eventdeck/ui/cli/program"
)

// keep stores a subscription with n events.
func (b *bench) keep(server, typ string, n int) event.Subscription {
	key := event.Key{Server: server, Type: trust.Untrusted(typ), Args: []byte(`{"a":"\u202e"}`)}
	sub := event.Subscription{ID: key.ID(), Key: key, Mode: event.ModePush, State: event.StateLive}
	b.store.change(sub.ID, func(s *event.Subscription) { *s = sub })
	for i := range n {
		r := occurrence(sub, fmt.Sprintf("%s%d", typ, i+1), "{}")
		r.ReceivedAt = b.p.Now().Add(-time.Duration(n-i) * time.Hour)
		b.store.add(r)
	}
	return sub
}

func TestSubsList(t *testing.T) {
	b := newBench(t)
	sub := b.keep("pager", "incident.created", 0)
	b.store.change(sub.ID, func(s *event.Subscription) {
		s.Created, s.Cursor, s.Evidence, s.Error = at, event.At(trust.Untrusted("c\x1b")), "heartbeat 3 s ago", trust.Untrusted("was\x1bcut")
		s.Hook.Secret, s.Lease.RefreshBefore, s.Printed = event.NewSecret("whsec_very-secret-indeed"), at, 4
	})
	b.expect(t, exitDone, "", "subs", "list", "--json", "--data", b.data(t))
	want := `{"id":"` + string(sub.ID) + `","server":"pager","type":"incident.created","arguments":{"a":"\u202e"},"mode":"push","dialect":"MCP Events","noReplay":false,"failover":false,"preferred":"push","running":false,"state":"not-running","stateSeen":{"state":"live","time":null},"since":null,"stateReason":"","throttledUntil":null,"proof":"new","refused":{"count":0,"last":null,"reason":""},"expires":null,"evidence":"heartbeat 3 s ago","error":"was\u001bcut","paused":false,"cursor":"c\u001b","created":"2026-07-28T12:00:00.005Z","lastSeen":null,"refreshBefore":"2026-07-28T12:00:00.005Z","printed":4}` + "\n"
	if got := b.out.String(); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	b.out = mcptest.Buffer{}
	b.store.change(sub.ID, func(s *event.Subscription) { s.Paused = true })
	b.expect(t, exitDone, "", "subs", "list", "--data", b.data(t))
	for _, want := range []string{"ID ", string(sub.ID), "pager", "not running, paused, heartbeat 3 s ago, was", "lease until"} {
		if !strings.Contains(b.out.String(), want) {
			t.Errorf("%q is missing in %s", want, b.out.String())
		}
	}
	b.out = mcptest.Buffer{}
	b.store.change(sub.ID, func(s *event.Subscription) { s.Paused, s.State = false, event.StateResumed })
	b.expect(t, exitDone, "", "subs", "list", "--data", b.data(t))
	if !strings.Contains(b.out.String(), "not running, was resumed") {
		t.Errorf("resumed: %s", b.out.String())
	}
	b.out = mcptest.Buffer{}
	b.store.change(sub.ID, func(s *event.Subscription) { s.State, s.LastSeen = event.StateLive, at })
	b.expect(t, exitDone, "", "subs", "list", "--data", b.data(t))
	if !strings.Contains(b.out.String(), "not running, live when last seen at "+at.Local().Format(time.DateTime)) {
		t.Errorf("a store that no process runs: %s", b.out.String())
	}
	b.out = mcptest.Buffer{}
	b.store.change(sub.ID, func(s *event.Subscription) { s.Proof = event.ProofProving })
	b.expect(t, exitDone, "", "subs", "list", "--data", b.data(t))
	if !strings.Contains(b.out.String(), "it was not shown yet that nothing is missing") {
		t.Errorf("a process that stopped while a proof was open: %s", b.out.String())
	}
	b.out = mcptest.Buffer{}
	b.store.change(sub.ID, func(s *event.Subscription) {
		s.State, s.Dialect, s.NoReplay, s.Key.Args = event.StateLive, "MCPE", true, []byte(`{"channels":["cron"],"cronExpression":"0 9 * * *","timezone":"UTC"}`)
	})
	b.expect(t, exitDone, "", "subs", "list", "--data", b.data(t))
	if s := b.out.String(); !strings.Contains(s, "MCPE, no replay") || !strings.Contains(s, "delivers 20") || !strings.Contains(s, "09:00 UTC") {
		t.Errorf("a schedule without replay: %s", s)
	}
	b.out = mcptest.Buffer{}
	b.expect(t, exitDone, "", "subs", "list", "--json", "--data", b.data(t))
	if s := b.out.String(); !strings.Contains(s, `"dialect":"MCPE","noReplay":true`) {
		t.Errorf("a schedule without replay: %s", s)
	}
	for _, form := range [][]string{nil, {"--json"}} {
		b.out = mcptest.Buffer{}
		b.store.change(sub.ID, func(s *event.Subscription) { s.Shown = []byte(`{"pin":"***"}`) })
		b.expect(t, exitDone, "", append([]string{"subs", "list", "--data", b.data(t)}, form...)...)
		if s := b.out.String(); !strings.Contains(s, `"***"`) || strings.Contains(s, "cronExpression") {
			t.Errorf("what is secret in the arguments: %s", s)
		}
	}
	b = newBench(t)
	b.expect(t, exitDone, "no subscription is kept in /data", "subs", "list", "--data", b.data(t))
}

// A subscription whose deliveries are refused says so once, and the cause first.
func TestSubsListSaysOnceThatDeliveriesAreRefused(t *testing.T) {
	v := host.SubscriptionView{Running: true}
	v.Status.State, v.Status.Reason = event.StateRefused, event.ReasonRefused
	v.Status.Error = trust.Untrusted("signature wrong, 21 deliveries refused")
	v.Status.Refused = event.Refused{Count: 21, Reason: "signature wrong"}
	if got, want := subState(v, time.Now()), "refused, signature wrong, 21 deliveries refused"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSubsVerbs(t *testing.T) {
	for verb, did := range map[string]string{
		"rm": "rm", "pause": "pause", "resume": "resume", "refresh": "refresh", "rotate": "rotate",
		"mode poll": "mode poll", "failover on": "failover true", "failover off": "failover false",
		"end 2100-01-01T20:00:00Z": "end 2100-01-01T20:00:00Z", "end never": "end 0001-01-01T00:00:00Z",
	} {
		b := newBench(t)
		sub := b.keep("pager", "incident.created", 0)
		name, word, more := strings.Cut(verb, " ")
		args := []string{"subs", name, string(sub.ID)}
		if more {
			args = append(args, word)
		}
		b.expect(t, exitDone, "", append(args, "--data", b.data(t), "--header", "K: v")...)
		if len(b.verbs) != 1 || b.verbs[0] != did+" "+string(sub.ID) || b.standIn.servers[0].Name != "pager" || b.standIn.servers[0].Headers["K"].Reveal() != "v" || !b.closed || b.store.closed != 1 {
			t.Errorf("%s: did %q, servers %v", verb, b.verbs, b.standIn.servers)
		}
	}
	b := newBench(t)
	sub := b.keep("gone", "t", 0)
	b.expect(t, exitUsage, `subs end: "2001-01-01" is over: write a time to come, such as 20:00`, "subs", "end", string(sub.ID), "2001-01-01", "--data", b.data(t))
	b.err = mcptest.Buffer{}
	b.expect(t, exitUsage, `"smoke" must be one of poll, push, webhook`, "subs", "mode", string(sub.ID), "smoke", "--data", b.data(t))
	b.expect(t, exitDone, `the server cannot be told: unknown server "gone"`, "subs", "rm", string(sub.ID), "--data", b.data(t))
	if len(b.verbs) != 1 {
		t.Errorf("did %q", b.verbs)
	}
	b = newBench(t)
	sub = b.keep("pager", "t", 0)
	b.standIn.connect = func(context.Context, string) error { return host.ErrUnreachable }
	b.expect(t, exitDone, "cannot be told now: cannot connect", "subs", "rm", string(sub.ID), "--data", b.data(t))
	if len(b.verbs) != 1 {
		t.Errorf("did %q", b.verbs)
	}
	b = newBench(t)
	b.expect(t, exitError, `there is no subscription "nope"; `, "subs", "pause", "nope", "--data", b.data(t))
}

func TestEvents(t *testing.T) {
	b := newBench(t)
	b.p.Now = func() time.Time { return at } // from which --since counts
	first := b.keep("pager", "a", 5)
	b.keep("chat", "b", 2)
	dir := b.data(t)
	tests := []struct {
		args []string
		want string
	}{
		{nil, "a1 a2 a3 a4 a5 b1 b2"},
		{[]string{"--limit", "3"}, "a5 b1 b2"},
		{[]string{"--limit", "99"}, "a1 a2 a3 a4 a5 b1 b2"},
		{[]string{string(first.ID)}, "a1 a2 a3 a4 a5"},
		{[]string{string(first.ID), "--limit", "2"}, "a4 a5"},
		{[]string{string(first.ID), "--since", "150m"}, "a4 a5"},
		{[]string{"--since", "0d2h30m", "--limit", "3"}, "a5 b1 b2"},
		{[]string{"--since", "2100-01-01T00:00:00Z"}, ""},
		{[]string{"--since", "2000-01-01"}, "a1 a2 a3 a4 a5 b1 b2"},
	}
	for _, tt := range tests {
		b.out = mcptest.Buffer{}
		b.expect(t, exitDone, "", append([]string{"events", "--data", dir}, tt.args...)...)
		if got := b.ids(); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.args, got, tt.want)
		}
	}
	b.expect(t, exitError, `there is no subscription "nope"`, "events", "nope", "--data", dir)
	b.out = mcptest.Buffer{}
	b.p.StdoutTerminal = true
	b.err = mcptest.Buffer{}
	b.expect(t, exitDone, "", "events", "--data", dir, "--limit", "1")
	if !strings.Contains(b.out.String(), "  chat  b  {}  b2\n") {
		t.Errorf("for a person: %q", b.out.String())
	}
}

func TestRecordsOfARemovedSubscriptionStay(t *testing.T) {
	b := newBench(t)
	sub := b.keep("pager", "a", 1)
	b.store.subs = nil
	b.expect(t, exitDone, "", "events", string(sub.ID), "--data", b.data(t))
	if b.ids() != "a1" {
		t.Errorf("printed %q", b.ids())
	}
}

func TestMissingDirectory(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	for _, args := range [][]string{{"events"}, {"subs", "list"}, {"subs", "rm", "x"}} {
		b := newBench(t)
		b.expect(t, exitError, "there is no data in "+missing, append(args, "--data", missing)...)
		if len(b.opened) != 0 {
			t.Errorf("%q opened %+v", args, b.opened)
		}
	}
	b := newBench(t)
	b.expect(t, exitDone, "nothing is kept yet in "+b.p.Home, "events")
}

func TestScreen(t *testing.T) {
	b := newBench(t)
	b.p.StdinTerminal, b.p.StdoutTerminal = true, true
	b.expect(t, exitDone, "events are kept in /data; go on with: eventdeck\n")
	if len(b.standIn.servers) != 2 || b.opened[0].Dir != filepath.Join(b.p.Home, ".local", "state", "eventdeck") || !b.closed {
		t.Errorf("servers %+v, opened %+v", b.standIn.servers, b.opened)
	}
	b = newBench(t)
	b.p.StdinTerminal, b.p.StdoutTerminal = true, true
	b.expect(t, exitDone, "go on with: eventdeck --data /data 'stdio:x '\\''y'\\'''", "stdio:x 'y'", "--data", b.data(t))
	b = newBench(t)
	b.p.StdinTerminal, b.p.StdoutTerminal = true, true
	b.p.Env = environment(map[string]string{"TERM": "dumb"})
	b.expect(t, exitUsage, "TERM=dumb")
	b = newBench(t)
	b.p.StdinTerminal, b.p.StdoutTerminal = true, true
	b.p.Screen = func(context.Context, program.ScreenOptions) error { return errors.New("the terminal went away") }
	if code := b.run(t); code != exitError || !b.closed {
		t.Errorf("code %d, closed %t", code, b.closed)
	}
}

// demoBench is a bench whose demo servers list types.
func demoBench(t *testing.T) *bench {
	b := newBench(t)
	b.p.StdinTerminal, b.p.StdoutTerminal = true, true
	b.p.DemoServer = func(ctx context.Context, _ string, o host.DemoOptions) error {
		if _, err := fmt.Fprintf(o.Err, "listening on http://%s/mcp\n", o.Listen); err != nil {
			return err
		}
		<-ctx.Done()
		_, err := fmt.Fprintln(o.Err, "bye")
		return errors.Join(ctx.Err(), err)
	}
	return b
}

func TestDemoSubscribesInEveryMode(t *testing.T) {
	b := demoBench(t)
	subscribed := make(chan struct{}, 10)
	b.subscribed = func(event.Subscription) { subscribed <- struct{}{} }
	b.p.Screen = func(context.Context, program.ScreenOptions) error {
		for range demoSubscriptions {
			<-subscribed
		}
		return nil
	}
	b.expect(t, exitDone, "the temporary data was removed", "demo", "--speed", "4", "--seed", "7")
	got := map[string]bool{}
	for _, r := range b.request {
		got[r.Server+" "+string(r.Mode)] = true
	}
	if len(got) != 7 || !got["archive push"] || !got["digest push"] || !got["pager webhook"] || !got["pager push"] || !got["pager poll"] || !got["chat push"] || !got["chat poll"] {
		t.Errorf("subscribed %v", got)
	}
	pager, chat := b.standIn.servers[0], b.standIn.servers[1]
	if len(b.standIn.servers) != 4 {
		t.Errorf("%d servers", len(b.standIn.servers))
	}
	if pager.URL != "http://127.0.0.1:0/mcp" || chat.Command != "/bin/eventdeck" || strings.Join(chat.Args, " ") != "demo-server chat --speed 4 --seed 7 --fault close-every=8.75s" {
		t.Errorf("%+v %+v", pager, chat)
	}
	if !b.opened[0].Temporary || !b.closed {
		t.Errorf("opened %+v", b.opened)
	}
}

func TestDemoGoesOnWithKeptData(t *testing.T) {
	b := demoBench(t)
	b.keep("pager", "one", 1)
	b.expect(t, exitDone, "go on with: eventdeck --data /data demo", "demo", "--data", b.data(t))
	if len(b.request) != 0 {
		t.Errorf("subscribed again: %+v", b.request)
	}
}

func TestDemoEndsWhileItSubscribes(t *testing.T) {
	b := demoBench(t)
	b.standIn.subscribe = func(ctx context.Context, _ host.Request) error {
		<-ctx.Done()
		return ctx.Err()
	}
	b.expect(t, exitDone, "removed", "demo")
}

func TestDemoServerThatDoesNotStart(t *testing.T) {
	b := demoBench(t)
	b.p.DemoServer = func(context.Context, string, host.DemoOptions) error { return errors.New("listen: no loopback") }
	b.expect(t, exitError, "the demo server pager did not start; listen: no loopback", "demo")
	if len(b.opened) != 0 {
		t.Errorf("opened %+v", b.opened)
	}
}
