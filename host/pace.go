package host

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"eventdeck/host/internal/pause"
)

// How many catch-up polls one server gets at a time, and the least pause between two of them: at
// most five a second for all its subscriptions.
const (
	catchUpsAtOnce = 4
	catchUpPause   = 200 * time.Millisecond
)

// pacer spreads the catch-up polls of one server.
type pacer struct {
	room chan struct{}

	mu   sync.Mutex
	next time.Time // no request is made before
}

func newPacer() *pacer { return &pacer{room: make(chan struct{}, catchUpsAtOnce)} }

// take waits until the caller may make a request. done must be called after it. Error: the
// cause of ctx.
func (p *pacer) take(ctx context.Context) (done func(), err error) {
	select {
	case p.room <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := pause.For(ctx, time.Until(p.slot())); err != nil {
		<-p.room
		return nil, err
	}
	return func() { <-p.room }, nil
}

// slot reserves the time of the next request, and returns it.
func (p *pacer) slot() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := time.Now()
	if at.Before(p.next) {
		at = p.next
	}
	p.next = at.Add(catchUpPause + rand.N(catchUpPause/4))
	return at
}
