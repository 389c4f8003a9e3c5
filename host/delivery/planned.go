package delivery

import (
	"context"
	"errors"
	"time"
)

// errPlanned ends a subscription at the end that was planned when it began.
var errPlanned = errors.New("the subscription ended as planned")

// endGrace is how long a subscription goes on after its planned end: for events on their way,
// clocks that differ, and the server's own notification of the end.
const endGrace = 10 * time.Second

// untilEnd returns a context that also ends with the subscription's planned end, with the
// cause errPlanned.
func (r *Runner) untilEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if r.deps.Ends.IsZero() {
		return ctx, func() { cancel(nil) }
	}
	timer := time.AfterFunc(r.deps.Ends.Sub(r.deps.Now())+endGrace, func() { cancel(errPlanned) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}
