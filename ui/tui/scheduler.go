package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Intervals between frames. The first change after a quiet time is shown at once. During steady
// changes the host is read once per interval, right after a commit, so that the newest record is
// shown. Each frame costs the renderer 2 ms of CPU.
const (
	StreamFrame = 33 * time.Millisecond
	KeysFrame   = 16 * time.Millisecond  // while keys are pressed
	CommitDue   = 5 * time.Millisecond   // how long to wait for the next commit during steady changes
	keysRest    = 500 * time.Millisecond // how long after a key press KeysFrame applies
	awayFrame   = 200 * time.Millisecond // without the focus
	tickEvery   = time.Second            // between redraws of ages and other relative times
	awayTick    = 5 * time.Second        // the same without the focus
)

// TickMsg is sent by [Scheduler.Tick]: relative times have to be drawn again.
type TickMsg struct{}

// SpinMsg is sent by [Scheduler.Spin]: a spinner shows its next frame.
type SpinMsg struct{}

// Scheduler decides when the host is read and when the screen redraws without a change. Its
// methods and fields are for the event loop only, those of [Jobs] for every goroutine.
type Scheduler struct {
	*Jobs
	// Changed is a flag that the host sets, not a queue: one signal stands for every change
	// before it. Nil: changes are not waited for.
	Changed  <-chan struct{}
	Slow     bool // over SSH: key presses do not shorten the interval
	Focused  bool // the terminal has the focus
	lastRead time.Time
	lastKey  time.Time
	ticking  bool // a [TickMsg] is due
	spinning bool // a [SpinMsg] is due
}

// HostRead notes when the host was read after a change: the next interval begins then.
func (s *Scheduler) HostRead(at time.Time) { s.lastRead = at }

// KeyPressed notes a key press.
func (s *Scheduler) KeyPressed() { s.lastKey = time.Now() }

// AwaitChange returns a command that waits for a change of the host, then for the rest of the
// interval, and sends the message that read returns. It calls read in the background, with the time
// of the call for [Scheduler.HostRead].
func (s *Scheduler) AwaitChange(read func(ctx context.Context, now time.Time) tea.Msg) tea.Cmd {
	if s.Changed == nil {
		return nil
	}
	every := StreamFrame
	switch {
	case !s.Focused:
		every = awayFrame
	case !s.Slow && time.Since(s.lastKey) < keysRest:
		every = KeysFrame
	}
	last, changed := s.lastRead, s.Changed
	return s.Do(func(ctx context.Context) tea.Msg {
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
			awaitCommit(ctx, changed)
		}
		return read(ctx, time.Now())
	})
}

// awaitCommit waits up to [CommitDue] for another change, which includes all before it.
func awaitCommit(ctx context.Context, changed <-chan struct{}) {
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

// Tick returns a command that sends the next [TickMsg], nil if one is already due. Without the
// focus the interval is longer, but ticks go on: the screen may still be visible.
func (s *Scheduler) Tick() tea.Cmd {
	every := tickEvery
	if !s.Focused {
		every = awayTick
	}
	return s.once(&s.ticking, every, TickMsg{})
}

// Ticked notes that [TickMsg] arrived.
func (s *Scheduler) Ticked() { s.ticking = false }

// Spin returns a command that sends [SpinMsg] after a time, nil if one is already due. Each costs a
// frame, so it is only for work that the operator waits for.
func (s *Scheduler) Spin(after time.Duration) tea.Cmd { return s.once(&s.spinning, after, SpinMsg{}) }

// Spun notes that [SpinMsg] arrived.
func (s *Scheduler) Spun() { s.spinning = false }

func (s *Scheduler) once(due *bool, after time.Duration, msg tea.Msg) tea.Cmd {
	if *due {
		return nil
	}
	*due = true
	return s.After(after, msg)
}
