package engine

import (
	"sync"
	"time"

	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// transcriptBytes is how many bytes of a run's streamed output are shown.
const transcriptBytes = 4 << 10

// transcript is the streamed output of models and agents. It may be used from any goroutine.
type transcript struct {
	mu    sync.Mutex
	text  map[react.RunID]string
	dirty bool      // something is not in a view yet
	shown time.Time // when add last asked for a new view
}

// add appends to the output of a run, and reports whether it is time for a new view.
func (s *transcript) add(id react.RunID, piece trust.Text, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.text[id] + piece.Raw()
	s.text[id] = text[max(0, len(text)-transcriptBytes):]
	s.dirty = true
	soon := now.Sub(s.shown) >= viewEvery || now.Before(s.shown)
	if soon {
		s.shown = now
	}
	return soon
}

// clear removes the output of a run.
func (s *transcript) clear(id react.RunID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.text[id]; ok {
		delete(s.text, id)
		s.dirty = true
	}
}

// changed reports whether something is not in a view yet.
func (s *transcript) changed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dirty
}

// take returns the output of all runs, for a view.
func (s *transcript) take() map[react.RunID]trust.Text {
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
