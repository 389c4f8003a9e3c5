package model

import (
	"errors"
	"fmt"
	"io"

	"eventdeck/host/internal/sse"
)

// events reads the data of the events of a stream. Names of events are ignored: in both protocols
// the data says what the event is.
type events struct{ r *sse.Reader }

// newEvents reads at most most bytes, and calls touch for each line.
func newEvents(r io.Reader, most int, touch func()) events {
	stream := sse.NewReader(&atMost{r: r, most: most, left: most}, maxLine)
	stream.Line = touch
	return events{stream}
}

// next returns the data of the next event with data, valid until the next call. The end of the
// stream also ends an event.
//
// Errors: [io.EOF] at the end of the stream, [ErrAnswer] beyond a limit, those of reading.
func (e events) next() ([]byte, error) {
	event, err := e.r.Next()
	if errors.Is(err, sse.ErrTooLarge) {
		return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return event.Data, err
}

// atMost reads most bytes, and fails with [ErrAnswer] if there are more.
type atMost struct {
	r          io.Reader
	most, left int
}

func (a *atMost) Read(b []byte) (int, error) {
	n, err := a.r.Read(b)
	if n > a.left {
		return a.left, fmt.Errorf("%w: it has more than %d bytes", ErrAnswer, a.most)
	}
	a.left -= n
	return n, err
}
