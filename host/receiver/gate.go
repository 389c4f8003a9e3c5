package receiver

import (
	"net/http"
	"sync"
)

// gate bounds the deliveries that are in flight, and admits none once it is closed.
type gate struct {
	mu     sync.Mutex
	open   int
	max    int
	closed bool
}

// enter admits a delivery, which must call leave. Errors: a *refusal.
func (g *gate) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return &refusal{http.StatusServiceUnavailable, ReasonClosing, retrySoon}
	case g.open >= g.max:
		return &refusal{http.StatusServiceUnavailable, ReasonBusy, retrySoon}
	}
	g.open++
	return nil
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open--
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}
