package eventserver

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"

	"eventdeck/host/wire"
)

// headerSession names the session of a client that began with initialize (2025-11-25, Streamable
// HTTP).
const headerSession = "Mcp-Session-Id"

// Sessions ties notifications/cancelled over HTTP to the request that it cancels. The id of a session
// serves for nothing else: a request is answered whatever id it has, also one from before a restart.
// In the stateless version clients cancel a request by closing its response. The zero value is ready.
type Sessions struct {
	mu   sync.Mutex
	open map[sessionRequest]*context.CancelFunc
}

type sessionRequest struct {
	session string
	id      wire.ID
}

// Greet gives the client that w answers a session.
func (s *Sessions) Greet(w http.ResponseWriter) { w.Header().Set(headerSession, rand.Text()) }

// Begin returns a context for a request that ends when the client cancels it. The caller calls end.
func (s *Sessions) Begin(r *http.Request, m wire.Message) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(r.Context())
	key := sessionRequest{r.Header.Get(headerSession), m.ID}
	if key.session == "" {
		return ctx, cancel
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[sessionRequest]*context.CancelFunc{}
	}
	s.open[key] = &cancel
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[key] == &cancel { // the client may have used the id again
			delete(s.open, key)
		}
	}
}

// Notified cancels a request if that is what the notification says.
func (s *Sessions) Notified(r *http.Request, m wire.Message) {
	if m.Method != noteCancelled {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.open[sessionRequest{r.Header.Get(headerSession), cancelled(m.Params)}]; cancel != nil {
		(*cancel)()
	}
}
