package acp

import (
	"fmt"

	"eventdeck/host/trust"
)

// text keeps the beginning and the end of a text, and counts it.
type text struct {
	head, tail []byte
	bytes      int64
}

func (t *text) add(s string) {
	t.bytes += int64(len(s))
	room := min(maxEnd-len(t.head), len(s))
	t.head = append(t.head, s[:room]...)
	s = s[room:]
	t.tail = append(t.tail, s[max(0, len(s)-maxEnd):]...)
	if len(t.tail) > 2*maxEnd {
		t.tail = append(t.tail[:0], t.tail[len(t.tail)-maxEnd:]...)
	}
}

// whole returns the text, with a note where its middle is missing.
func (t *text) whole() trust.Text {
	tail := t.tail[max(0, len(t.tail)-maxEnd):]
	missing := t.bytes - int64(len(t.head)+len(tail))
	if missing <= 0 {
		return trust.Untrusted(string(t.head) + string(tail))
	}
	return trust.Untrusted(fmt.Sprintf("%s\n[%d bytes are left out]\n%s", t.head, missing, tail))
}
