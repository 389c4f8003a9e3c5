package eventserver

import "time"

// Health is the success of the deliveries of a webhook subscription, for its deliveryStatus. The
// zero value is that of a subscription without deliveries. The caller synchronizes access.
type Health struct {
	Suspended    bool
	LastDelivery time.Time
	LastError    string // a category, "" after a success
	FailedSince  time.Time
	Failures     int // in a row
}

// minFailures is how many deliveries in a row must fail before a subscription is suspended.
const minFailures = 3

// Note counts the outcome of a delivery.
func (h *Health) Note(o Outcome, now time.Time) {
	if o.OK {
		h.LastDelivery, h.LastError = now, ""
		h.FailedSince, h.Failures = time.Time{}, 0
		return
	}
	h.LastError = o.Category
	h.Failures++
	if h.FailedSince.IsZero() {
		h.FailedSince = now
	}
}

// Suspend suspends the subscription if minFailures deliveries in a row failed, the first of them at
// least after ago. It reports whether that is so.
func (h *Health) Suspend(now time.Time, after time.Duration) bool {
	failing := h.Failures >= minFailures && now.Sub(h.FailedSince) >= after
	h.Suspended = h.Suspended || failing
	return failing
}

// Renew forgets failures, as a refresh does.
func (h *Health) Renew() { h.Suspended, h.Failures, h.FailedSince = false, 0, time.Time{} }

// Status returns the deliveryStatus of SEP-3415. throttled is false; a server that respects
// Retry-After sets it.
func (h *Health) Status() map[string]any {
	s := map[string]any{"active": !h.Suspended, "lastDeliveryAt": moment(h.LastDelivery), "lastError": nil,
		"failedSince": moment(h.FailedSince), "throttled": false}
	if h.LastError != "" {
		s["lastError"] = h.LastError
	}
	return s
}

// moment returns a time in the format of messages; the zero time is null.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}
