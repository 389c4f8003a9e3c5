package delivery

import (
	"context"
	"fmt"
	"time"

	"eventdeck/host/event"
)

// errPlanned ends a subscription at the end that was planned.
var errPlanned = fmt.Errorf("%w: it ended as planned", ErrStopped)

// endGrace is how long a subscription goes on after its planned end: for events on their way,
// clocks that differ, and the server's own notification of the end.
const endGrace = 10 * time.Second

// planned is the planned end of a run. The lock of the runner protects it.
type planned struct {
	at    time.Time // zero: never
	end   func()    // ends the run; nil: it does not run
	timer *time.Timer
}

// SetEnd sets when the subscription ends; zero: never.
func (r *Runner) SetEnd(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.planned.at = at
	r.awaitEnd()
}

// awaitEnd sets the timer of the planned end. The lock is held.
func (r *Runner) awaitEnd() {
	p := &r.planned
	if p.timer != nil {
		p.timer.Stop()
	}
	end := p.end
	if p.at.IsZero() || end == nil {
		return
	}
	wait := p.at.Add(endGrace).Sub(r.deps.Now())
	p.timer = time.AfterFunc(wait, func() {
		if wait > 0 && r.Mode() == event.ModePoll { // what came since the last poll
			ctx, cancel := context.WithTimeout(context.Background(), endGrace)
			defer cancel()
			if err := r.Refresh(ctx); err != nil {
				r.deps.Log.Info("the last poll before the planned end failed", "sub", r.id, "err", err)
			}
		}
		end()
	})
}

// untilEnd returns a context that also ends with the subscription's planned end, with the
// cause errPlanned.
func (r *Runner) untilEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	await := func(end func()) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.planned.end = end
		r.awaitEnd()
	}
	await(func() { cancel(errPlanned) })
	return ctx, func() {
		await(nil)
		cancel(nil)
	}
}
