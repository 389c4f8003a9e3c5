package wire

import (
	"encoding/json"
	"time"

	"eventdeck/host/trust"
)

// SubscribeRequest is the params of events/subscribe.
type SubscribeRequest struct {
	Name      trust.Text
	Arguments json.RawMessage // nil: {}
	At        Position
	URL       string
	Secret    string        // in clear, as it is sent
	TTL       time.Duration // 0: the server decides
	NoExpiry  bool          // ask for no expiry; TTL is ignored

	// Held is the server's id of the subscription to refresh; empty: none. It is not a part
	// of the params.
	Held trust.Text
}

// MarshalJSON writes the params, the secret in clear.
func (r SubscribeRequest) MarshalJSON() ([]byte, error) {
	p := struct {
		subscribing
		Delivery delivery         `json:"delivery"`
		TTL      *json.RawMessage `json:"ttlMs,omitempty"`
	}{
		subscribing: newSubscribing(r.Name, r.Arguments, r.At),
		Delivery:    delivery{Mode: "webhook", URL: r.URL, Secret: r.Secret},
	}
	if r.NoExpiry {
		null := json.RawMessage("null")
		p.TTL = &null
	} else if r.TTL > 0 {
		ms, _ := milliseconds(r.TTL).MarshalJSON()
		p.TTL = (*json.RawMessage)(&ms)
	}
	return Marshal(p)
}

type delivery struct {
	Mode   string `json:"mode"`
	URL    string `json:"url"`
	Secret string `json:"secret,omitempty"`
}

// UnsubscribeRequest is the params of events/unsubscribe.
type UnsubscribeRequest struct {
	Name      trust.Text
	Arguments json.RawMessage // nil: {}
	URL       string
	Held      trust.Text // the server's id of the subscription; not a part of the params
}

// MarshalJSON writes the params, with the delivery's mode and url (field notes 5).
func (r UnsubscribeRequest) MarshalJSON() ([]byte, error) {
	s := newSubscribing(r.Name, r.Arguments, Position{})
	return Marshal(struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Delivery  delivery        `json:"delivery"`
	}{s.Name, s.Arguments, delivery{Mode: "webhook", URL: r.URL}})
}

// SubscribeResult is the result of events/subscribe. Every member may be missing.
type SubscribeResult struct {
	ID            trust.Text
	RefreshBefore time.Time // zero: see Expires
	Expires       bool      // refreshBefore was present and not null; it may still be malformed
	Cursor        Cursor
	Truncated     bool
	Status        *DeliveryStatus // nil if absent

	// Secret is set by dialects in which the server makes the secret. Nil: the held secret
	// stays.
	Secret *GivenSecret
	// Anew says that the server had forgotten the subscription and made another one. Events
	// between them may be missing.
	Anew bool
}

// GivenSecret is a webhook secret that the server made (SEP-1803, WebhookSecret).
type GivenSecret struct {
	Type string // raw, standard or none
	Text string // in clear; empty for none
}

// DeliveryStatus is the server's report on its deliveries.
type DeliveryStatus struct {
	Active         bool
	LastDeliveryAt trust.Text
	LastError      trust.Text
	FailedSince    trust.Text
	Throttled      bool
	RetryAfter     time.Duration
}

// DecodeSubscribe reads the result of events/subscribe. Error: [ErrMalformed].
func DecodeSubscribe(raw json.RawMessage) (SubscribeResult, error) {
	m, err := decodeMembers("the result of events/subscribe", raw)
	if err != nil {
		return SubscribeResult{}, err
	}
	r := SubscribeResult{ID: m.text("id"), Cursor: m.cursor("cursor"), Truncated: m.bool("truncated")}
	r.RefreshBefore, r.Expires = m.time("refreshBefore")
	if s, err := decodeMembers("deliveryStatus", m["deliveryStatus"]); err == nil {
		r.Status = &DeliveryStatus{
			Active:         s["active"] == nil || s.bool("active"),
			LastDeliveryAt: s.text("lastDeliveryAt"),
			LastError:      s.text("lastError"),
			FailedSince:    s.text("failedSince"),
			Throttled:      s.bool("throttled"),
		}
		r.Status.RetryAfter, _ = s.duration("retryAfterMs", time.Millisecond)
	}
	return r, nil
}
