package session

import (
	"errors"
	"math/rand/v2"
	"time"

	"eventdeck/host/wire"
)

// maxRetryAfter bounds the wait that a server can ask for.
const maxRetryAfter = time.Hour

// challengeFactor is how many times Min a repeated failure to verify the callback waits at least:
// it ends with an act of the operator.
const challengeFactor = 60

// Backoff computes the wait before the next attempt: a random time between Min and a
// ceiling that doubles with each attempt up to Max. Full jitter keeps many clients of one
// server apart. The zero value works. It belongs to one goroutine.
type Backoff struct {
	Min  time.Duration  // 0: 500 ms
	Max  time.Duration  // 0: 60 s
	Rand func() float64 // in [0, 1); nil: the system's

	attempts int
}

// reopenError is the error of a stream whose server set the time to the next one.
type reopenError struct {
	error
	wait time.Duration // by the field retry of its Server-Sent Events
}

func (e *reopenError) Unwrap() error { return e.error }

// RetryAfter returns how long a server that refused a request or cut a stream asks to wait, an hour
// at most, by the header Retry-After, the data of its error or the stream's field retry; 0 if it
// does not say.
func RetryAfter(err error) time.Duration {
	var wait time.Duration
	var status *HTTPError
	if errors.As(err, &status) {
		wait = status.RetryAfter
	}
	var refused *wire.Error
	if errors.As(err, &refused) {
		wait = max(wait, refused.RetryAfter())
	}
	var cut *reopenError
	if errors.As(err, &cut) {
		wait = max(wait, cut.wait)
	}
	return min(wait, maxRetryAfter)
}

// Next returns the wait after a failure, and counts it. It is at least [RetryAfter].
func (b *Backoff) Next(err error) time.Duration {
	low, high := b.Min, b.Max
	if low <= 0 {
		low = 500 * time.Millisecond
	}
	if high <= 0 {
		high = time.Minute
	}
	high = max(low, high)
	if b.attempts > 0 && wire.NameFrom(err) == wire.CallbackEndpointError {
		low = min(low*challengeFactor, high)
	}
	ceiling := low
	for i := 0; i <= b.attempts && ceiling < high; i++ {
		ceiling *= 2
	}
	ceiling = min(ceiling, high)
	b.attempts++

	random := rand.Float64
	if b.Rand != nil {
		random = b.Rand
	}
	wait := low + time.Duration(random()*float64(ceiling-low))
	return max(wait, RetryAfter(err))
}

// Reset forgets the failures so far: call it when a connection has lasted for a while.
func (b *Backoff) Reset() { b.attempts = 0 }
