// Package sse reads event streams (text/event-stream, WHATWG) of MCP servers and of models,
// within bounds.
package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// ErrTooLarge: the data of an event exceeds the reader's limit.
var ErrTooLarge = errors.New("an event is too large")

// Event is one event of a stream.
type Event struct {
	Name string // from the event: line; "" or "message" by default
	Data []byte // valid until the next read
}

// Reader reads a stream: comments, lines ended by LF, CR or CRLF, several data lines,
// fields without a colon, a byte order mark. It skips events without data. Unlike the
// definition, it returns an event that is cut off by a clean end of the stream. It is for
// one goroutine.
type Reader struct {
	// Touch is called when bytes have come, Line for each whole line, and Comment for each
	// comment. Set them before the first read; nil: not called.
	Touch, Line, Comment func()

	Retry time.Duration // the last retry: line; 0: none
	ID    string        // the last id: line of a complete event; safe in a header

	src        io.Reader
	max        int // bytes of one event's data
	buf        []byte
	start, end int  // unread part of buf
	skipLF     bool // the last line ended in CR
	skipLine   bool // the rest of the line is dropped
	skipEvent  bool // everything up to the next empty line is dropped
	begun      bool // the first line was read: no byte order mark follows
	err        error

	data []byte
}

// NewReader returns a reader of src for events with at most maxData bytes of data, and
// slightly longer lines. The length of the stream is not bounded.
func NewReader(src io.Reader, maxData int) *Reader {
	return &Reader{src: src, max: maxData, buf: make([]byte, leastBuffer)}
}

// A quiet stream keeps a small buffer; a busy one reads in large pieces.
const (
	leastBuffer = 512
	mostBuffer  = 16 << 10 // limit of growth, unless a line needs more
)

// Await waits until there is something to read. Between two events it returns when the next
// one begins, or at the end of the stream.
func (r *Reader) Await() {
	for r.start == r.end && r.err == nil {
		r.fill()
	}
}

// Next returns the next event with data. With [ErrTooLarge] it returns the beginning of the
// event, and the next call skips the rest.
//
// Errors: [io.EOF] at a clean end, [ErrTooLarge], those of the source.
func (r *Reader) Next() (Event, error) {
	r.data = r.data[:0]
	if err := r.skip(); err != nil {
		return Event{}, err
	}
	var name string
	id, lines := r.ID, 0
	for {
		line, err := r.line()
		if err != nil {
			if errors.Is(err, io.EOF) && len(r.data) > 0 {
				return Event{name, r.data}, nil
			}
			return Event{Data: r.data}, err
		}
		if r.Line != nil {
			r.Line()
		}
		if len(line) == 0 {
			r.ID = id
			if len(r.data) > 0 {
				return Event{name, r.data}, nil
			}
			name, lines = "", 0
			continue
		}
		field, value := splitField(line)
		switch string(field) {
		case "":
			if r.Comment != nil {
				r.Comment()
			}
		case "data":
			if lines > 0 {
				r.data = append(r.data, '\n')
			}
			lines++
			r.data = append(r.data, value...)
			if len(r.data) > r.max {
				return Event{Data: r.data}, r.tooLarge()
			}
		case "event":
			name = string(value)
		case "id":
			if len(value) <= maxID && headerSafe(value) {
				id = string(value)
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				r.Retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// maxID bounds an id for Last-Event-ID, in bytes. Longer ids are ignored.
const maxID = 1 << 10

// headerSafe reports whether a value is allowed in a header. Other ids are ignored, as
// WHATWG demands for NUL.
func headerSafe(value []byte) bool {
	for _, c := range value {
		if c < 0x20 && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// splitField splits a line at its first colon and drops one space after it. The field of a
// comment is empty.
func splitField(line []byte) (field, value []byte) {
	field, value, _ = bytes.Cut(line, []byte(":"))
	return field, bytes.TrimPrefix(value, []byte(" "))
}

// line returns the next line without its line break, which the last line need not have.
func (r *Reader) line() ([]byte, error) {
	if err := r.skipRest(); err != nil {
		return nil, err
	}
	scanned := 0
	for {
		if r.skipLF && r.start < r.end {
			if r.buf[r.start] == '\n' {
				r.start++
			}
			r.skipLF = false
		}
		rest := r.buf[r.start:r.end]
		if i := lineEnd(rest[scanned:]); i >= 0 {
			i += scanned
			r.skipLF = rest[i] == '\r'
			r.start += i + 1
			return r.trimMark(rest[:i]), nil
		}
		scanned = len(rest)
		if r.err != nil {
			r.start = r.end
			if scanned > 0 && errors.Is(r.err, io.EOF) {
				return r.trimMark(rest), nil
			}
			return nil, r.err
		}
		if scanned > r.max+len("data: ") {
			_, begin := splitField(rest)
			r.data = append(r.data, begin...)
			r.start, r.skipLine = r.end, true
			return nil, r.tooLarge()
		}
		r.fill()
	}
}

func (r *Reader) trimMark(line []byte) []byte {
	if !r.begun {
		r.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line
}

func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// fill makes room and reads once.
func (r *Reader) fill() {
	if r.start > 0 {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.buf) {
		r.grow()
	}
	n, err := r.src.Read(r.buf[r.end:])
	r.end += n
	r.err = err
	if n > 0 && r.Touch != nil {
		r.Touch()
	}
	if r.end == len(r.buf) && len(r.buf) < mostBuffer {
		r.grow()
	}
}

func (r *Reader) grow() { r.buf = append(r.buf, make([]byte, len(r.buf))...) }

func (r *Reader) tooLarge() error {
	r.skipEvent = true
	return fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, r.max)
}

// skip drops the rest of a too large event.
func (r *Reader) skip() error {
	for r.skipEvent {
		line, err := r.line()
		switch {
		case errors.Is(err, ErrTooLarge):
		case err != nil:
			return err
		case len(line) == 0:
			r.skipEvent = false
		}
	}
	r.data = r.data[:0]
	return nil
}

// skipRest drops the rest of a too large line.
func (r *Reader) skipRest() error {
	for r.skipLine {
		rest := r.buf[r.start:r.end]
		if i := lineEnd(rest); i >= 0 {
			r.skipLF = rest[i] == '\r'
			r.start += i + 1
			r.skipLine = false
			return nil
		}
		r.start = r.end
		if r.err != nil {
			return r.err
		}
		r.fill()
	}
	return nil
}
