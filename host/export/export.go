// Package export writes records of the log for other programs, and reads its own
// lines back.
//
// Records contain text of servers. The output is safe for terminals: unsafe characters are
// escaped as in JSON strings. It is also safe in a spreadsheet: see [Options.Columns].
package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"eventdeck/host/event"
)

// Format is the format of an export.
type Format string

// The formats.
const (
	NDJSON      Format = "ndjson"      // one line of JSON per record: see [AppendLine]
	CSV         Format = "csv"         // RFC 4180, with a header
	CloudEvents Format = "cloudevents" // CloudEvents 1.0, one line of JSON per record
)

// Formats returns all formats.
func Formats() []Format { return []Format{NDJSON, CSV, CloudEvents} }

// ErrFormat: there is no such format or column; the text names the existing ones.
var ErrFormat = errors.New("cannot be exported")

// Options select what is written.
type Options struct {
	Format Format

	// Raw adds the exact bytes to each line of [NDJSON], as base64. Only such a file can be
	// read back unchanged: see [Read].
	Raw bool

	// Columns are those of [CSV]: names of members of an NDJSON line, and paths into
	// payloads as in the filter language, like .severity. None means [DefaultColumns]. A
	// cell that begins with = + - or @ and is not a number gets a quote mark in front, so
	// that no spreadsheet evaluates it.
	Columns []string
}

// Writer writes records. It is buffered: call [Writer.Flush] at the end.
type Writer struct {
	out     *bufio.Writer
	format  Format
	raw     bool
	columns []column
	line    []byte
}

// NewWriter returns a writer to w.
//
// Errors: [ErrFormat], those of w.
func NewWriter(w io.Writer, o Options) (*Writer, error) {
	x := &Writer{out: bufio.NewWriterSize(w, 64<<10), format: o.Format, raw: o.Raw}
	if len(o.Columns) > 0 && o.Format != CSV {
		return nil, fmt.Errorf("columns %w as %s; they are for csv", ErrFormat, o.Format)
	}
	if o.Raw && o.Format != NDJSON {
		return nil, fmt.Errorf("exact bytes %w as %s; they are for ndjson", ErrFormat, o.Format)
	}
	switch o.Format {
	case NDJSON, CloudEvents:
		return x, nil
	case CSV:
		var err error
		if x.columns, err = parseColumns(o.Columns); err != nil {
			return nil, err
		}
		for i, c := range x.columns {
			x.line = appendCell(x.line, i, c.name)
		}
		return x, x.end()
	}
	var names []string
	for _, f := range Formats() {
		names = append(names, string(f))
	}
	return nil, fmt.Errorf("%q %w; there are %s", o.Format, ErrFormat, strings.Join(names, ", "))
}

// Write writes one record.
func (x *Writer) Write(r *event.Record) error {
	x.line = x.line[:0]
	switch x.format {
	case CSV:
		for i := range x.columns {
			x.line = appendCell(x.line, i, x.columns[i].text(r))
		}
		return x.end()
	case CloudEvents:
		x.line = AppendCloudEvent(x.line, r)
	default:
		x.line = AppendLine(x.line, r, x.raw)
	}
	_, err := x.out.Write(x.line)
	return err
}

// end writes a row of cells.
func (x *Writer) end() error {
	_, err := x.out.Write(append(x.line, "\r\n"...))
	return err
}

// Flush writes the buffer.
func (x *Writer) Flush() error { return x.out.Flush() }
