package session

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"eventdeck/host/wire"
)

func TestBackoff(t *testing.T) {
	r := 0.0
	b := Backoff{Min: time.Second, Max: 10 * time.Second, Rand: func() float64 { return r }}
	for _, want := range []time.Duration{2, 4, 8, 10, 10} {
		r = 1 - 1e-12
		if got := b.Next(nil).Round(time.Millisecond); got != want*time.Second {
			t.Errorf("at most %v, want %v", got, want*time.Second)
		}
	}
	r = 0
	if got := b.Next(nil); got != time.Second {
		t.Errorf("at least %v", got)
	}
	b.Reset()
	r = 0.5
	if got := b.Next(nil); got != 1500*time.Millisecond {
		t.Errorf("after a reset %v", got)
	}
	if got := b.Next(fmt.Errorf("x: %w", &HTTPError{Status: 503, RetryAfter: time.Minute})); got != time.Minute {
		t.Errorf("with Retry-After %v", got)
	}
	var zero Backoff
	if got := zero.Next(nil); got < 500*time.Millisecond || got > time.Second {
		t.Errorf("zero value %v", got)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Duration{
		"5": 5 * time.Second, " 7 ": 7 * time.Second, "-1": 0, "": 0, "soon": 0, "99999999": time.Hour,
		"3599": time.Hour - time.Second, "3600": time.Hour, "3601": time.Hour, strings.Repeat("9", 400): time.Hour, "-" + strings.Repeat("9", 400): 0,
		"1.5": 0, "\x00": 0, "Mon, 99 Foo 2026": 0, "5, 7": 0, now.AddDate(900, 0, 0).Format(http.TimeFormat): time.Hour,
		now.Add(time.Minute).Format(http.TimeFormat): time.Minute,
		now.Add(-time.Hour).Format(http.TimeFormat):  0,
	} {
		if got := retryAfter(in, now); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}

// A refused request may say in its data how long to wait.
func TestRetryAfterOfAnError(t *testing.T) {
	for data, want := range map[string]time.Duration{
		`{"retryAfterMs":20000}`:    20 * time.Second,
		`{"retryAfterMs":99999999}`: time.Hour,
		`{"retryAfterMs":-1}`:       0,
		`{"retryAfterMs":"soon"}`:   0,
		`[]`:                        0,
		``:                          0,
	} {
		err := fmt.Errorf("refused: %w", &wire.Error{Code: -32025, Data: json.RawMessage(data)})
		if got := RetryAfter(err); got != want {
			t.Errorf("%s: %v, want %v", data, got, want)
		}
		if got := (&Backoff{Rand: func() float64 { return 0 }}).Next(err); got != max(want, 500*time.Millisecond) {
			t.Errorf("%s: the pause is %v", data, got)
		}
	}
}

// A callback that cannot be verified waits for an act of the operator: it is not tried again at the
// pace of a network that is back at any moment.
func TestFailedChallengesAreTriedSeldom(t *testing.T) {
	b := Backoff{Rand: func() float64 { return 0 }}
	refused := fmt.Errorf("subscribe: %w", &wire.Error{Code: wire.ProfileSEP.Code(wire.CallbackEndpointError)})
	if got := b.Next(refused); got != 500*time.Millisecond {
		t.Errorf("the first pause is %v", got)
	}
	for range 3 {
		if got := b.Next(refused); got != 30*time.Second {
			t.Errorf("a later pause is %v", got)
		}
	}
	short := Backoff{Min: time.Second, Max: 10 * time.Second, attempts: 1}
	if got := short.Next(refused); got != 10*time.Second {
		t.Errorf("beyond the longest pause: %v", got)
	}
}
