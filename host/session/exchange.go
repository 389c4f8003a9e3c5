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

// link carries frames to one server and back. Its methods may be called at once
// from many goroutines.
type link interface {
	// exchange sends x's request and reads until its answer. It runs on x's own
	// goroutine, calls x.deliver there, and returns soon after x.ctx is done.
	exchange(x *exchange) (json.RawMessage, error)
	// tell sends a frame that wants no answer.
	tell(ctx context.Context, e era, method string, frame []byte) error
	// hangsUp reports whether the server learns from the link itself that an
	// exchange was given up.
	hangsUp(e era) bool
	// close says goodbye and returns when nothing of the link is left. No
	// exchange runs any more.
	close()
}

// era is the way of speaking that a request is sent in.
type era struct {
	modern  bool
	version string // "" before a handshake is over
}

// exchange is one request and everything that belongs to its answer.
type exchange struct {
	id       wire.ID
	method   string
	params   json.RawMessage
	frame    []byte // nil: the general stream of handshake HTTP, which is no request
	era      era
	call     bool              // ends with its answer: a large one is expected
	mirrored map[string]string // see [Session.CallTool]
	note     func(wire.Note)
	of       wire.ID // an earlier request that this one resumes: what belongs to it comes here too
	resuming bool
	early    json.RawMessage // of a resuming request: its own answer, which does not end it
	over     chan struct{}   // closed when nothing more comes than what has come
	overOnce sync.Once
	shared   atomic.Bool     // it waits in the inbox of a connection that carries others too
	taken    func()          // called when the server has taken the request; may be nil
	ctx      context.Context // its cause says why the exchange was given up
	cancel   context.CancelCauseFunc

	epoch time.Time
	now   func() time.Time
	last  atomic.Int64 // last byte, since epoch
	busy  atomic.Bool  // note runs

	keepalive    *keepalive // nil: its silence is judged elsewhere
	leastSilence time.Duration

	retry   time.Duration // when to come back, as the server's stream said; read after done
	lastID  string        // of the last event on the server's stream; as retry
	resumed bool          // the stream was cut and is another

	done   chan struct{}
	result json.RawMessage // result and err are set before done is closed
	err    error
}

// touch records that something came from the server.
func (x *exchange) touch() { x.last.Store(int64(x.now().Sub(x.epoch))) }

// deliver hands a note to the owner.
func (x *exchange) deliver(n wire.Note) {
	x.busy.Store(true)
	x.note(n)
	x.touch()
	x.busy.Store(false)
}

// maxSkipped bounds what is kept of a frame that is skipped.
const maxSkipped = 64 << 10

// skip tells the owner of a stream of a frame that could not be taken. The stream
// goes on: to end it would only meet the same frame again.
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

// refuse gives up an exchange that cannot begin.
func (x *exchange) refuse(err error) error {
	x.cancel(err)
	return fmt.Errorf("%s: %w", x.method, err)
}

// finish ends the exchange. It is called once, by the goroutine that ran it.
func (x *exchange) finish(result json.RawMessage, err error) {
	x.result, x.err = result, err
	x.settle()
	close(x.done)
	x.cancel(ErrClosed)
}

// Stream is a request that stays open, such as events/stream. It ends once:
// when it is closed, when its context is done, when the server answers it, when
// it is cut off, when the session ends.
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

// LastByte returns when the server was last heard on this stream; at first,
// when it was opened. Comments of an event stream count. While the sink works it
// is the present: then the host is slow, not the server.
func (s *Stream) LastByte() time.Time { return s.x.lastByte() }
