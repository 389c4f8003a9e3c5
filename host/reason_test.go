package host

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

func TestReasonOf(t *testing.T) {
	answered := func(name wire.Name, data string) error {
		return fmt.Errorf("subscribe: %w", &wire.Error{Code: wire.ProfileSEP.Code(name), Message: trust.Untrusted("no"), Data: []byte(data)})
	}
	http := func(status int) error { return fmt.Errorf("poll: %w", &session.HTTPError{Status: status}) }
	for name, tt := range map[string]struct {
		err  error
		want event.Reason
		soon bool // it may go better later
	}{
		"nothing":            {nil, "", false},
		"connection refused": {fmt.Errorf("%w: refused", session.ErrUnreachable), event.ReasonUnreachable, true},
		"connection cut":     {session.ErrCut, event.ReasonUnreachable, true},
		"no answer in time":  {context.DeadlineExceeded, event.ReasonUnreachable, true},
		"certificate":        {fmt.Errorf("%w: %w", session.ErrUnreachable, x509.UnknownAuthorityError{}), event.ReasonTLS, true},
		"callback's":         {answered(wire.CallbackEndpointError, `{"reason":"tls_error"}`), event.ReasonTLS, true},
		"challenge failed":   {answered(wire.CallbackEndpointError, `{"reason":"challenge_failed"}`), event.ReasonChallenge, true},
		"HTTP 401":           {http(401), event.ReasonRights, false},
		"sign-in":            {fmt.Errorf("%w: %w", ErrSignIn, http(401)), event.ReasonSignIn, false},
		"forbidden":          {answered(wire.Forbidden, ""), event.ReasonRights, false},
		"quota":              {answered(wire.ResourceExhausted, ""), event.ReasonQuota, true},
		"HTTP 429":           {http(429), event.ReasonQuota, true},
		"HTTP 503, later":    {&session.HTTPError{Status: 503, RetryAfter: time.Second}, event.ReasonQuota, true},
		"HTTP 503":           {http(503), event.ReasonServerError, true},
		"internal":           {&wire.Error{Code: wire.CodeInternal}, event.ReasonServerError, false},
		"garbage":            {wire.ErrMalformed, event.ReasonServerError, false},
		"full disk":          {fmt.Errorf("the store: %w", event.ErrFull), "", false},
		"paused meanwhile":   {ErrStopped, "", false},
		"no such type":       {fmt.Errorf("%w %q", ErrUnknownType, "x"), "", false},
		"anything else":      {errors.New("EOF"), event.ReasonUnreachable, true},
	} {
		if got := ReasonOf(tt.err); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if got := Transient(tt.err); got != tt.soon {
			t.Errorf("%s: transient %t, want %t", name, got, tt.soon)
		}
	}
}
