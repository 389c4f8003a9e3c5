// Package mcptest is for tests: what servers have in common that a test writes to answer
// in a way of their own, a buffer that goroutines share, and checks of what servers say.
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

// patience bounds a wait for a cause; it is never waited out when all is well.
const patience = time.Minute

// Next returns the next value that is wanted, and leaves out those before it.
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
			t.Fatalf("no %T came that is wanted", *new(T))
		}
	}
}

// Fits reports as an error where a value does not fit a JSON Schema.
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
