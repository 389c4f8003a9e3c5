package engine

import (
	"sync"
	"time"

	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// saysBytes is how much is shown of what a run says while it says it.
const saysBytes = 4 << 10

// says is what models and agents say at the moment. It may be used from any goroutine.
type says struct {
	mu    sync.Mutex
	text  map[react.RunID]string
	dirty bool      // something is not shown yet
	shown time.Time // when a look at it was asked for last
}

// add takes the next piece of what a run says, and reports whether it is time to show it.
func (s *says) add(id react.RunID, piece trust.Text, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.text[id] + piece.Raw()
	s.text[id] = text[max(0, len(text)-saysBytes):]
	s.dirty = true
	soon := now.Sub(s.shown) >= viewEvery || now.Before(s.shown)
	if soon {
		s.shown = now
	}
	return soon
}

// clear forgets what a run said.
func (s *says) clear(id react.RunID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.text[id]; ok {
		delete(s.text, id)
		s.dirty = true
	}
}

// changed reports whether there is something that was not taken for a view.
func (s *says) changed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dirty
}

// take returns what all runs say, for a view.
func (s *says) take() map[react.RunID]trust.Text {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty = false
	if len(s.text) == 0 {
		return nil
	}
	out := make(map[react.RunID]trust.Text, len(s.text))
	for id, text := range s.text {
		out[id] = trust.Untrusted(text)
	}
	return out
}
