package model

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
)

// StatusError is an HTTP status without an answer. It is an [ErrRefused] if the status says that
// the call was not carried out, otherwise an [ErrUnknown].
type StatusError struct {
	Status int
	Says   trust.Text    // beginning of the provider's message, without the key
	After  time.Duration // wait before asking again, as the provider demands; 0: none
}

// Error returns the status, what to do about it, and the provider's message.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("HTTP %d", e.Status)
	if what := e.advice(); what != "" {
		text += ": " + what
	}
	if !e.Says.IsZero() {
		text += fmt.Sprintf("; it says: %v", e.Says)
	}
	return text
}

// Busy reports whether the provider is overloaded: the same call may be sent again later.
func (e *StatusError) Busy() bool {
	return e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable || e.Status == overloaded
}

// overloaded is a status that Anthropic defines.
const overloaded = 529

// Unwrap returns [ErrRefused] or [ErrUnknown].
func (e *StatusError) Unwrap() error {
	switch s := e.Status; {
	case s == http.StatusRequestTimeout:
		return ErrUnknown
	case s >= 300 && s < 500, s == http.StatusNotImplemented, s == http.StatusServiceUnavailable, s == overloaded:
		return ErrRefused
	}
	return ErrUnknown
}

func (e *StatusError) advice() string {
	switch s := e.Status; {
	case s >= 300 && s < 400:
		return "a redirect, which is not followed; write the address to which it leads"
	case s == http.StatusBadRequest, s == http.StatusUnprocessableEntity:
		return "it does not take the call; does it know the model, tools and streaming?"
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		return "it does not accept the key"
	case s == http.StatusPaymentRequired:
		return "it wants to be paid"
	case s == http.StatusNotFound:
		return "it has no such address or model; look at \"url\" and \"model\""
	case s == http.StatusRequestEntityTooLarge:
		return "the call is too large for it"
	case s == http.StatusTooManyRequests:
		return "too many calls, or no credit is left"
	case s >= 500:
		return "it has a fault of its own; try again later"
	}
	return ""
}

// maxRetryAfter is the longest wait that a provider may demand.
const maxRetryAfter = time.Hour

// retryAfter reads a number of seconds, as all providers write it.
func retryAfter(text string) time.Duration {
	seconds, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}

// maxSays is how many bytes of a provider's error message are kept.
const maxSays = 500

// errorText returns the message in the body of an error response: JSON with a member "error" or
// "message" in one of the usual shapes, or a text.
func errorText(raw []byte) string {
	text := strings.TrimSpace(string(raw))
	for range 3 {
		members, err := strict.ParseObject([]byte(text), limits)
		if err != nil {
			break
		}
		inner := ""
		for _, m := range members {
			if key := m.Key.Raw(); key == "error" || key == "message" || key == "detail" && inner == "" {
				if t, ok := m.Text(); ok {
					inner = t.Raw()
				} else {
					inner = string(m.Value)
				}
				if key == "message" {
					break
				}
			}
		}
		if inner == "" {
			break
		}
		text = inner
	}
	if len(text) > maxSays {
		text = strings.ToValidUTF8(text[:maxSays], "") + "…"
	}
	return text
}
