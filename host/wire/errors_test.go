package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"eventdeck/host/trust"
)

// The name and reason of an error are read back from its text: only that is stored.
func TestErrorsAreReadBackFromTheirText(t *testing.T) {
	refused := failure(t, CallbackEndpointError, `{"reason":"tls_error"}`)
	for _, tt := range []struct {
		err    error
		name   Name
		reason string
	}{
		{refused, CallbackEndpointError, "tls_error"},
		{fmt.Errorf("events/subscribe: %w", refused), CallbackEndpointError, "tls_error"},
		{failure(t, ResourceExhausted, `{"limit":"subscriptions"}`), ResourceExhausted, ""},
		{errors.New("the callback (reason tls_error)"), "", ""},
	} {
		if name, reason := FromText(tt.err.Error()); name != tt.name || reason != tt.reason {
			t.Errorf("%v: %q, %q", tt.err, name, reason)
		}
	}
}

// failure returns an error of a name, with a server's words.
func failure(t *testing.T, name Name, data string) *Error {
	t.Helper()
	for code := -32100; code < -32000; code++ {
		if NameOf(code) == name {
			return &Error{Code: code, Message: trust.Untrusted("no (really)"), Data: json.RawMessage(data)}
		}
	}
	t.Fatalf("no code of %s", name)
	return nil
}
