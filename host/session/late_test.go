package session

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"eventdeck/host/event"
)

// A server that takes the connection and stays silent, as a stopped process does, is told in
// plain words.
func TestDialingASilentServerEndsInPlainWords(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	for _, scheme := range []string{"ws", "http"} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := Dial(ctx, event.Server{Name: "a", URL: scheme + "://" + listener.Addr().String()}, Options{})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnreachable) {
			t.Errorf("%s: the error is %v", scheme, err)
		} else if text := err.Error(); text == context.DeadlineExceeded.Error() {
			t.Errorf("%s: the error is raw: %s", scheme, text)
		}
	}
}
