// Package mcptest is for tests: what servers have in common that a test writes to answer
// in a way of their own, and a buffer that goroutines share.
package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Call is a request to a server over HTTP.
type Call struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Arguments json.RawMessage
		Cursor    json.RawMessage
		Delivery  struct{ URL, Secret string }
		URIs      []string
	}
	Body []byte `json:"-"` // all of it
}

// Read reads a call. ok is false where the answer is given already: to what is no call,
// and to a notification.
func Read(w http.ResponseWriter, r *http.Request) (c Call, ok bool) {
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil || r.Method != http.MethodPost || json.Unmarshal(body, &c) != nil:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case len(c.ID) == 0:
		w.WriteHeader(http.StatusAccepted)
	default:
		c.Body = body
		return c, true
	}
	return c, false
}

// Answer answers with a member of a JSON-RPC message, "result" or "error".
func (c Call) Answer(w http.ResponseWriter, member string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, c.ID, member)
}

// NoMethod is the answer to a method that a server does not have.
const NoMethod = `"error":{"code":-32601,"message":"no such method"}`

// Discovered is the answer to server/discover of a server that has events.
func Discovered(name string) string {
	return fmt.Sprintf(`"result":{"supportedVersions":["2026-07-28"],"capabilities":{"events":{}},"serverInfo":{"name":%q,"version":"1"}}`, name)
}

// Buffer is a [bytes.Buffer] that several goroutines may write to.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements [io.Writer].
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns what was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
