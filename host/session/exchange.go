package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/wire"
)

// link carries frames to one server and back. Its methods may be called from any goroutine.
type link interface {
	// exchange sends x's request and reads until its response. It runs on x's own goroutine,
	// calls x.deliver there, and returns soon after x.ctx is done.
	exchange(x *exchange) (json.RawMessage, error)
	// tell sends a frame without a response.
	tell(ctx context.Context, e era, method string, frame []byte) error
	// hangsUp reports whether giving up an exchange closes its connection, which tells the
	// server.
	hangsUp(e era) bool
	// close ends the link and returns when nothing of it is left. No exchange may be
	// running.
	close()
}

// era is the protocol revision in which a request is sent.
type era struct {
	modern  bool
	version string // "" before a handshake is over
}

// exchange is one request with its notifications and its response.
type exchange struct {
	id       wire.ID
	method   string
	params   json.RawMessage
	frame    []byte // nil: the general stream of handshake HTTP, which is no request
	era      era
	call     bool              // not a stream: its response may be large
	mirrored map[string]string // see [Session.CallTool]
	unnamed  bool              // sent without Mcp-Name
	note     func(wire.Note)
	of       wire.ID // the earlier request that this one resumes: its messages come here too
	resuming bool
	early    json.RawMessage // of a resuming request: its own response, which does not end it
	over     chan struct{}   // closed when nothing more will come
	overOnce sync.Once
	shared   atomic.Bool     // its connection carries other exchanges too
	taken    func()          // called when the server has accepted the request; may be nil
	ctx      context.Context // its cause says why the exchange was given up
	cancel   context.CancelCauseFunc

	epoch time.Time
	now   func() time.Time
	last  atomic.Int64 // last byte, since epoch
	busy  atomic.Bool  // note runs

	keepalive    *keepalive // nil: its owner watches for silence
	leastSilence time.Duration

	retry   time.Duration // the server's reconnection time; read after done
	lastID  string        // id of the last event; read after done
	resumed bool          // the stream was cut and resumed

	done   chan struct{}
	result json.RawMessage // result and err are set before done is closed
	err    error
}

// touch records that the server was heard.
func (x *exchange) touch() { x.last.Store(int64(x.now().Sub(x.epoch))) }

// deliver passes a note to the owner.
func (x *exchange) deliver(n wire.Note) {
	x.busy.Store(true)
	x.note(n)
	x.touch()
	x.busy.Store(false)
}

// maxSkipped bounds the kept beginning of a skipped frame, in bytes.
const maxSkipped = 64 << 10

// skip reports a frame that was not accepted to the owner of a stream. The stream goes on:
// reopened, it would only meet the same frame again.
func (x *exchange) skip(begin []byte, why error) {
	if x.ctx.Err() != nil {
		return
	}
	x.deliver(wire.Note{Method: wire.NoteSkipped, Params: slices.Clone(begin[:min(len(begin), maxSkipped)]), Refused: why})
}

func (x *exchange) lastByte() time.Time {
	if x.busy.Load() {
		return x.now()
	}
	return x.epoch.Add(time.Duration(x.last.Load()))
}

// refuse ends an exchange that cannot begin.
func (x *exchange) refuse(err error) error {
	x.cancel(err)
	return fmt.Errorf("%s: %w", x.method, err)
}

// finish ends the exchange. The goroutine that ran it calls it once.
func (x *exchange) finish(result json.RawMessage, err error) {
	if err != nil && x.retry > 0 {
		err = &reopenError{err, x.retry}
	}
	x.result, x.err = result, err
	x.settle()
	close(x.done)
	x.cancel(ErrClosed)
}

// Stream is a request that stays open, such as events/stream. It ends when it is closed,
// when its context is done, when the server answers it, when it is cut off, or when the
// session ends.
type Stream struct {
	ID wire.ID // of the request, to compare with [wire.Note.Route]
	x  *exchange
}

// Close gives up the stream, and this stream alone. It does not wait: a note
// may still be on its way to the sink until Done is closed. It may be called
// more than once, also from the sink.
func (s *Stream) Close() { s.x.cancel(ErrClosed) }

// Done is closed when the stream has ended. The sink is not called after that.
func (s *Stream) Done() <-chan struct{} { return s.x.done }

// Result waits for the end of the stream and returns the server's final result.
//
// Errors: *wire.Error and [*HTTPError] when the server refused the request,
// [ErrUnreachable], [ErrCut], [ErrAnswer], [ErrTooLarge], [ErrLost],
// [ErrClosed], the error of the context.
func (s *Stream) Result() (json.RawMessage, error) {
	<-s.x.done
	return s.x.result, s.x.err
}

// LastByte returns when the server was last heard on this stream, at first the time of
// opening. Comments of an event stream count. While the sink runs it is the present: then
// the host is slow, not the server.
func (s *Stream) LastByte() time.Time { return s.x.lastByte() }
