package session

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lineReader reads newline-delimited frames of bounded length.
type lineReader struct {
	src *bufio.Reader
	max int
	buf []byte
}

func newLineReader(src io.Reader, maxLine int) *lineReader {
	return &lineReader{src: bufio.NewReaderSize(src, 64<<10), max: maxLine}
}

// next returns the next line without its line break, which the last line need not have. Of
// a line over the limit it returns the beginning, and cut is true. The line is valid until
// the next call.
//
// Errors: [io.EOF] when there are no more lines, those of the source.
func (r *lineReader) next() (line []byte, cut bool, err error) {
	r.buf = r.buf[:0]
	for {
		part, err := r.src.ReadSlice('\n')
		room := r.max + len("\r\n") - len(r.buf)
		r.buf = append(r.buf, part[:min(len(part), room)]...)
		cut = cut || len(part) > room
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (len(r.buf) == 0 || !errors.Is(err, io.EOF)):
			return nil, false, err
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(r.buf, []byte("\n")), []byte("\r"))
		if len(line) > r.max {
			line, cut = line[:r.max], true
		}
		return line, cut, nil
	}
}
