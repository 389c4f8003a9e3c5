// Package pause waits for a duration, unless a context ends first.
package pause

import (
	"context"
	"time"
)

// For waits for d. Error: the cause of ctx, if ctx is done first.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
