package attach

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/gob"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/react"
)

// Options configure a [Server]. API, Store and Dir are needed.
type Options struct {
	API   host.API
	Store event.Store
	Dir   string       // the data directory of the store
	Log   *slog.Logger // nil: nowhere
	// Control controls the engine of reactions in this process; nil: there is none.
	Control react.Control
	// Gates finds the tools of runs; nil: there are none.
	Gates Gates
	// Find finds the description of a server by the name or address that a client
	// gave; nil: none is found.
	Find func(name string) (event.Server, error)
}

// Backuper is a store that can be copied while it is in use.
type Backuper interface {
	// Backup copies the store to a new file and returns its bytes.
	Backup(ctx context.Context, file string) (int64, error)
}

// Server answers the clients of one open store. All methods may be called from any
// goroutine.
type Server struct {
	opts     Options
	verbs    map[string]handler // of operators
	tools    map[string]handler // of sessions for the tools of a run
	token    string             // that a client must have
	http     *http.Server
	unlisten func() error
	cancel   context.CancelFunc
	wg       sync.WaitGroup // serving, and the requests under way

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
	prints   map[event.SubID]*session // the session that keeps the printed position; nil: this process
}

// Serve begins to listen for clients on a socket in the data directory. The caller
// has the store open, and closes the server before the host.
func Serve(o Options) (*Server, error) {
	l, unlisten, err := listen(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("listen for other processes: %w", err)
	}
	token, err := newToken(o.Dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen for other processes: %w", err), unlisten())
	}
	s := newServer(o, func() error { return errors.Join(unlisten(), removeFile(filepath.Join(o.Dir, fileToken))) })
	s.token = token
	s.wg.Go(func() { _ = s.http.Serve(s.peers(l)) }) // it ends with Close
	return s, nil
}

// newServer returns a server that does not listen yet.
func newServer(o Options, unlisten func() error) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		opts: o, verbs: handlers(), tools: gateVerbs(), unlisten: unlisten,
		sessions: map[string]*session{}, prints: map[event.SubID]*session{},
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: helloTimeout, IdleTimeout: 2 * idleTimeout,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
	}
	return s
}

// answerTimeout bounds the wait for the last responses of a server that closes.
const answerTimeout = 3 * time.Second

// finishing returns a context for a change. It ends with ctx, but a server that closes gives a
// running change another answerTimeout: the change may be why the server closes.
func (s *Server) finishing(ctx context.Context) (context.Context, context.CancelFunc) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		closed := s.closed
		s.mu.Unlock()
		if !closed {
			cancel() // the client is gone
			return
		}
		late := time.AfterFunc(answerTimeout, cancel)
		context.AfterFunc(own, func() { late.Stop() })
	})
	return own, func() {
		stop()
		cancel()
	}
}

// Close ends the sessions, and waits for the requests under way.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	var err error
	if s.http.Shutdown(ctx) != nil { // a client reads no answer
		err = ignoreClosed(s.http.Close())
	}
	err = errors.Join(err, s.unlisten())
	s.wg.Wait()
	return err
}

// Claim reports whether this process may keep the position up to which it printed a
// subscription; then no client can.
func (s *Server) Claim(id event.SubID) bool { return s.claim(id, nil) }

func (s *Server) claim(id event.SubID, by *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if has, taken := s.prints[id]; taken {
		return has == by
	}
	s.prints[id] = by
	return true
}

// ServeHTTP answers one request. Any transport that authenticates the client will do; [Serve] uses
// a socket for processes of the same user.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(headerVersion, strconv.Itoa(version))
	w.Header().Set(headerPID, strconv.Itoa(os.Getpid()))
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		rejectAndClose(w, http.StatusServiceUnavailable, fmt.Errorf("%w: it is about to end", ErrBusy))
		return
	}
	s.wg.Add(1)
	s.mu.Unlock()
	defer s.wg.Done()
	if r.URL.Path == pathOf(pathSession) {
		s.serveSession(w, r)
		return
	}
	s.mu.Lock()
	e := s.sessions[r.Header.Get(headerSession)]
	s.mu.Unlock()
	if e == nil {
		rejectAndClose(w, http.StatusNotFound, fmt.Errorf("%w: it has no session", ErrNotHere))
		return
	}
	verbs := s.verbs
	if e.run != "" {
		verbs = s.tools
	}
	for name, handle := range verbs {
		if r.URL.Path == pathOf(name) {
			e.answer(w, r, handle)
			return
		}
	}
	refuse(w, http.StatusNotFound, fmt.Errorf("%w: %.40q", ErrNotHere, r.URL.Path))
}

// serveSession keeps a session until the client or the server ends.
func (s *Server) serveSession(w http.ResponseWriter, r *http.Request) {
	e := &session{server: s, signIns: map[uint64]host.SignIn{}, run: react.RunID(r.Header.Get(headerRun)), token: r.Header.Get(headerToken)}
	e.follows = e.run == "" && r.Header.Get(headerFollows) != ""
	if err := s.admit(e); err != nil {
		s.opts.Log.Warn("a process without the token wanted to attach", "pid", r.Header.Get(headerPID))
		rejectAndClose(w, http.StatusForbidden, err)
		return
	}
	id := rand.Text()
	e.idle.L = &e.mu
	if err := s.addSession(id, e); err != nil {
		rejectAndClose(w, http.StatusServiceUnavailable, err)
		return
	}
	defer s.removeSession(id, e)
	w.Header().Set(headerSession, id)
	w.WriteHeader(http.StatusOK)
	if http.NewResponseController(w).Flush() != nil {
		return // the client is gone
	}
	log := s.opts.Log.With("pid", r.Header.Get(headerPID))
	log.Info("a process is attached")
	<-r.Context().Done()
	e.awaitIdle() // a client takes the end of its session as the end of all responses
	log.Info("a process is not attached any more")
}

// addSession adds a session if there is a place for it. Clients that stay, commands and runs have
// places of their own: none of them can lock out another. Error: [ErrBusy].
func (s *Server) addSession(id string, e *session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	alike, ofRun := 0, 0
	for _, other := range s.sessions {
		if (other.run != "") == (e.run != "") && other.follows == e.follows {
			alike++
		}
		if other.run == e.run {
			ofRun++
		}
	}
	switch {
	case e.run != "" && ofRun >= maxGates:
		return fmt.Errorf("%w: %d sessions of run %s", ErrBusy, ofRun, e.run)
	case e.run != "" && alike >= maxRuns:
		return fmt.Errorf("%w: %d sessions of runs", ErrBusy, alike)
	case e.follows && alike >= maxFollowers:
		return fmt.Errorf("%w: %d screens, tails and the like are attached; end one of them", ErrBusy, alike)
	case e.run == "" && !e.follows && alike >= maxCommands:
		return fmt.Errorf("%w: %d commands are attached; wait for one of them, or end it", ErrBusy, alike)
	}
	s.sessions[id] = e
	return nil
}

// removeSession removes a session: another client may print the subscriptions that it printed.
func (s *Server) removeSession(id string, e *session) {
	s.mu.Lock()
	delete(s.sessions, id)
	for sub, by := range s.prints {
		if by == e {
			delete(s.prints, sub)
		}
	}
	s.mu.Unlock()
	e.giveUpSignIns()
}

// session is one client.
type session struct {
	server  *Server
	run     react.RunID // whose tools it is for; "": it is the operator's
	follows bool        // the client stays
	token   string      // that it was opened with

	encoding atomic.Int64 // nanoseconds that it took to encode the last state

	mu      sync.Mutex
	idle    sync.Cond // signalled when running falls to 0
	running int       // requests
	signIns map[uint64]host.SignIn
	signIn  uint64 // the last one
}

// answer answers a verb.
func (e *session) answer(w http.ResponseWriter, r *http.Request, handle handler) {
	e.mu.Lock()
	full := e.running >= maxRunning
	if !full {
		e.running++
	}
	e.mu.Unlock()
	if full {
		refuse(w, http.StatusTooManyRequests, fmt.Errorf("%w: %d requests", ErrBusy, maxRunning))
		return
	}
	defer func() {
		e.mu.Lock()
		if e.running--; e.running == 0 {
			e.idle.Broadcast()
		}
		e.mu.Unlock()
	}()
	call, err := handle(gob.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)))
	var out any
	if err == nil {
		out, err = call(r.Context(), e)
	}
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	var body bytes.Buffer
	began := time.Now()
	if err := gob.NewEncoder(&body).Encode(out); err != nil {
		refuse(w, http.StatusInternalServerError, err)
		return
	}
	if s, ok := out.(state); ok && !s.Part {
		e.encoding.Store(int64(time.Since(began)))
	}
	_, _ = body.WriteTo(w) // a client that is gone needs no answer
}

// awaitIdle waits until no request is under way.
func (e *session) awaitIdle() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.running > 0 {
		e.idle.Wait()
	}
}

// rejectAndClose answers a request without a session with an error, and closes the connection,
// which would take a place from others.
func rejectAndClose(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(helloTimeout)) // for the rest of the request; not every transport has one
	refuse(w, status, err)
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, status int, err error) {
	w.WriteHeader(status)
	_ = gob.NewEncoder(w).Encode(failed(err)) // a client that is gone needs no answer
}

// giveUpSignIns ends the sign-ins that no client waits for any more.
func (e *session) giveUpSignIns() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.signIns {
		_ = s.Wait(ctx) // no client is there to be told
	}
	clear(e.signIns)
}
