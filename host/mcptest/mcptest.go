// Package mcptest has helpers for tests: the common parts of servers with custom responses,
// a shared buffer, and checks of what servers send.
package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
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

// Read reads a call. ok is false if it has sent the response already: to an invalid call,
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

// Answer sends a response with a member of a JSON-RPC message, "result" or "error".
func (c Call) Answer(w http.ResponseWriter, member string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, c.ID, member)
}

// NoMethod is the response to an unknown method.
const NoMethod = `"error":{"code":-32601,"message":"no such method"}`

// Discovered is the response to server/discover of a server with events.
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

// patience bounds a wait for a cause; a passing test never reaches it.
const patience = time.Minute

// Next waits for the next value that is wanted, and skips those before it.
func Next[T any](t testing.TB, from <-chan T, wanted func(T) bool) T {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case v := <-from:
			if wanted(v) {
				return v
			}
		case <-late:
			t.Fatalf("no wanted %T came", *new(T))
		}
	}
}

// Fits reports an error if a value does not fit a JSON Schema.
func Fits(t testing.TB, what string, schema, value any) {
	t.Helper()
	raw, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(value); err != nil {
		t.Errorf("%s does not fit its schema: %v\n%v", what, err, value)
	}
}
