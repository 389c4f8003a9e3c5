package delivery

import (
	"context"
	"errors"
	"time"
)

// errPlanned is the end of a subscription that was agreed on when it began.
var errPlanned = errors.New("the subscription ended as planned")

// endGrace is how long after its planned end a subscription goes on: for what is on its
// way, for clocks that differ, and for the server's word that it is over.
const endGrace = 10 * time.Second

// untilEnd returns a context that ends with the subscription's planned end, too; its
// cause is then errPlanned.
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
