package tui

import (
	"context"
	"fmt"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/ui/tui/feed"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
)

// Frames. The first change after quiet shows at once; while changes go on, the
// screen is told of them once in an interval, and then right after a commit: what
// is shown is the newest there is. Each frame costs the renderer 2 ms of CPU, so
// that their number is what counts. Changed is a flag, not a queue: whoever is woken
// reads the log again.
const (
	streamFrame = 33 * time.Millisecond
	keysFrame   = 16 * time.Millisecond  // while keys are pressed
	keysRest    = 500 * time.Millisecond // after the last key they are not
	commitDue   = 5 * time.Millisecond   // while changes go on, the next commit comes within
	awayFrame   = 200 * time.Millisecond // while the operator looks elsewhere
	ageEvery    = time.Second            // evidence grows older
	awayAge     = 5 * time.Second        // while the operator looks elsewhere
)

// framesPerSecond is how often the renderer looks for a new frame: the most that
// Bubble Tea takes. It waits half of the time between two looks.
const framesPerSecond = 120

// newsMsg: the host was read.
type newsMsg struct {
	feed.News
	woken   time.Time // when the flag was seen; zero: nobody waited for it
	awaited bool      // the flag is waited for again
}

// ageMsg: a second went by.
type ageMsg struct{}

// pageMsg: more rows of the log were read.
type pageMsg feed.Page

// Do runs fn beside the program. It ends with the program, which waits for it.
func (a *app) Do(fn func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		if !a.work.begin() {
			return nil
		}
		defer a.work.end()
		return fn(a.ctx)
	}
}

// jobs counts what runs beside the program.
type jobs struct {
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

func (j *jobs) begin() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.closed {
		j.wg.Add(1)
	}
	return !j.closed
}

func (j *jobs) end() { j.wg.Done() }

// wait lets nothing begin any more and waits for what runs.
func (j *jobs) wait() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.wg.Wait()
}

// awaitChange waits for the flag, then for the rest of the interval.
func (a *app) awaitChange() tea.Cmd {
	if a.changed == nil {
		return nil
	}
	every := streamFrame
	switch {
	case !a.focused:
		every = awayFrame
	case !a.slow && time.Since(a.pressed) < keysRest:
		every = keysFrame
	}
	last := a.woken
	a.feed.Aim(a.stream.Arrivals())
	return a.Do(func(ctx context.Context) tea.Msg {
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-a.changed:
			if !ok {
				return nil
			}
		}
		if rest := every - time.Since(last); rest > 0 {
			if !pause(ctx, rest) {
				return nil
			}
			a.awaitNext(ctx)
		}
		woken := time.Now()
		return newsMsg{a.feed.Read(ctx), woken, true}
	})
}

// awaitNext waits a moment for the next change, which tells of all before it.
func (a *app) awaitNext(ctx context.Context) {
	select {
	case <-a.changed:
	default:
	}
	t := time.NewTimer(commitDue)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-a.changed:
	case <-t.C:
	}
}

// age asks to be told when the evidence has grown older, unless that is asked
// already or there is nothing that ages. A screen without the focus may be looked at
// all the same: on a wall, or beside another window.
func (a *app) age() tea.Cmd {
	if a.aging || len(a.snap.Servers) == 0 && len(a.snap.Subs) == 0 && a.note.text == "" && !a.undo.open() {
		return nil
	}
	a.aging = true
	every := ageEvery
	if !a.focused {
		every = awayAge
	}
	return a.Do(func(ctx context.Context) tea.Msg {
		t := time.NewTimer(every)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			return ageMsg{}
		}
	})
}

// read has the host read now.
func (a *app) read() tea.Cmd { return a.readOn(false) }

func (a *app) readOn(awaited bool) tea.Cmd {
	a.feed.Aim(a.stream.Arrivals())
	return a.Do(func(ctx context.Context) tea.Msg { return newsMsg{a.feed.Read(ctx), time.Time{}, awaited} })
}

// fetch has the rows and records read that the stream wants and does not hold.
func (a *app) fetch() tea.Cmd {
	var cmds []tea.Cmd
	log := a.api.Log()
	for r, ok := a.stream.Next(); ok; r, ok = a.stream.Next() {
		ctx := a.ctx
		if r.Kind != feed.Records {
			ctx, a.stream.Stop = context.WithCancel(a.ctx)
		}
		cmds = append(cmds, a.Do(func(context.Context) tea.Msg { return pageMsg(feed.Read(ctx, log, r)) }))
	}
	return tea.Batch(cmds...)
}

// fetched takes rows and records that were asked for.
func (a *app) fetched(p feed.Page) tea.Cmd {
	again := a.stream.Take(p)
	if p.Err != nil && p.Gen == a.stream.Gen {
		a.stream.Oldest = true
		a.Fail("cannot read the log", p.Err)
	}
	a.landed()
	a.filters.Count()
	if again {
		return a.read()
	}
	return nil
}

// arrived takes what the host has. It reports whether there is more to read.
func (a *app) arrived(n feed.News) (more bool) {
	a.stream.Marks.Load(n.Marks)
	a.markedRecords = n.Marked
	a.take(n.Snap)
	if n.Page.Err != nil {
		a.Fail("cannot read the log", n.Page.Err)
	}
	return a.stream.Take(n.Page) && n.Page.Err == nil
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
	a.trouble.take(a.api.AppLog())
	a.stream.Widest = stream.Measure(&a.snap)
	a.listItems()
	scope := a.tree.At
	a.tree.Load(&a.snap)
	if scope.Server != "" && a.tree.At == (query.Node{}) { // its server is gone
		a.rescope()
	}
	a.want()
}

// pause waits for d; it reports whether it has, and not ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
