package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// sseEvent is one event of an event stream. data is valid until the next read.
type sseEvent struct {
	name string // of the event: line; "" or "message" is the ordinary kind
	data []byte
}

// sseReader reads a text/event-stream as WHATWG defines it: comments, lines
// ended by LF, CR or CRLF, several data lines, fields without a colon, a byte
// order mark. Events without data are skipped. Beyond the definition, an event
// that is cut off by a clean end of the stream is still returned.
type sseReader struct {
	src   io.Reader
	touch func()        // called when something came; may be nil
	max   int           // bytes of one event's data
	pause func()        // called for each comment; nil: not wanted
	retry time.Duration // last retry: line; 0 if none
	id    string        // last id: line of an event that is complete

	buf        []byte
	start, end int  // unread part of buf
	skipLF     bool // the last line ended in CR
	skipLine   bool // the rest of the line is dropped
	skipEvent  bool // so is what comes before the next empty line
	begun      bool // the place for a byte order mark is past
	err        error

	data []byte
}

func newSSEReader(src io.Reader, maxData int) *sseReader {
	return &sseReader{src: src, max: maxData, buf: make([]byte, leastBuffer)}
}

// A stream that brings little keeps little room; one that brings much reads it in
// large pieces.
const (
	leastBuffer = 512
	mostBuffer  = 16 << 10 // to which it grows where no line needs more
)

// await waits until something is there to read. Between two events it returns when
// the next one begins, or with the end of the stream.
func (r *sseReader) await() {
	for r.start == r.end && r.err == nil {
		r.fill()
	}
}

// next returns the next event that has data. Of an event that is too large it
// returns the beginning with the error, and skips the rest the next time.
//
// Errors: [io.EOF] at a clean end, [ErrTooLarge], those of the source.
func (r *sseReader) next() (sseEvent, error) {
	r.data = r.data[:0]
	if err := r.skip(); err != nil {
		return sseEvent{}, err
	}
	var name string
	id, lines := r.id, 0
	for {
		line, err := r.line()
		if err != nil {
			if errors.Is(err, io.EOF) && len(r.data) > 0 {
				return sseEvent{name, r.data}, nil
			}
			return sseEvent{data: r.data}, err
		}
		if len(line) == 0 {
			r.id = id
			if len(r.data) > 0 {
				return sseEvent{name, r.data}, nil
			}
			name, lines = "", 0
			continue
		}
		field, value := splitField(line)
		switch string(field) {
		case "":
			if r.pause != nil {
				r.pause()
			}
		case "data":
			if lines > 0 {
				r.data = append(r.data, '\n')
			}
			lines++
			r.data = append(r.data, value...)
			if len(r.data) > r.max {
				return sseEvent{data: r.data}, r.tooLarge(r.data)
			}
		case "event":
			name = string(value)
		case "id":
			if len(value) <= maxEventID && headerSafe(value) {
				id = string(value)
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				r.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// maxEventID bounds what is sent back as Last-Event-ID.
const maxEventID = 1 << 10

// headerSafe reports whether a value can stand in a header. An id that cannot is
// none: WHATWG says so of NUL.
func headerSafe(value []byte) bool {
	for _, c := range value {
		if c < 0x20 && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// splitField cuts a line at its first colon and drops one space behind it. The
// field of a comment is empty.
func splitField(line []byte) (field, value []byte) {
	field, value, _ = bytes.Cut(line, []byte(":"))
	return field, bytes.TrimPrefix(value, []byte(" "))
}

// line returns the next line without its end. A last line without an end counts.
func (r *sseReader) line() ([]byte, error) {
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
			return nil, r.tooLarge(r.data)
		}
		r.fill()
	}
}

func (r *sseReader) trimMark(line []byte) []byte {
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

// fill reads once, after it made room.
func (r *sseReader) fill() {
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
	if n > 0 && r.touch != nil {
		r.touch()
	}
	if r.end == len(r.buf) && len(r.buf) < mostBuffer {
		r.grow()
	}
}

func (r *sseReader) grow() { r.buf = append(r.buf, make([]byte, len(r.buf))...) }

func (r *sseReader) tooLarge(begin []byte) error {
	r.skipEvent = true
	return fmt.Errorf("%w: an event has more than %d bytes; it begins %v", ErrTooLarge, r.max, head(begin))
}

// skip drops the rest of an event that was too large.
func (r *sseReader) skip() error {
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

// skipRest drops the rest of a line that was too large.
func (r *sseReader) skipRest() error {
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
