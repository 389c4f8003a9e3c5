package tui

import (
	"fmt"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
)

// vast is a store of a million events that are generated when they are read.
type vast struct {
	fakeStore
	sub  event.SubID
	made map[uint64]event.Record // as the log keeps the newest ones in memory
}

const vastEvents = 1_000_000

func (s *vast) Last() uint64 { return vastEvents }

func (s *vast) Get(seq uint64) (event.Record, error) {
	if seq == 0 || seq > vastEvents {
		return event.Record{}, event.ErrNotFound
	}
	if r, ok := s.made[seq]; ok {
		return r, nil
	}
	typ := trust.Untrusted("incident.created")
	data := fmt.Appendf(nil, `{"title":"event number %d of the incident","severity":"P%d","host":{"name":"db-%d"}}`, seq, seq%4, seq%9)
	r := event.Record{Seq: seq, Kind: event.KindEvent, Server: "pager", Type: typ, Mode: event.ModePush, ReceivedAt: start, Raw: data, Data: data,
		Sub: s.sub}
	s.made[seq] = r
	return r, nil
}

func (s *vast) Forward(seq uint64, fn func(event.Record) bool) error {
	for ; seq <= vastEvents; seq++ {
		if r, err := s.Get(seq); err != nil || !fn(r) {
			return nil
		}
	}
	return nil
}

func (s *vast) Backward(seq uint64, fn func(event.Record) bool) error {
	for ; seq > 0; seq-- {
		if r, err := s.Get(seq); err != nil || !fn(r) {
			return nil
		}
	}
	return nil
}

// overAMillion returns a screen of 200 by 50 cells on a million stored events.
func overAMillion(tb testing.TB) *app {
	h := incident()
	s := &vast{fakeStore{logs: h.store.logs}, h.snap.Subs[0].ID, map[uint64]event.Record{}}
	h.log = eventlog.New(s)
	a := open(tb, h, 200, 50)
	a.snap.Last = vastEvents
	a.draw()
	return a
}

// scrolled draws while the choice moves through the stream.
func scrolled(b *testing.B, a *app, draw func()) {
	a.stream.Follow = false
	flush(a)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		a.stream.By(-1 + 2*(i/100%2))
		draw()
	}
}

// BenchmarkViewOverAMillion draws while the choice moves through the stream.
func BenchmarkViewOverAMillion(b *testing.B) {
	a := overAMillion(b)
	scrolled(b, a, func() { a.View() })
}

// BenchmarkTables draws the tables of subscriptions and of the wire.
func BenchmarkTables(b *testing.B) {
	for name, keys := range map[string][]string{"subs": {"4"}, "wire": {"5", "]"}, "gaps": {"4", "]"}} {
		b.Run(name, func(b *testing.B) {
			h := incident()
			for i := range 200 {
				h.subscribe("pager", fmt.Sprintf("type.number%d", i), event.ModePush, "{}")
			}
			a := open(b, h, 200, 50)
			a.draw()
			press(b, a, keys...)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				a.table().By(-1 + 2*(i/100%2))
				a.View()
			}
		})
	}
}

// TestViewIsCheap bounds the allocations of a frame in which nothing is new.
func TestViewIsCheap(t *testing.T) {
	a := overAMillion(t)
	a.stream.Follow = false
	flush(a)
	a.View()
	i := 0
	if n := testing.AllocsPerRun(200, func() {
		a.stream.By(-1 + 2*(i/20%2))
		i++
		a.View()
	}); n > 100 {
		t.Errorf("%.0f allocations a view, want at most 100", n)
	}
}
