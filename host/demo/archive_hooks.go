package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventserver"
	"eventdeck/host/internal/pause"
	"eventdeck/host/wire"
)

// registration is one webhook: its event resources, its callback and its secret.
type registration struct {
	uris   []string
	target string
	secret event.Secret
	cancel context.CancelFunc
}

// The shortest and the longest wait between the tries of a delivery, and how long it is tried.
const (
	archiveRetry    = 500 * time.Millisecond
	archiveLongest  = 5 * time.Second
	archivePatience = 10 * time.Minute
)

// register makes a registration and begins to deliver. The server makes the secret, and tells it
// only in the response.
func (a *Archive) register(params json.RawMessage) (map[string]any, *eventserver.Refusal) {
	var p struct {
		URIs   []string `json:"uris"`
		Target string   `json:"targetUri"`
	}
	if f := eventserver.Decode(params, &p); f != nil {
		return nil, f
	}
	if u, err := url.Parse(p.Target); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, eventserver.BadParam("targetUri", "targetUri must be an https URL")
	}
	if len(p.URIs) == 0 || len(p.URIs) > 16 {
		return nil, eventserver.BadParam("uris", "uris must name 1 to 16 event resources")
	}
	for _, uri := range p.URIs {
		if _, _, ok := a.resource(uri); !ok {
			return nil, eventserver.BadParam("uris", "no such event resource: "+uri)
		}
	}
	secret, err := event.NewWebhookSecret(a.opts.Random)
	if err != nil {
		return nil, eventserver.Refuse(wire.InternalError, "no randomness", nil)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over || len(a.registrations) >= maxRegistrations {
		return nil, eventserver.Refuse(wire.ResourceExhausted, "too many registrations", map[string]any{"limit": maxRegistrations})
	}
	a.registered++
	uri := fmt.Sprintf("subscription://archive/%s/%d", a.run, a.registered)
	ctx, cancel := context.WithCancel(a.ctx)
	r := &registration{uris: p.URIs, target: p.Target, secret: secret, cancel: cancel}
	a.registrations[uri] = r
	for _, one := range p.URIs {
		f, args, _ := a.resource(one)
		from := f.count(time.Now())
		a.workers.Go(func() {
			follow(ctx, f, from, args, func(n uint64) bool { return a.deliver(ctx, uri, r, one, eventAt(f, n)) })
		})
	}
	return map[string]any{"subscription": map[string]any{
		"uri": uri, "eventUris": p.URIs, "targetUri": p.Target,
		"webhookSecret": map[string]any{"type": "standard", "key": secret.Reveal()},
	}}, nil
}

// deliver tries one event until it is delivered. It returns false when the registration is over.
func (a *Archive) deliver(ctx context.Context, uri string, r *registration, resource string, h decodedEvent) bool {
	kind := kindFiled
	if resource == archiveTick {
		kind = "load.tick"
	}
	body, err := json.Marshal(map[string]any{"type": kind, "timestamp": h.Timestamp, "data": h.Data})
	if err != nil {
		return true // an event that cannot be encoded is skipped
	}
	began := time.Now()
	for wait := archiveRetry; ; wait = min(2*wait, archiveLongest) {
		o := a.sender.Send(ctx, eventserver.Delivery{URL: r.target, SubID: uri, WebhookID: h.EventID, Body: body, Secrets: []event.Secret{r.secret}})
		switch {
		case o.OK:
			return true
		case o.Final, time.Since(began) > archivePatience:
			a.drop(uri)
			return false
		}
		if pause.For(ctx, max(wait, o.Wait)) != nil {
			return false
		}
	}
}

func (a *Archive) drop(uri string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.registrations[uri]
	if r == nil {
		return false
	}
	r.cancel()
	delete(a.registrations, uri)
	return true
}

func (a *Archive) deregister(params json.RawMessage) (map[string]any, *eventserver.Refusal) {
	uri, f := decodeURI(params)
	if f != nil {
		return nil, f
	}
	if !a.drop(uri) {
		return nil, eventserver.Refuse(wire.NotFound, "no such subscription", map[string]any{"kind": "subscription"})
	}
	return map[string]any{}, nil
}
