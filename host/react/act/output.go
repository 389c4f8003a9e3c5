package act

import (
	"encoding/json"
	"io"
	"sync"

	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// maxEnd is how many bytes of an output are kept at each end.
const maxEnd = 32 << 10

// maxResult is the largest size of a stored result, in bytes. Binary output is stored in several
// times its length.
const maxResult = 512 << 10

// fit shortens the output of a result until the result can be stored.
func fit(result react.Result) react.Result {
	for {
		text, err := json.Marshal(result)
		if err != nil || len(text) <= maxResult {
			return result
		}
		for _, s := range []*react.Stream{&result.Output.Stdout, &result.Output.Stderr} {
			head, tail := s.Head.Raw(), s.Tail.Raw()
			s.Head, s.Tail = trust.Untrusted(head[:len(head)/2]), trust.Untrusted(tail[len(tail)-len(tail)/2:])
		}
	}
}

// capture is a writer that keeps the first and the last bytes, and counts all. It may be read
// from any goroutine.
type capture struct {
	mu    sync.Mutex
	head  []byte
	tail  []byte // the newest maxEnd bytes behind head, from at on
	at    int
	bytes int64
}

var _ io.Writer = (*capture)(nil)

// Write implements [io.Writer].
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.bytes += int64(n)
	room := min(maxEnd-len(c.head), n)
	c.head = append(c.head, p[:room]...)
	p = p[room:]
	p = p[max(0, len(p)-maxEnd):]
	for len(p) > 0 {
		if len(c.tail) < maxEnd {
			room = min(maxEnd-len(c.tail), len(p))
			c.tail = append(c.tail, p[:room]...)
		} else {
			room = copy(c.tail[c.at:], p)
			c.at = (c.at + room) % maxEnd
		}
		p = p[room:]
	}
	return n, nil
}

// stream returns what was kept.
func (c *capture) stream() react.Stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := append(append([]byte{}, c.tail[c.at:]...), c.tail[:c.at]...)
	return react.Stream{Head: trust.Untrusted(string(c.head)), Tail: trust.Untrusted(string(tail)), Bytes: c.bytes}
}
