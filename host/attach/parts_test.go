package attach

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
)

// crowd is a host of n subscriptions. It never says that it changed, so that a client is sent
// only what it asks for after its own changes.
type crowd struct {
	host.API
	snap host.Snapshot
	log  *eventlog.Ring[host.LogLine]
}

func newCrowd(n int) *crowd {
	c := &crowd{log: eventlog.NewRing[host.LogLine](1, 1)}
	for i := range n {
		c.snap.Subs = append(c.snap.Subs, subView(event.SubID(fmt.Sprintf("s%05d", i)), i))
	}
	c.snap.Version = 1
	return c
}

func subView(id event.SubID, at int) host.SubscriptionView {
	return host.SubscriptionView{Subscription: event.Subscription{ID: id, Created: time.Unix(int64(at), 0).UTC()}}
}

func (c *crowd) Snapshot() host.Snapshot                   { return c.snap }
func (c *crowd) SnapshotOf(id event.SubID) host.Snapshot   { return c.snap.Of(id) }
func (c *crowd) Changed() (<-chan struct{}, func())        { return nil, func() {} }
func (c *crowd) Marks() []event.Mark                       { return nil }
func (c *crowd) Audit() *eventlog.Audit                    { return eventlog.NewAudit(noAudit{}) }
func (c *crowd) AppLog() *eventlog.Ring[host.LogLine]      { return c.log }
func (c *crowd) Pause(context.Context, event.SubID) error  { c.snap.Version++; return nil }
func (c *crowd) SetMark(context.Context, event.Mark) error { c.snap.Version++; return nil }

type noAudit struct{ event.Store }

func (noAudit) AuditLast() uint64 { return 0 }

// countingConn counts the bytes that are read.
type countingConn struct {
	net.Conn
	read *atomic.Int64
}

func (c countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// What is sent after a change does not grow with the number of subscriptions.
func TestChangesCostTheSameWithManySubscriptions(t *testing.T) {
	read := func(n int, change func(*Client) error) int64 {
		dir := t.TempDir()
		s, err := Serve(Options{API: newCrowd(n), Dir: dir})
		must(t, err)
		defer func() { must(t, s.Close()) }()
		var read atomic.Int64
		dial := func(ctx context.Context) (net.Conn, error) {
			conn, err := dialSocket(dir)(ctx)
			return countingConn{conn, &read}, err
		}
		c, err := attach(t.Context(), dir, dial, false, time.Hour, time.Hour)
		must(t, err)
		defer func() { must(t, c.Close()) }()
		if got := len(c.Snapshot().Subs); got != n {
			t.Fatalf("%d subscriptions of %d", got, n)
		}
		before := read.Load()
		must(t, change(c))
		return read.Load() - before
	}
	for what, change := range map[string]func(*Client) error{
		"a subscription": func(c *Client) error { return c.Pause(t.Context(), "s00001") },
		"a mark":         func(c *Client) error { return c.SetMark(t.Context(), event.Mark{Seq: 1}) },
	} {
		few, many := read(2, change), read(1000, change)
		if few == 0 || many > few+few/10 {
			t.Errorf("%s: %d bytes among 1,000 subscriptions, %d among 2", what, many, few)
		}
	}
}

// A change that was shown stays shown when an older full state arrives after it.
func TestOlderStateDoesNotHideAChange(t *testing.T) {
	c := newClient(t.TempDir(), nil)
	c.session.Store(&clientSession{})
	ids := func() (out []event.SubID) {
		for _, v := range c.Snapshot().Subs {
			out = append(out, v.ID)
		}
		return out
	}
	full := func(version uint64, ids ...event.SubID) {
		s := state{Snapshot: host.Snapshot{Version: version, Last: version}}
		for _, id := range ids {
			s.Snapshot.Subs = append(s.Snapshot.Subs, subView(id, int(id[0])))
		}
		c.keep(s)
	}
	part := func(version uint64, id event.SubID, views ...host.SubscriptionView) {
		c.keepPart(id, state{Part: true, Snapshot: host.Snapshot{Version: version, Last: version, Subs: views}})
	}
	full(3, "a", "c")
	held := c.Snapshot()
	part(5, "b", subView("b", 'b'))
	part(5, "c")
	c.keepPart("", state{Part: true, Snapshot: host.Snapshot{Version: 5}, Marks: []event.Mark{{Seq: 9}}})
	want := []event.SubID{"a", "b"}
	if got := ids(); !slices.Equal(got, want) || c.Snapshot().Version <= held.Version || c.Snapshot().Last != 5 {
		t.Errorf("after the changes: %v, %+v", got, c.Snapshot())
	}
	if len(held.Subs) != 2 || held.Subs[1].ID != "c" {
		t.Error("a snapshot that a reader holds was changed")
	}
	part(4, "b") // an answer that was overtaken
	shown := c.Snapshot().Version
	full(4, "a", "c")
	if got := ids(); !slices.Equal(got, want) || len(c.Marks()) != 1 || c.Snapshot().Version <= shown {
		t.Errorf("after an older state: %v, %v", got, c.Marks())
	}
	c.markSilent(event.ErrSilent)
	for _, v := range c.Snapshot().Subs {
		if v.Status.State != event.StateStale {
			t.Errorf("%s is %q while the owner is silent", v.ID, v.Status.State)
		}
	}
	full(6, "a", "c", "d")
	if got := ids(); !slices.Equal(got, []event.SubID{"a", "c", "d"}) || len(c.Marks()) != 0 || len(c.newer.subs) != 0 {
		t.Errorf("after a newer state: %v, %v, %v", got, c.Marks(), c.newer.subs)
	}
}

// The pause between two states counts what it costs the owner to encode them.
func TestTookCountsTheEncoding(t *testing.T) {
	e := &session{server: newServer(Options{API: newCrowd(1)}, nil)}
	e.encoding.Store(int64(time.Hour))
	s, err := answerState(t.Context(), e, stateRequest{})
	if must(t, err); s.Took < time.Hour {
		t.Error(s.Took)
	}
}
