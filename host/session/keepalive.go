package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// keepalive learns how often a server sends comments, pings or empty events on a quiet
// stream. A response to another request proves that the server runs, not that this stream
// still delivers.
type keepalive struct {
	mu      sync.Mutex
	beats   int
	last    time.Time
	longest time.Duration // between two beats
	timer   *time.Timer   // nil: the keepalive is not known yet
}

const (
	// beatsToLearn is how many beats establish a keepalive.
	beatsToLearn = 3
	// silentPauses times the longest pause is how long a stream may be silent.
	silentPauses = 3
	// leastSilence is allowed with even the fastest keepalive.
	leastSilence = 15 * time.Second
)

var errSilent = errors.New("the stream fell silent")

// beat records a keepalive. From the third on, the exchange is cut when nothing at all
// comes for three times the longest pause.
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

// patience returns the silence that ends the exchange. The caller holds the keepalive's
// lock.
func (x *exchange) patience() time.Duration {
	return max(silentPauses*x.keepalive.longest, x.leastSilence)
}

// checkSilence cuts the exchange if it was silent for too long, else it rearms the timer.
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

// detectsSilence reports whether too long a silence would be noticed.
func (x *exchange) detectsSilence() bool {
	if x == nil || x.keepalive == nil {
		return false
	}
	x.keepalive.mu.Lock()
	defer x.keepalive.mu.Unlock()
	return x.keepalive.timer != nil
}

// noteSilence records since when an ended exchange was silent, if silence ended it.
func (s *Session) noteSilence(x *exchange) {
	since := time.Time{}
	if errors.Is(context.Cause(x.ctx), errSilent) {
		since = x.lastByte()
	}
	s.missedSince.Store(&since)
}

// MissedSince returns since when unsolicited notifications may have been missed, for the
// interruption that [Options.OnMissed] reported; zero: since the interruption itself.
func (s *Session) MissedSince() time.Time {
	if t := s.missedSince.Load(); t != nil {
		return *t
	}
	return time.Time{}
}

// DetectsSilence reports whether the session would notice that unsolicited notifications no
// longer come: where they share the connection of the responses, or have a stream with
// keepalives.
func (s *Session) DetectsSilence() bool {
	if s.info.Era == EraStateless || s.info.Transport != TransportHTTP {
		return true
	}
	return s.general.Load().detectsSilence()
}

// DetectsSilence reports whether too long a silence of the stream would be noticed: where
// the server sends keepalives, or the connection carries other responses too.
func (s *Stream) DetectsSilence() bool { return s.x.shared.Load() || s.x.detectsSilence() }
