package wake

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Frames. The first change after quiet shows at once; while changes go on, the
// screen is told of them once in an interval, and then right after a commit: what
// is shown is the newest there is. Each frame costs the renderer 2 ms of CPU, so
// that their number is what counts.
const (
	StreamFrame = 33 * time.Millisecond
	KeysFrame   = 16 * time.Millisecond  // while keys are pressed
	CommitDue   = 5 * time.Millisecond   // while changes go on, the next commit comes within
	keysRest    = 500 * time.Millisecond // after the last key they are not
	awayFrame   = 200 * time.Millisecond // while the operator looks elsewhere
	ageEvery    = time.Second            // evidence grows older
	awayAge     = 5 * time.Second        // while the operator looks elsewhere
)

// FramesPerSecond is how often the renderer looks for a new frame: the most that
// Bubble Tea takes. It waits half of the time between two looks.
const FramesPerSecond = 120

// TurnMsg is a message: the sign of work that goes on turns.
type TurnMsg struct{}

// AgeMsg is a message: what is shown has grown older.
type AgeMsg struct{}

// Clock says when the screen looks again. It belongs to the event loop.
type Clock struct {
	*Jobs
	// Changed is a flag of the host, not a queue: after one wake all that is new is read.
	// Nil: the host is not waited for.
	Changed <-chan struct{}
	Slow    bool      // the screen is over SSH: keys get no frames of their own
	Focused bool      // the operator looks at the screen, as far as the terminal tells
	Backed  time.Time // when the key of quitting last led back
	Leaving bool      // the operator was asked about the end, or it has begun: asking again ends at once
	Beating bool      // a beat of the guard over approvals is on its way
	woken   time.Time
	pressed time.Time // the last key
	aging   bool
	turning bool
}

// Woken takes when the flag was seen.
func (c *Clock) Woken(at time.Time) { c.woken = at }

// Pressed takes that a key was pressed.
func (c *Clock) Pressed() { c.pressed = time.Now() }

// Await waits for the flag, then for the rest of the interval; read is called beside the
// event loop with the time at which that was over.
func (c *Clock) Await(read func(ctx context.Context, woken time.Time) tea.Msg) tea.Cmd {
	if c.Changed == nil {
		return nil
	}
	every := StreamFrame
	switch {
	case !c.Focused:
		every = awayFrame
	case !c.Slow && time.Since(c.pressed) < keysRest:
		every = KeysFrame
	}
	last, changed := c.woken, c.Changed
	return c.Do(func(ctx context.Context) tea.Msg {
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-changed:
			if !ok {
				return nil
			}
		}
		if rest := every - time.Since(last); rest > 0 {
			if !pause(ctx, rest) {
				return nil
			}
			awaitNext(ctx, changed)
		}
		return read(ctx, time.Now())
	})
}

// awaitNext waits a moment for the next change, which tells of all before it.
func awaitNext(ctx context.Context, changed <-chan struct{}) {
	select {
	case <-changed:
	default:
	}
	t := time.NewTimer(CommitDue)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-changed:
	case <-t.C:
	}
}

// Age sends [AgeMsg] when what is shown has grown older, unless that is asked already. A
// screen without the focus may be looked at all the same: on a wall, or beside another
// window.
func (c *Clock) Age() tea.Cmd {
	if c.aging {
		return nil
	}
	c.aging = true
	if !c.Focused {
		return c.After(awayAge, AgeMsg{})
	}
	return c.After(ageEvery, AgeMsg{})
}

// Aged takes that [AgeMsg] came.
func (c *Clock) Aged() { c.aging = false }

// Turn sends [TurnMsg] after a while, when the sign of work turns, unless that is asked
// already. It costs a frame each time, so it is asked only while the operator waits for the
// work.
func (c *Clock) Turn(after time.Duration) tea.Cmd {
	if c.turning {
		return nil
	}
	c.turning = true
	return c.After(after, TurnMsg{})
}

// Turned takes that [TurnMsg] came.
func (c *Clock) Turned() { c.turning = false }
