package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/demo"
	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// others serves archive and digest beside the pager.
func (r *rig) others() {
	r.t.Helper()
	o := demo.ServerOptions{Rate: 100, Speed: 20, CAFile: filepath.Join(r.dir, "ca", "ca.pem")}
	archive, err := demo.NewArchive(o)
	if err != nil {
		r.t.Fatal(err)
	}
	digest, err := demo.NewDigest(o)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, s := range []struct {
		name, scheme, path string
		serve              func(context.Context, net.Listener) error
	}{{"archive", "http", demo.ArchivePath, archive.Serve}, {"digest", "ws", demo.DigestPath, digest.Serve}} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			r.t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- s.serve(ctx, ln) }()
		r.t.Cleanup(func() {
			cancel()
			if err := <-done; err != nil {
				r.t.Error(err)
			}
		})
		r.host.AddServer(event.Server{Name: s.name, URL: s.scheme + "://" + ln.Addr().String() + s.path})
	}
}

func (r *rig) begin(server, typ, args string, mode event.Mode) event.Subscription {
	r.t.Helper()
	sub, err := r.host.Subscribe(r.ctx(), host.Request{Server: server, Type: trust.Untrusted(typ), Args: json.RawMessage(args), Mode: mode})
	if err != nil {
		r.t.Fatalf("subscribe to %s: %v", typ, err)
	}
	return sub
}

// heldBy returns the subscriptions that a server holds.
func (r *rig) heldBy(server string) []host.RemoteSubscription {
	r.t.Helper()
	all, err := r.host.Remote(r.ctx(), server)
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

func viewOf(snap host.Snapshot, id event.SubID) host.SubscriptionView {
	for _, v := range snap.Subs {
		if v.ID == id {
			return v
		}
	}
	return host.SubscriptionView{}
}

func TestSubscriptionKeepsItsDialect(t *testing.T) {
	r := newRig(t)
	r.others()
	for _, c := range []struct {
		server, typ, dialect string
		noReplay             bool
	}{
		{"pager", "load.tick", "", false},
		{"archive", "event://archive/load.tick", dialect.SEP1803, true},
		{"digest", dialect.FilteredStream, dialect.MCPE, true},
	} {
		sub := r.begin(c.server, c.typ, "", event.ModeAuto)
		if sub.Dialect != c.dialect || sub.NoReplay != c.noReplay || sub.Mode != event.ModePush {
			t.Errorf("%s: dialect %q, no replay %v, mode %s", c.server, sub.Dialect, sub.NoReplay, sub.Mode)
		}
		r.await("an event of "+c.server, func(s host.Snapshot) bool { return viewOf(s, sub.ID).Stored > 0 })
	}
	snap := r.host.Snapshot()
	for i, want := range []string{"SEP-3415", dialect.SEP1803, dialect.MCPE} {
		if got := snap.Servers[i].Profile; got != want {
			t.Errorf("%s is said to speak %q, want %q", snap.Servers[i].Name, got, want)
		}
	}
}

func TestPauseSuspendsTheSubscriptionOnTheServer(t *testing.T) {
	r := newRig(t)
	r.others()
	sub := r.begin("digest", dialect.FilteredStream, `{"eventTypes":["load.*"]}`, event.ModePush)
	stored := func(n uint64) {
		r.await("events", func(s host.Snapshot) bool { return viewOf(s, sub.ID).Stored >= n })
	}
	stored(1)
	if err := r.host.Pause(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	id := r.store.Subscriptions()[0].Lease.ServerID
	if id.IsZero() {
		t.Fatal("the server's id was forgotten by a pause")
	}
	if err := r.host.Resume(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	snap := r.host.Snapshot()
	stored(viewOf(snap, sub.ID).Stored + 5)
	if all := r.heldBy("digest"); len(all) != 1 || all[0].Mine != sub.ID || all[0].ServerID != id {
		t.Errorf("held %+v", all)
	}
	if _, gaps := r.gapsOf(sub.ID, event.CausePaused); gaps != 1 {
		t.Errorf("%d gaps for the pause, want 1", gaps)
	}
	if err := r.host.Unsubscribe(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	if all := r.heldBy("digest"); len(all) != 0 {
		t.Errorf("still held: %+v", all)
	}
}

// gapsOf counts the events and the gaps of a cause.
func (r *rig) gapsOf(id event.SubID, cause event.Cause) (events, gaps int) {
	r.t.Helper()
	err := r.store.Forward(1, func(rec event.Record) bool {
		switch {
		case rec.Sub != id:
		case rec.Kind == event.KindEvent:
			events++
		case rec.Gap != nil && rec.Gap.Cause == cause:
			gaps++
		}
		return true
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return events, gaps
}

func TestSecretOfTheServerEndsWithItsRegistration(t *testing.T) {
	r := newRig(t)
	r.others()
	sub := r.begin("archive", "event://archive/load.tick", "", event.ModeWebhook)
	r.await("deliveries", func(s host.Snapshot) bool { return viewOf(s, sub.ID).Stored > 3 })
	kept, err := r.store.Subscription(sub.ID)
	if err != nil || kept.Hook.Secret.IsZero() || !strings.HasPrefix(kept.Lease.ServerID.Raw(), "subscription://") {
		t.Fatalf("%+v, %v", kept, err)
	}
	if err := r.host.RotateSecret(r.ctx(), sub.ID); !errors.Is(err, host.ErrMode) {
		t.Errorf("a secret that the server makes was rotated: %v", err)
	}
	if err := r.host.Pause(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	if kept, err = r.store.Subscription(sub.ID); err != nil || !kept.Hook.Secret.IsZero() || !kept.Lease.ServerID.IsZero() {
		t.Errorf("the secret of a registration that is over is kept: %+v, %v", kept.Hook, err)
	}
	if all := r.heldBy("archive"); len(all) != 0 {
		t.Errorf("still registered: %+v", all)
	}
	if err := r.host.Resume(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	before := viewOf(r.host.Snapshot(), sub.ID).Stored
	r.await("deliveries again", func(s host.Snapshot) bool { return viewOf(s, sub.ID).Stored > before+3 })
}

func TestWrongArgumentsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	r := newRig(t)
	r.others()
	for _, c := range []struct{ server, typ, args, want string }{
		{"digest", dialect.FilteredStream, `{"channels":["cron"],"cronExpression":"0 9 * *"}`, "five"},
		{"digest", dialect.FilteredStream, `{"channels":["cron"],"cronExpression":"0 9 * * *","timezone":"Mars"}`, "IANA"},
		{"digest", dialect.FilteredStream, `{"handler":{"type":"bash","command":"x"}}`, "handler"},
		{"pager", "load.tick", `{"nothing":1}`, "nothing"},
		{"archive", "event://archive/shelf/{shelf}", `{"shelf":"attic"}`, "shelf"},
		{"archive", "event://archive/shelf/{shelf}", `{}`, "shelf"},
	} {
		_, err := r.host.Subscribe(r.ctx(), host.Request{Server: c.server, Type: trust.Untrusted(c.typ), Args: json.RawMessage(c.args)})
		if !errors.Is(err, host.ErrArguments) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: got %v, want %q", c.typ, c.args, err, c.want)
		}
	}
	if subs := r.store.Subscriptions(); len(subs) != 0 {
		t.Errorf("%d subscriptions were kept", len(subs))
	}
	p, err := r.host.Preview(host.Request{Server: "digest", Type: trust.Untrusted(dialect.FilteredStream), Args: json.RawMessage(`{"channels":["cron"],"cronExpression":"@daily"}`)})
	if err != nil || len(p.Firings) != 3 || p.Method != "tools/call" || p.Callback != "" {
		t.Errorf("preview %+v, %v", p, err)
	}
	p, err = r.host.Preview(host.Request{Server: "archive", Type: trust.Untrusted("event://archive/load.tick"), Mode: event.ModeWebhook})
	if err != nil || p.Callback == "" || !strings.Contains(string(p.Params), `"targetUri":"`+p.Callback+`"`) {
		t.Errorf("preview %+v %s, %v", p, p.Params, err)
	}
}

func TestFiringsOfASubscription(t *testing.T) {
	now := time.Date(2026, 3, 14, 14, 3, 5, 0, time.UTC)
	sub := event.Subscription{Dialect: dialect.MCPE, Key: event.Key{Args: json.RawMessage(`{"channels":["cron"],"cronExpression":"0 9 * * *","timezone":"Asia/Tokyo"}`)}}
	next := host.Firings(sub, now)
	if len(next) != 3 || next[0].Format(time.RFC3339) != "2026-03-15T09:00:00+09:00" || !next[2].After(next[1]) {
		t.Errorf("delivers at %v", next)
	}
	sub.Dialect = ""
	if next := host.Firings(sub, now); next != nil {
		t.Errorf("MCP Events deliver at %v", next)
	}
	if host.DialectName("") != "MCP Events" || host.DialectName(dialect.MCPE) != dialect.MCPE {
		t.Error("a dialect is shown under another name")
	}
}
