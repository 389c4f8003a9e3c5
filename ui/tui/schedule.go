package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/react"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// newsMsg has the result of reading the host.
type newsMsg struct {
	query.News
	react   react.View // the reactions, read at the same time
	woken   time.Time  // when the host was read after a change; zero: there was no change
	awaited bool       // wait for the next change afterwards
}

// pageMsg has requested rows or records.
type pageMsg query.Page

// awaitChange returns a command that reads the host once it has changed.
func (a *app) awaitChange() tea.Cmd {
	a.aim()
	return a.Scheduler.AwaitChange(func(ctx context.Context, woken time.Time) tea.Msg {
		return newsMsg{a.feed.Latest(ctx), a.react.Read(), woken, true}
	})
}

// age returns a command that draws ages and other relative times again after an interval, nil if
// none are shown.
func (a *app) age() tea.Cmd {
	if len(a.snap.Servers) == 0 && len(a.snap.Subs) == 0 && !a.react.On() && !a.Edges.Status.Ages() {
		return nil
	}
	return a.Scheduler.Tick()
}

// turnSign returns a command that turns the spinner of a busy dialog or an export, nil if there is
// none.
func (a *app) turnSign() tea.Cmd {
	w, ok := a.dialog.(widget.Worker)
	if a.Outside.Exports.Writing() || ok && w.Busy() {
		return a.Scheduler.Spin(cells.TurnEvery)
	}
	return nil
}

// Read returns a command that reads the host now.
func (a *app) Read() tea.Cmd { return a.readOn(false) }

func (a *app) readOn(awaited bool) tea.Cmd {
	a.aim()
	return a.Do(func(ctx context.Context) tea.Msg {
		return newsMsg{a.feed.Latest(ctx), a.react.Read(), time.Time{}, awaited}
	})
}

// aim sets which arrivals are read next.
func (a *app) aim() {
	a.feed.SetRequests(a.stream.AllArrivals()...)
}

// fetch returns commands that read the missing rows and records of the streams.
func (a *app) fetch() tea.Cmd {
	var cmds []tea.Cmd
	log := a.o.API.Log()
	for _, s := range a.stream.Shown() {
		for r, ok := s.Next(); ok; r, ok = s.Next() {
			ctx := a.Context()
			if r.Kind != query.Records {
				ctx, s.Stop = context.WithCancel(ctx)
			}
			cmds = append(cmds, a.Do(func(context.Context) tea.Msg { return pageMsg(query.Answer(ctx, log, r)) }))
		}
	}
	return tea.Batch(cmds...)
}

// fetched stores requested rows and records.
func (a *app) fetched(p query.Page) tea.Cmd {
	again := a.stream.Take(p)
	if s := a.stream.Requester(&p.Request); p.Err != nil && s != nil && p.Gen == s.Gen {
		s.Oldest = true
		a.Fail("cannot read the log", p.Err)
	}
	a.search.Landed()
	a.filters.Count()
	if again {
		return a.Read()
	}
	return nil
}

// arrived stores the result of reading the host, and reports whether there is more to read.
func (a *app) arrived(n query.News) (more bool) {
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

// tellOwner says when the store has passed to another process.
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

// take stores a snapshot of the host.
func (a *app) take(snap host.Snapshot) {
	a.tellOwner(&snap)
	a.snap = snap
	a.Edges.Status.Trouble.Take(a.o.API.AppLog())
	a.stream.Measure(&a.snap)
	a.listItems()
	scope := a.tree.At
	a.tree.Load(&a.snap)
	if scope.Server != "" && a.tree.At == (query.Node{}) { // its server is gone
		a.rescope()
	}
	if a.chooseWanted() {
		a.rescope()
	}
}
