package eventserver

import "time"

// Health is how the deliveries of a webhook subscription go, for its deliveryStatus. The zero
// value is that of one which had none. Its owner holds a lock.
type Health struct {
	Suspended    bool
	LastDelivery time.Time
	LastError    string // a category, "" since one was taken
	FailedSince  time.Time
	Failures     int // in a row
}

// minFailures is how many deliveries in a row must fail before a subscription is suspended.
const minFailures = 3

// Note takes in the outcome of a delivery.
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

// Suspend suspends the subscription if enough deliveries in a row failed, the first of them
// at least so long ago. It reports whether that is so.
func (h *Health) Suspend(now time.Time, after time.Duration) bool {
	failing := h.Failures >= minFailures && now.Sub(h.FailedSince) >= after
	h.Suspended = h.Suspended || failing
	return failing
}

// Renew forgets failures, as a refresh does.
func (h *Health) Renew() { h.Suspended, h.Failures, h.FailedSince = false, 0, time.Time{} }

// Status returns the deliveryStatus of SEP-3415. throttled is false: whose receiver asked to be
// left alone changes that.
func (h *Health) Status() map[string]any {
	s := map[string]any{"active": !h.Suspended, "lastDeliveryAt": moment(h.LastDelivery), "lastError": nil,
		"failedSince": moment(h.FailedSince), "throttled": false}
	if h.LastError != "" {
		s["lastError"] = h.LastError
	}
	return s
}

// moment returns a time as messages have it; the zero time is null.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}
