package tui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
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
)

// framesPerSecond is how often the renderer looks for a new frame: the most that
// Bubble Tea takes. It waits half of the time between two looks.
const framesPerSecond = 120

// wakeMsg: the log or the snapshot changed.
type wakeMsg struct{ at time.Time }

// ageMsg: a second went by.
type ageMsg struct{}

// pageMsg: more rows of the log were read.
type pageMsg stream.Page

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
		return wakeMsg{time.Now()}
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
// already, nobody looks, or there is nothing that ages.
func (a *app) age() tea.Cmd {
	if a.aging || !a.focused || len(a.snap.Servers) == 0 && len(a.snap.Subs) == 0 {
		return nil
	}
	a.aging = true
	return a.Do(func(ctx context.Context) tea.Msg {
		t := time.NewTimer(ageEvery)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			return ageMsg{}
		}
	})
}

// fetch reads rows that the stream wants but does not hold.
func (a *app) fetch() tea.Cmd {
	older, newer := a.stream.Wants()
	if !older && !newer {
		return nil
	}
	s := &a.stream
	s.Fetching = true
	log, q, gen, from, seen := a.api.Log(), s.Query, s.Gen, s.From, s.Seen
	if older {
		ctx, stop := context.WithCancel(a.ctx)
		s.Stop = stop
		return a.Do(func(context.Context) tea.Msg { return pageMsg(stream.SearchOlder(ctx, log, q, gen, from)) })
	}
	return a.Do(func(context.Context) tea.Msg {
		return pageMsg(stream.ReadNewer(log, q, gen, seen, stream.PageScan, stream.PageRows))
	})
}

// catchUp takes the newest snapshot and what the log has got.
func (a *app) catchUp() (more bool) {
	a.take(a.api.Snapshot())
	more, err := a.stream.Arrive(a.api.Log())
	if err != nil {
		a.Fail("cannot read the log", err)
	}
	return more
}

func (a *app) take(snap host.Snapshot) {
	if snap.Last > a.snap.Last && a.snap.Version > 0 {
		a.stored = a.Clock()
	}
	a.snap = snap
	a.forgetPicks()
	a.trouble.take(a.api.AppLog())
	a.stream.Marks.Load(a.api.Marks())
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
