package model

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// events reads the data of a text/event-stream (WHATWG), whose lines end with LF or CRLF.
// Both wires say in the data what an event is; its other fields are passed over.
type events struct {
	r     *bufio.Reader
	touch func() // called for each line
	most  int    // bytes that may come
	left  int    // of them
	data  []byte
}

func newEvents(r io.Reader, most int, touch func()) *events {
	return &events{r: bufio.NewReaderSize(r, 16<<10), touch: touch, most: most, left: most}
}

// next returns the data of the next event that has some, valid until the next call. An
// event that ends with the stream counts.
//
// Errors: [io.EOF] at the end of the stream, [ErrAnswer] beyond a bound, those of reading.
func (e *events) next() ([]byte, error) {
	e.data = e.data[:0]
	lines := 0
	for {
		line, err := e.line()
		if err != nil {
			if errors.Is(err, io.EOF) && lines > 0 {
				return e.data, nil
			}
			return nil, err
		}
		e.touch()
		if len(line) == 0 && lines > 0 {
			return e.data, nil
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		if string(field) != "data" {
			continue
		}
		if lines > 0 {
			e.data = append(e.data, '\n')
		}
		lines++
		e.data = append(e.data, bytes.TrimPrefix(value, []byte(" "))...)
		if len(e.data) > maxLine {
			return nil, fmt.Errorf("%w: a message has more than %d bytes", ErrAnswer, maxLine)
		}
	}
}

// line returns the next line without its end.
func (e *events) line() ([]byte, error) {
	var long []byte
	for {
		part, err := e.r.ReadSlice('\n')
		if e.left -= len(part); e.left < 0 {
			return nil, fmt.Errorf("%w: it has more than %d bytes", ErrAnswer, e.most)
		}
		if errors.Is(err, bufio.ErrBufferFull) || long != nil {
			if long = append(long, part...); len(long) > maxLine+len("data: \r\n") {
				return nil, fmt.Errorf("%w: a line has more than %d bytes", ErrAnswer, maxLine)
			}
			part = long
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(part) > 0, err == nil:
			return bytes.TrimSuffix(bytes.TrimSuffix(part, []byte("\n")), []byte("\r")), nil
		}
		return nil, err
	}
}
