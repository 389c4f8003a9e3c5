package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/react"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/feed"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/widget"
)

// newsMsg: the host was read.
type newsMsg struct {
	feed.News
	react   react.View // of the reactions, as they were read with it
	woken   time.Time  // when the flag was seen; zero: it was not waited for
	awaited bool       // the flag is waited for again
}

// pageMsg: more rows of the log were read.
type pageMsg feed.Page

// Do runs fn in the background. It ends with the program, which waits for it.
func (a *app) Do(fn func(ctx context.Context) tea.Msg) tea.Cmd { return a.schedule.Do(fn) }

// awaitChange has the host read when it has changed.
func (a *app) awaitChange() tea.Cmd {
	a.aim()
	return a.schedule.AwaitChange(func(ctx context.Context, woken time.Time) tea.Msg {
		return newsMsg{a.feed.Latest(ctx), a.react.Read(), woken, true}
	})
}

// age asks to be told when the evidence has grown older, unless there is nothing that ages.
func (a *app) age() tea.Cmd {
	if len(a.snap.Servers) == 0 && len(a.snap.Subs) == 0 && !a.react.On() && !a.edges.Status.Ages() {
		return nil
	}
	return a.schedule.Tick()
}

// turnSign asks to be told when the sign of work turns, while work is shown that the operator
// waits for.
func (a *app) turnSign() tea.Cmd {
	w, ok := a.dialog.(widget.Worker)
	if a.outside.Exports.Writing() || ok && w.Busy() {
		return a.schedule.Spin(cells.TurnEvery)
	}
	return nil
}

// read has the host read now.
func (a *app) read() tea.Cmd { return a.readOn(false) }

func (a *app) readOn(awaited bool) tea.Cmd {
	a.aim()
	return a.Do(func(ctx context.Context) tea.Msg {
		return newsMsg{a.feed.Latest(ctx), a.react.Read(), time.Time{}, awaited}
	})
}

// aim says which arrivals are read next.
func (a *app) aim() {
	if a.stream.Two {
		a.feed.Aim(a.stream.Arrivals(), a.stream.Other.Arrivals())
		return
	}
	a.feed.Aim(a.stream.Arrivals())
}

// fetch has the rows and records read that the streams want and do not hold.
func (a *app) fetch() tea.Cmd {
	if a.stream.Two {
		return tea.Batch(a.fetchFor(&a.stream.Stream), a.fetchFor(&a.stream.Other))
	}
	return a.fetchFor(&a.stream.Stream)
}

func (a *app) fetchFor(s *stream.Stream) tea.Cmd {
	var cmds []tea.Cmd
	log := a.o.API.Log()
	for r, ok := s.Next(); ok; r, ok = s.Next() {
		ctx := a.schedule.Context()
		if r.Kind != feed.Records {
			ctx, s.Stop = context.WithCancel(a.schedule.Context())
		}
		cmds = append(cmds, a.Do(func(context.Context) tea.Msg { return pageMsg(feed.Answer(ctx, log, r)) }))
	}
	return tea.Batch(cmds...)
}

// fetched takes rows and records that were asked for.
func (a *app) fetched(p feed.Page) tea.Cmd {
	again := a.stream.Take(p)
	if s := a.stream.Asked(&p.Request); p.Err != nil && s != nil && p.Gen == s.Gen {
		s.Oldest = true
		a.Fail("cannot read the log", p.Err)
	}
	a.search.Landed()
	a.filters.Count()
	if again {
		return a.read()
	}
	return nil
}

// arrived takes what the host has. It reports whether there is more to read.
func (a *app) arrived(n feed.News) (more bool) {
	a.stream.Marks.Load(n.Marks, n.Marked)
	a.take(n.Snap)
	for _, p := range n.Pages {
		if p.Err != nil {
			a.Fail("cannot read the log", p.Err)
		}
		more = a.stream.Take(p) && p.Err == nil || more
	}
	return more
}

// tellOwner tells that another process has the store than before.
func (a *app) tellOwner(snap *host.Snapshot) {
	before, now := a.snap.Store.Holder, snap.Store.Holder
	switch {
	case a.snap.Version == 0 || before == now:
	case now == 0:
		a.Tell(fmt.Sprintf("process %d has ended; this one has the store now and goes on", before))
	default:
		a.Tell(fmt.Sprintf("process %d has ended; attached to process %d now", before, now))
	}
}

// take takes a snapshot.
func (a *app) take(snap host.Snapshot) {
	a.tellOwner(&snap)
	a.snap = snap
	a.forgetPicks()
	a.edges.Status.Trouble.Take(a.o.API.AppLog())
	a.stream.Measure(&a.snap)
	a.listItems()
	scope := a.tree.At
	a.tree.Load(&a.snap)
	if scope.Server != "" && a.tree.At == (query.Node{}) { // its server is gone
		a.rescope()
	}
	if a.toWanted() {
		a.rescope()
	}
}
