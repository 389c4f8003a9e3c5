package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// keepalive learns how often a server says on a quiet stream that the stream is open,
// with comments, pings or events that carry nothing. An answer to another request
// proves that the server runs, not that what it says on this stream still comes.
type keepalive struct {
	mu      sync.Mutex
	beats   int
	last    time.Time
	longest time.Duration // between two beats
	timer   *time.Timer   // nil: the keepalive is not known yet
}

const (
	// beatsToLearn is how many beats show a keepalive.
	beatsToLearn = 3
	// silentPauses is how many of the longest pauses a stream may be silent.
	silentPauses = 3
	// leastSilence is the silence that is granted to the quickest keepalive.
	leastSilence = 15 * time.Second
)

var errSilent = errors.New("the stream fell silent")

// beat notes that the server filled a pause, and from the third on cuts the
// exchange when nothing at all comes for three times the longest pause.
func (x *exchange) beat() {
	r := x.keepalive
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := x.now()
	if r.beats++; r.beats > 1 {
		r.longest = max(r.longest, now.Sub(r.last))
	}
	r.last = now
	if r.beats >= beatsToLearn && r.timer == nil {
		r.timer = time.AfterFunc(x.patience(), x.checkSilence)
	}
}

// patience is the silence that ends the exchange. The keepalive's lock is held.
func (x *exchange) patience() time.Duration {
	return max(silentPauses*x.keepalive.longest, x.leastSilence)
}

// checkSilence cuts the exchange if it was silent for too long, else it comes back.
func (x *exchange) checkSilence() {
	r := x.keepalive
	r.mu.Lock()
	defer r.mu.Unlock()
	if x.ctx.Err() != nil {
		return
	}
	silent, most := x.now().Sub(x.lastByte()), x.patience()
	if silent >= most {
		x.cancel(fmt.Errorf("%w: %w: nothing came for %v, and something did every %v before", ErrCut, errSilent, silent.Round(time.Millisecond), r.longest.Round(time.Millisecond)))
		return
	}
	r.timer.Reset(most - silent)
}

// settle ends the watch over the keepalive.
func (x *exchange) settle() {
	if x.keepalive == nil {
		return
	}
	x.keepalive.mu.Lock()
	defer x.keepalive.mu.Unlock()
	if x.keepalive.timer != nil {
		x.keepalive.timer.Stop()
	}
}

// detectsSilence reports whether a silence that is too long would be noticed.
func (x *exchange) detectsSilence() bool {
	if x == nil || x.keepalive == nil {
		return false
	}
	x.keepalive.mu.Lock()
	defer x.keepalive.mu.Unlock()
	return x.keepalive.timer != nil
}

// noteSilence remembers since when an exchange that is over was not heard, if it was
// given up for that.
func (s *Session) noteSilence(x *exchange) {
	since := time.Time{}
	if errors.Is(context.Cause(x.ctx), errSilent) {
		since = x.lastByte()
	}
	s.missedSince.Store(&since)
}

// MissedSince returns when the session last heard what the server says unasked,
// before the interruption that [Options.OnMissed] told of; zero if it heard it
// until then.
func (s *Session) MissedSince() time.Time {
	if t := s.missedSince.Load(); t != nil {
		return *t
	}
	return time.Time{}
}

// DetectsSilence reports whether the session would notice that what the server says unasked
// no longer comes: where it says so on the connection that brings its answers too,
// or where it fills the pauses of a stream of its own.
func (s *Session) DetectsSilence() bool {
	if s.info.Era == EraStateless || s.info.Transport != TransportHTTP {
		return true
	}
	return s.general.Load().detectsSilence()
}

// DetectsSilence reports whether it would be noticed that the stream is silent for too long:
// where the server fills its pauses, or the connection is the one that brings the
// answers to other requests too.
func (s *Stream) DetectsSilence() bool { return s.x.shared.Load() || s.x.detectsSilence() }
