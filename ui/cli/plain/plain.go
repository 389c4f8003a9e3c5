// Package plain makes lines of text for a person: untrusted words that cannot act on a
// terminal, folded to its width, records of the log, tables.
package plain

import (
	"strings"

	"eventdeck/host/redact"
	"eventdeck/host/trust"
)

// Message returns err as one line that cannot act on a terminal and shows nothing that looks
// like a secret, whatever the origin of its words.
func Message(err error) string {
	text := strings.TrimSpace(err.Error())
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\n", "; ")
	var shapes *redact.Set
	return Safe(shapes.String(text))
}

// Text renders a text of a server for one line.
func Text(t trust.Text) string { return trust.Line(t).Plain() }

// JSON renders JSON of a server for one line.
func JSON(raw []byte) string {
	var b strings.Builder
	for _, line := range trust.Detail(raw, nil, 0) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strings.TrimLeft(line.Plain(), " "))
	}
	return b.String()
}

// Safe is Text for a text of the operator, which may have been pasted.
func Safe(s string) string { return Text(trust.Unescaped(s)) }
