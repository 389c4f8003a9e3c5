package model

import (
	"errors"
	"fmt"
	"io"

	"eventdeck/host/internal/sse"
)

// events reads the data of the events of a stream. Both wires say in the data what an event
// is; its name is passed over.
type events struct{ r *sse.Reader }

// newEvents reads at most so many bytes, and calls touch for each line.
func newEvents(r io.Reader, most int, touch func()) events {
	stream := sse.NewReader(&atMost{r: r, most: most, left: most}, maxLine)
	stream.Line = touch
	return events{stream}
}

// next returns the data of the next event that has some, valid until the next call. An
// event that ends with the stream counts.
//
// Errors: [io.EOF] at the end of the stream, [ErrAnswer] beyond a bound, those of reading.
func (e events) next() ([]byte, error) {
	event, err := e.r.Next()
	if errors.Is(err, sse.ErrTooLarge) {
		return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return event.Data, err
}

// atMost reads so many bytes, and fails with [ErrAnswer] when there are more.
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
