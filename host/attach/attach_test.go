package attach_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"eventdeck/host"
	"eventdeck/host/attach"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/seal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = time.Minute

// owner is the process that has the store open, inside of the test.
type owner struct {
	t      *testing.T
	dir    string
	store  *store.Store
	host   *host.Host
	server *attach.Server
	ended  bool
}

func newOwner(t *testing.T, dir string, find func(string) (event.Server, error)) *owner {
	t.Helper()
	return serve(t, dir, attach.Options{Find: find})
}

// newOwnerWith is newOwner with an engine of reactions.
func newOwnerWith(t *testing.T, c react.Control) *owner {
	t.Helper()
	return serve(t, t.TempDir(), attach.Options{Control: c})
}

func serve(t *testing.T, dir string, o attach.Options) *owner {
	t.Helper()
	f := &owner{t: t, dir: dir}
	var err error
	if f.store, err = store.Open(t.Context(), store.Options{Dir: dir, Keyring: seal.NoKeyring()}); err != nil {
		t.Fatal(err)
	}
	if f.host, err = host.New(host.Options{Store: f.store, CADir: filepath.Join(dir, "ca")}); err != nil {
		t.Fatal(err)
	}
	o.API, o.Store, o.Dir = f.host, f.store, dir
	if f.server, err = attach.Serve(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.end)
	return f
}

func (f *owner) end() {
	f.t.Helper()
	if f.ended {
		return
	}
	f.ended = true
	if err := errors.Join(f.server.Close(), f.host.Close(), f.store.Close()); err != nil {
		f.t.Error(err)
	}
}

// untilAnswered attaches again while the owner answered too late: the machine may be busy.
func untilAnswered[T any](attach func() (T, error)) (T, error) {
	for {
		if c, err := attach(); !errors.Is(err, event.ErrSilent) {
			return c, err
		}
	}
}

// client attaches to the owner.
func (f *owner) client() *attach.Client {
	f.t.Helper()
	c, err := untilAnswered(func() (*attach.Client, error) { return attach.Attach(f.t.Context(), f.dir) })
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			f.t.Error(err)
		}
	})
	return c
}

// odd is text that no JSON string can hold.
var odd = trust.Untrusted("\xff\xed\xa0\x80\x1b]0;x\x07<&>é")

const secret = "whsec_c2VjcmV0LXRoYXQtbXVzdC1ub3QtY3Jvc3MhISE="

func (f *owner) submit(b event.Batch) {
	f.t.Helper()
	done := make(chan error, 1)
	b.Done = func(_ event.Outcome, err error) { done <- err }
	if err := f.store.Submit(f.t.Context(), b); err != nil {
		f.t.Fatal(err)
	}
	if err := <-done; err != nil {
		f.t.Fatal(err)
	}
}

// events stores n events and returns the number of the last.
func (f *owner) events(sub event.SubID, from, n int) uint64 {
	f.t.Helper()
	b := event.Batch{Sub: sub}
	for i := range n {
		raw := []byte(`{"eventId":"` + strings.Repeat("x", i%7) + `", "data": {"n":  ` + string(rune('0'+i%10)) + "}, \"bad\":\"\xff\"}")
		at := bytes.Index(raw, []byte(`{"n"`))
		b.Records = append(b.Records, event.Record{
			Kind: event.KindEvent, Sub: sub, Server: "pager", Type: odd, Mode: event.ModePush, ReceivedAt: time.Unix(1e9, 5).UTC(),
			EventID: trust.Untrusted(strings.Repeat("i", 1) + time.Duration(from+i).String()), Cursor: event.At(trust.Untrusted("")),
			Raw: raw, Data: raw[at : bytes.IndexByte(raw, '}')+1], Flags: []string{"to-ai"},
			Labels: &event.Labels{Tags: []trust.Text{odd, {}}},
		})
	}
	f.submit(b)
	return f.store.Last()
}

// await waits until the client shows what cond wants.
func await(t *testing.T, c *attach.Client, what string, cond func() bool) {
	t.Helper()
	changed, stop := c.Changed()
	defer stop()
	late := time.After(patience)
	for !cond() {
		select {
		case <-changed:
		case <-c.Done():
			t.Fatalf("%s: %v", what, c.Err())
		case <-late:
			t.Fatal("waited in vain for ", what)
		}
	}
}

func TestRecordsAreSentByteForByte(t *testing.T) {
	f := newOwner(t, t.TempDir(), nil)
	f.events("aa", 0, 3000)
	gap := event.Record{Kind: event.KindGap, Sub: "aa", Gap: &event.Gap{Cause: event.CauseSilent, Certain: true}, ReceivedAt: time.Unix(1e9, 0).UTC()}
	f.submit(event.Batch{Sub: "aa", Records: []event.Record{gap}})
	c := f.client()
	f.events("bb", 5000, 1500) // some come while it is attached
	last := f.store.Last()
	await(t, c, "the newest record", func() bool { return c.Log().Last() == last })

	var want, got []event.Record
	read := func(log *eventlog.Log, into *[]event.Record) {
		if err := log.After(0, func(r event.Record) bool { *into = append(*into, r); return true }); err != nil {
			t.Fatal(err)
		}
	}
	read(f.host.Log(), &want)
	read(c.Log(), &got)
	same(t, got, want)
	want, got = nil, nil
	for log, into := range map[*eventlog.Log]*[]event.Record{f.host.Log(): &want, c.Log(): &got} {
		if err := log.Before(0, func(r event.Record) bool { *into = append(*into, r); return len(*into) < 2500 }); err != nil {
			t.Fatal(err)
		}
	}
	same(t, got, want)
	if r, err := c.Log().Get(7); err != nil || !bytes.Equal(r.Raw, wantRaw(t, f, 7)) || len(r.Data) == 0 || &r.Data[0] != &r.Raw[bytes.Index(r.Raw, r.Data)] {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := c.Log().Get(last + 1); !errors.Is(err, event.ErrNotFound) {
		t.Error(err)
	}
	if !c.Store().HasEvent("aa", want[len(want)-1].EventID) && !c.Store().HasEvent("bb", want[0].EventID) {
		t.Error("an event is not known")
	}
}

func wantRaw(t *testing.T, f *owner, seq uint64) []byte {
	t.Helper()
	r, err := f.store.Get(seq)
	if err != nil {
		t.Fatal(err)
	}
	return r.Raw
}

func same(t *testing.T, got, want []event.Record) {
	t.Helper()
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%d records, not %d", len(got), len(want))
	}
	for i := range want {
		g, w := got[i], want[i]
		if g.Seq != w.Seq || g.Kind != w.Kind || g.Type != w.Type || g.EventID != w.EventID || g.Cursor != w.Cursor || !g.ReceivedAt.Equal(w.ReceivedAt) ||
			!bytes.Equal(g.Raw, w.Raw) || !bytes.Equal(g.Data, w.Data) || (g.Gap == nil) != (w.Gap == nil) || (g.Labels == nil) != (w.Labels == nil) {
			t.Fatalf("record %d\n%+v\nwas\n%+v", i, g, w)
		}
	}
}

// Only the masked form of a secret is sent.
func TestSecretsAreSentMasked(t *testing.T) {
	f := newOwner(t, t.TempDir(), nil)
	key := event.Key{Server: "pager", Type: odd, Args: []byte(`{"a":"<&>"}`)}
	f.submit(event.Batch{Sub: key.ID(), Update: func(s *event.Subscription) {
		s.ID, s.Key, s.Paused, s.State = key.ID(), key, true, event.StatePaused
		s.Hook = event.Hook{Secret: event.NewSecret(secret), Previous: event.NewSecret(secret), Path: "/p"}
		s.Resume = event.NewSecret("a resume token that is secret")
	}})
	c := f.client()
	for _, sub := range append(c.Store().Subscriptions(), c.Snapshot().Subs[0].Subscription) {
		if sub.Key.ID() != key.ID() || sub.Hook.Path != "/p" {
			t.Errorf("%+v", sub)
		}
		if sub.Hook.Secret.String() != event.NewSecret(secret).String() || sub.Resume.String() != "…cret" {
			t.Errorf("shown as %v and %v", sub.Hook.Secret, sub.Resume)
		}
		for _, s := range []event.Secret{sub.Hook.Secret, sub.Hook.Previous, sub.Resume} {
			if strings.Contains(s.Reveal(), "c2VjcmV0") || strings.Contains(s.Reveal(), "resume") {
				t.Error("a secret has crossed")
			}
		}
	}
	if _, err := c.Store().Credential("x"); !errors.Is(err, attach.ErrNotHere) {
		t.Error(err)
	}
	_, err := c.Subscribe(t.Context(), host.Request{Server: "pager", Type: odd, Secret: event.NewSecret(secret)})
	if !errors.Is(err, attach.ErrNotHere) || !strings.Contains(err.Error(), "process ") {
		t.Error(err)
	}
}

// A client knows why the owner's secrets are locked.
func TestLockedSecretsOfTheOwner(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(t.Context(), store.Options{Dir: dir, Keyring: seal.NoKeyring()})
	if err == nil {
		err = errors.Join(s.Close(), os.Remove(filepath.Join(dir, seal.FileKey)))
	}
	if err != nil {
		t.Fatal(err)
	}
	f := newOwner(t, dir, nil)
	c := f.client()
	if got, want := c.Snapshot().Store.Locked, f.store.Info().Locked; !errors.Is(got, event.ErrKeyLocked) || got.Error() != want.Error() {
		t.Errorf("%v, want %v", got, want)
	}
	if _, err := c.AddressName(t.Context(), "https://host.example/mcp?token=x"); !errors.Is(err, event.ErrKeyLocked) {
		t.Errorf("a name that needs the key: %v", err)
	}
}

func TestVerbsAreDoneByTheOwner(t *testing.T) {
	f := newOwner(t, t.TempDir(), nil)
	key := event.Key{Server: "pager", Type: trust.Untrusted("x"), Args: []byte(`{}`)}
	f.submit(event.Batch{Sub: key.ID(), Update: func(s *event.Subscription) { s.ID, s.Key, s.Mode = key.ID(), key, event.ModePoll }})
	f.events(key.ID(), 0, 3)
	c := f.client()
	ctx := t.Context()

	if err := c.Pause(ctx, key.ID()); err != nil {
		t.Fatal(err)
	}
	if s := c.Snapshot().Subs[0]; !s.Paused || s.Status.State != event.StatePaused {
		t.Errorf("paused: %+v", s) // what was done is shown when the verb returns
	}
	if sub, err := f.store.Subscription(key.ID()); err != nil || !sub.Paused {
		t.Error(sub, err)
	}
	if err := c.SetMark(ctx, event.Mark{Seq: 2, Note: "look"}); err != nil || len(c.Marks()) != 1 || c.Marks()[0].Note != "look" {
		t.Error(c.Marks(), err)
	}
	if err := c.RemoveMark(ctx, 2, false); err != nil || len(c.Marks()) != 0 {
		t.Error(c.Marks(), err)
	}
	if err := c.SetSetting(ctx, host.SettingPrefix+"k", "v"); err != nil {
		t.Error(err)
	}
	if v, err := c.Setting(host.SettingPrefix + "k"); v != "v" || err != nil {
		t.Error(v, err)
	}
	if _, err := c.Setting("other"); !errors.Is(err, host.ErrSetting) {
		t.Error(err)
	}
	keep := event.Retention{Total: event.Limits{Records: 1000}}
	if err := c.Store().SetRetention(ctx, keep); err != nil || c.Store().Retention() != keep {
		t.Error(c.Store().Retention(), err)
	}
	var acts []string
	if err := c.Audit().Before(0, func(e event.AuditEntry) bool { acts = append(acts, e.Action); return true }); err != nil || len(acts) == 0 || c.Audit().Last() == 0 {
		t.Error(acts, err)
	}
	if s := c.Stats(); s.Started.IsZero() || s.Events != 3 {
		t.Errorf("%+v", s)
	}
	if err := c.Unsubscribe(ctx, "gone"); !errors.Is(err, event.ErrNotFound) || !strings.Contains(err.Error(), "subs list") {
		t.Error(err)
	}
	if err := c.Unsubscribe(ctx, key.ID()); err != nil || len(c.Snapshot().Subs) != 0 {
		t.Error(c.Snapshot().Subs, err)
	}
	if _, err := c.TestServer(ctx, event.Server{}); !errors.Is(err, attach.ErrNotHere) {
		t.Error(err)
	}
	if err := c.Store().Submit(ctx, event.Batch{}); !errors.Is(err, attach.ErrNotHere) {
		t.Error(err)
	}
	if _, err := c.Types(ctx, "nobody"); !errors.Is(err, host.ErrUnknownServer) {
		t.Error(err)
	}
}

// Servers are sent by name, without their descriptions.
func TestServersAreSentByName(t *testing.T) {
	down := event.Server{Name: "down", URL: "http://127.0.0.1:1/", Headers: map[string]event.Secret{"Authorization": event.NewSecret("Bearer 0123456789abcdef")}}
	f := newOwner(t, t.TempDir(), func(name string) (event.Server, error) {
		if name != down.Name {
			return event.Server{}, errors.New("not configured")
		}
		return down, nil
	})
	c := f.client()
	other := down
	other.URL = "http://127.0.0.1:2/"
	for s, want := range map[string]event.Server{"knows another server": other, "not configured": {Name: "strange"}} {
		c.AddServer(want)
		if _, err := c.Types(t.Context(), want.Name); !errors.Is(err, host.ErrUnknownServer) || !strings.Contains(err.Error(), s) {
			t.Errorf("%s: %v", s, err)
		}
	}
	if n := len(f.host.Snapshot().Servers); n != 0 {
		t.Fatal(n, "servers")
	}
	c.AddServer(event.Server{Name: "down", URL: down.URL})
	if _, err := c.Connected(t.Context(), "down", true); !errors.Is(err, host.ErrUnreachable) {
		t.Error(err)
	}
	if s := c.Snapshot().Servers; len(s) != 1 || s[0].Name != "down" {
		t.Errorf("%+v", s)
	}
}

// A server that is given by an address with a token has one name in all processes, and no client
// can give the name to another address.
func TestAddressesAreNamedByTheOwner(t *testing.T) {
	const address = "http://127.0.0.1:1/mcp?token=t0psecret"
	f := newOwner(t, t.TempDir(), func(address string) (event.Server, error) {
		return event.Server{Name: address, URL: address, AdHoc: true}, nil
	})
	c := f.client()
	name, err := c.AddressName(t.Context(), address)
	if own, ownErr := host.AddressName(t.Context(), f.store, address); err != nil || ownErr != nil || name != own || !event.IsAddressName(name) {
		t.Fatalf("here the name is %s, %v; there %s, %v", name, err, own, ownErr)
	}
	c.AddServer(event.Server{Name: name, URL: address, AdHoc: true})
	await(t, c, "the server", func() bool { return len(c.Snapshot().Servers) == 1 })
	if v := c.Snapshot().Servers[0]; v.Name != name || strings.Contains(v.Address, "t0psecret") {
		t.Errorf("it is %s at %s", v.Name, v.Address)
	}
	c.AddServer(event.Server{Name: name, URL: address + "2", AdHoc: true})
	if _, err := c.Types(t.Context(), name); !errors.Is(err, host.ErrUnknownServer) {
		t.Errorf("another address under the name: %v", err)
	}
}

func TestOneProcessKeepsThePrintedPosition(t *testing.T) {
	f := newOwner(t, t.TempDir(), nil)
	f.submit(event.Batch{Sub: "aa", Update: func(s *event.Subscription) { s.ID = "aa" }})
	one, two := f.client(), f.client()
	if err := one.Printed(t.Context(), "aa", 5); err != nil {
		t.Fatal(err)
	}
	if err := two.Printed(t.Context(), "aa", 9); !errors.Is(err, attach.ErrPrints) {
		t.Error(err)
	}
	if f.server.Claim("aa") || !f.server.Claim("bb") {
		t.Error("this process does not stand back, or cannot begin")
	}
	if err := two.Printed(t.Context(), "bb", 1); !errors.Is(err, attach.ErrPrints) {
		t.Error(err)
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	await(t, two, "the other one's end", func() bool { return two.Printed(t.Context(), "aa", 7) == nil || poke(f) })
	if sub, err := f.store.Subscription("aa"); err != nil || sub.Printed != 7 {
		t.Error(sub.Printed, err)
	}
}

// poke causes a change of the state, for tests that wait for something that causes none.
func poke(f *owner) bool { f.events("poke", time.Now().Nanosecond(), 1); return false }

func TestBackupWhileInUse(t *testing.T) {
	f := newOwner(t, t.TempDir(), nil)
	f.events("aa", 0, 10)
	c := f.client()
	file := filepath.Join(t.TempDir(), "state.db")
	if n, err := c.Backup(t.Context(), file); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if _, err := c.Backup(t.Context(), "relative"); !errors.Is(err, attach.ErrNotHere) {
		t.Error(err)
	}
}

// slowToEnd is a host that reports the end of a subscription before Unsubscribe returns.
type slowToEnd struct {
	host.API
	ended   chan struct{}
	proceed chan struct{}
}

func (h slowToEnd) Unsubscribe(ctx context.Context, _ event.SubID) error {
	close(h.ended)
	<-h.proceed
	return ctx.Err()
}

// A change that makes the owner end, such as removing the subscription of a tail, is finished and
// answered.
func TestChangeThatEndsTheServerIsAnswered(t *testing.T) {
	f := newOwner(t, t.TempDir(), nil)
	if err := f.server.Close(); err != nil {
		t.Fatal(err)
	}
	slow := slowToEnd{API: f.host, ended: make(chan struct{}), proceed: make(chan struct{})}
	var err error
	if f.server, err = attach.Serve(attach.Options{API: slow, Store: f.store, Dir: f.dir}); err != nil {
		t.Fatal(err)
	}
	c := f.client()
	answer := make(chan error, 1)
	go func() { answer <- c.Unsubscribe(t.Context(), "aa") }()
	<-slow.ended
	closed := make(chan error, 1)
	go func() { closed <- f.server.Close() }()
	for attachable(t, f.dir) { // the server takes no more clients
		runtime.Gosched()
	}
	close(slow.proceed)
	if err := errors.Join(<-answer, <-closed); err != nil {
		t.Error(err)
	}
}

// attachable reports whether another process could attach.
func attachable(t *testing.T, dir string) bool {
	c, err := attach.Attach(t.Context(), dir)
	return err == nil && c.Close() == nil
}
