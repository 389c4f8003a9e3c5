package attach

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
)

// Options say what a [Server] answers for. API, Store and Dir are needed.
type Options struct {
	API   host.API
	Store event.Store
	Dir   string       // the data directory of the store
	Log   *slog.Logger // nil: nowhere
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
	verbs    map[string]handler
	unlisten func() error
	ctx      context.Context
	cancel   context.CancelFunc
	wg       sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	sessions map[*session]struct{}
	prints   map[event.SubID]*session // who keeps the printed position; nil: this process
}

// Serve begins to listen for clients. The caller has the store open, and closes the
// server before the host.
func Serve(o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	l, unlisten, err := listen(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("listen for other processes: %w", err)
	}
	s := &Server{
		opts: o, verbs: handlers(), unlisten: unlisten,
		sessions: map[*session]struct{}{}, prints: map[event.SubID]*session{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.wg.Go(func() { s.accept(l) })
	return s, nil
}

// Close ends the clients and waits for what they asked for.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	err := s.unlisten()
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

// Pauses after a connection could not be taken: the process may have as many files
// open as it may.
const (
	acceptPause  = 50 * time.Millisecond
	acceptLonger = 5 * time.Second
)

// listener is what a [net.UnixListener] does for a server.
type listener interface {
	AcceptUnix() (*net.UnixConn, error)
}

// accept takes connections until the listener is closed.
func (s *Server) accept(l listener) {
	for pause := acceptPause; ; {
		conn, err := l.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.opts.Log.Warn("no other process can attach now", "err", err, "again_in", pause)
			select {
			case <-time.After(pause):
			case <-s.ctx.Done():
				return
			}
			pause = min(2*pause, acceptLonger)
			continue
		}
		pause = acceptPause
		if err := s.begin(conn); err != nil {
			s.opts.Log.Warn("a process that wanted to attach was refused", "err", err)
			_ = conn.Close() // it was refused
		}
	}
}

// begin starts a session.
func (s *Server) begin(conn *net.UnixConn) error {
	if err := checkPeer(conn); err != nil {
		return err
	}
	e := &session{server: s, conn: conn, running: map[uint64]context.CancelFunc{}, signIns: map[uint64]host.SignIn{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	if len(s.sessions) >= maxClients {
		return fmt.Errorf("%w: %d processes are attached", ErrBusy, maxClients)
	}
	s.sessions[e] = struct{}{}
	s.wg.Go(func() {
		defer s.forget(e)
		e.run(s.ctx)
	})
	return nil
}

func (s *Server) forget(e *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, e)
	for id, by := range s.prints {
		if by == e {
			delete(s.prints, id)
		}
	}
}

// answerWithin bounds the last answers.
const answerWithin = time.Second

// session is one client.
type session struct {
	server *Server
	conn   *net.UnixConn
	frames *frames
	wg     sync.WaitGroup

	mu      sync.Mutex
	running map[uint64]context.CancelFunc
	signIns map[uint64]host.SignIn
	signIn  uint64 // the last one
}

// run answers until the client or the server ends.
func (e *session) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		e.wg.Wait()
		_ = e.conn.Close() // it is over
		e.giveUpSignIns()
	}()
	in := bufio.NewReader(e.conn)
	hurry := context.AfterFunc(ctx, func() { _ = e.conn.Close() })
	pid, err := greet(e.conn, in)
	if !hurry() {
		return
	}
	// At the end nothing more is read, and what was done is still answered.
	context.AfterFunc(ctx, func() {
		_ = e.conn.SetReadDeadline(time.Now()) // fails when it is closed already
		_ = e.conn.SetWriteDeadline(time.Now().Add(answerWithin))
	})
	if err != nil {
		e.server.opts.Log.Warn("a process that wanted to attach was not understood", "pid", pid, "err", err)
		return
	}
	log := e.server.opts.Log.With("pid", pid)
	log.Info("a process is attached")
	e.frames = newFrames(e.conn, in, maxRequest, maxAnswer)
	for err == nil {
		err = e.next(ctx)
	}
	if errors.Is(err, ErrFrame) {
		log.Warn("an attached process was not understood", "err", err)
	}
	log.Info("a process is not attached any more")
}

// next takes one frame.
func (e *session) next(ctx context.Context) error {
	h, err := e.frames.next()
	if err != nil {
		return err
	}
	if h.Cancel {
		e.mu.Lock()
		if cancel := e.running[h.ID]; cancel != nil {
			cancel()
		}
		e.mu.Unlock()
		return e.frames.skip(h)
	}
	handle, known := e.server.verbs[h.Verb]
	if !known || !h.Body {
		return errors.Join(e.frames.skip(h), e.refuse(h.ID, fmt.Errorf("%w: %.20q", ErrNotHere, h.Verb)))
	}
	call, err := handle(e.frames)
	if err != nil {
		return err
	}
	ctx, ok := e.started(ctx, h.ID)
	if !ok {
		return e.refuse(h.ID, fmt.Errorf("%w: %d requests", ErrBusy, maxRunning))
	}
	e.wg.Go(func() {
		answer, err := call(ctx, e)
		e.ended(h.ID)
		if err != nil {
			err = e.refuse(h.ID, err)
		} else {
			err = e.frames.write(header{ID: h.ID}, answer)
		}
		if err != nil {
			_ = e.conn.Close() // the reader ends the session
		}
	})
	return nil
}

func (e *session) refuse(id uint64, err error) error {
	return e.frames.write(header{ID: id, Failed: failed(err)}, nil)
}

// started notes a request. ok is false when there are too many.
func (e *session) started(ctx context.Context, id uint64) (_ context.Context, ok bool) {
	ctx, cancel := context.WithCancel(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, twice := e.running[id]; twice || len(e.running) >= maxRunning {
		cancel()
		return nil, false
	}
	e.running[id] = cancel
	return ctx, true
}

func (e *session) ended(id uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running[id]()
	delete(e.running, id)
}

// giveUpSignIns ends the sign-ins for which nobody waits any more.
func (e *session) giveUpSignIns() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, s := range e.signIns {
		_ = s.Wait(ctx) // nobody is there to be told
	}
}
