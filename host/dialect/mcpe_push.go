package dialect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Stream adopts the subscription that the server holds for the arguments, or makes one.
func (t *tools) Stream(ctx context.Context, r wire.StreamRequest, sink func(wire.Note)) (Stream, error) {
	q, err := t.requestFor(r.Arguments)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", wire.ErrUnacceptable, err)
	}
	h := newNoteStream(ctx, t.pulse, sink)
	if err := h.openErr(); err != nil {
		h.cancel(err)
		return nil, err
	}
	t.opening.Lock()
	defer t.opening.Unlock()
	t.await(1)
	defer t.await(-1)
	held, err := t.takeUp(h.ctx, q, r.Held.Raw())
	if err != nil {
		h.cancel(err)
		return nil, named(err)
	}
	id := held.ID
	if q.ExpiresAt == "" && held.ExpiresAt != "" && t.canRenew(h.ctx) {
		h.renewAfter = t.renewal(held.ExpiresAt)
		h.renew = func(ctx context.Context) time.Duration { return t.renewLease(ctx, id, q) }
	}
	h.mu.Lock() // later notes wait for the early ones
	t.mu.Lock()
	t.byID[id] = h
	early := t.early
	t.mu.Unlock()
	h.sink(wire.Note{Method: wire.NoteActive, ServerID: trust.Untrusted(id)})
	for _, e := range early {
		if e.id != id {
			continue
		}
		for _, n := range translate(e.n.Method, e.n.Params, t.opts) {
			h.sink(n)
		}
	}
	h.mu.Unlock()
	h.begin(func(context.Context) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.byID[id] == h {
			delete(t.byID, id)
		}
	})
	return h, nil
}

// requestFor returns the request for the arguments. Error: [ErrArguments].
func (t *tools) requestFor(args json.RawMessage) (request, error) {
	w, err := readStreamArgs(args)
	if len(w.Channels) == 0 {
		w.Channels = t.can.channels[:1]
	}
	return w.request(), err
}

// Preview implements [Previewer].
func (t *tools) Preview(asked any) (string, json.RawMessage, error) {
	r, ok := asked.(wire.StreamRequest)
	if !ok {
		return "", nil, fmt.Errorf("%w of a %T in %s", ErrNoPreview, asked, MCPE)
	}
	q, err := t.requestFor(r.Arguments)
	if err != nil {
		return "", nil, err
	}
	raw, err := json.Marshal(toolCall{wire.ToolSubscribe, q})
	return methodCall, raw, err
}

// await adds n to the subscriptions being opened. Once there are none, early notifications
// are dropped.
func (t *tools) await(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.awaiting += n; t.awaiting == 0 {
		t.early, t.bytes = nil, 0
	}
}

// takeUp returns a matching subscription of the server: the held one, another one without a stream
// here, or a new one. Where the operator set no end and the server can move it, one that is new or
// was held gets an end, to be renewed: it does not stay on the server when this host is gone. One
// without an end that another client may have made keeps none.
func (t *tools) takeUp(ctx context.Context, q request, held string) (kept, error) {
	lease := q
	if q.ExpiresAt == "" && t.canRenew(ctx) {
		lease.ExpiresAt = t.leaseEnd(q)
	}
	list, err := t.listKept(ctx)
	if err != nil && wire.NameFrom(err) == "" && !errors.Is(err, wire.ErrUnacceptable) && !errors.Is(err, wire.ErrMalformed) {
		return kept{}, err // the connection failed, not the tool
	}
	list = slices.DeleteFunc(list, func(k kept) bool { return k.Status == "expired" || t.taken(k.ID) })
	at := slices.IndexFunc(list, func(k kept) bool { return held != "" && k.ID == held })
	if at < 0 {
		at = slices.IndexFunc(list, func(k kept) bool { return k.same(q) })
	}
	if at < 0 {
		return t.subscribe(ctx, lease)
	}
	k := list[at]
	if k.ExpiresAt == "" && k.ID != held {
		lease = q
	}
	err = t.adopt(ctx, k, lease)
	k.ExpiresAt = cmp.Or(lease.ExpiresAt, k.ExpiresAt)
	return k, err
}

// Leases of subscriptions: what is delivered at once is of no use to a host that is away for
// longer; a server holds what is scheduled.
const (
	realtimeLease  = time.Hour
	scheduledLease = 7 * 24 * time.Hour
)

// leaseEnd returns the end of a lease that begins now.
func (t *tools) leaseEnd(q request) string {
	lease := t.opts.Lease
	if q.Delivery.Cron != nil || q.Delivery.Scheduled != nil {
		lease *= scheduledLease / realtimeLease
	}
	return t.opts.Now().Add(lease).UTC().Format(time.RFC3339)
}

// renewal returns after which time a lease is renewed: a good share of what is left of it.
func (t *tools) renewal(expiresAt string) time.Duration {
	end, ok := trust.Untrusted(expiresAt).Time()
	if !ok {
		return t.opts.Lease / 2
	}
	return max(end.Sub(t.opts.Now())*7/10, t.opts.Lease/100)
}

// errLapsed: the server ended a subscription that was to be renewed.
var errLapsed = errors.New("the server ended the subscription before it was renewed")

// renewLease moves the end of a subscription, and returns after which time to do so again.
func (t *tools) renewLease(ctx context.Context, id string, q request) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, 2*t.opts.Pulse)
	defer cancel()
	end := t.leaseEnd(q)
	raw, err := t.call(ctx, wire.ToolUpdate, map[string]any{"subscriptionId": id, "expiresAt": end})
	if err != nil && !errors.Is(err, wire.ErrMalformed) {
		t.opts.Log.Warn("a subscription was not renewed; it is tried again", "id", trust.Untrusted(id), "err", err)
		return t.opts.Lease / 20
	}
	return t.renewal(cmp.Or(readKept(raw).ExpiresAt, end))
}

// canRenew reports whether the server can move the end of a subscription.
func (t *tools) canRenew(ctx context.Context) bool {
	t.mu.Lock()
	renews := t.renews
	t.mu.Unlock()
	if renews != nil {
		return *renews
	}
	found, err := t.find(ctx)
	if err != nil {
		t.opts.Log.Debug("the tools are not listed; subscriptions are made without an end", "err", err)
	}
	return found[wire.ToolUpdate]
}

func (t *tools) taken(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id] != nil
}

// adopt updates and resumes a subscription so that it delivers what q requests.
func (t *tools) adopt(ctx context.Context, k kept, q request) error {
	if !k.same(q) || q.ExpiresAt != "" && k.ExpiresAt != q.ExpiresAt {
		change := map[string]any{"subscriptionId": k.ID}
		if !k.same(q) { // else it stays as it is: a server may begin anew with what is set
			change["filter"], change["delivery"] = q.Filter, q.Delivery
		}
		if q.ExpiresAt != "" {
			change["expiresAt"] = q.ExpiresAt
		}
		if _, err := t.call(ctx, wire.ToolUpdate, change); err != nil && !errors.Is(err, wire.ErrMalformed) {
			return err
		}
	}
	if k.Status == "paused" {
		return t.byName(ctx, wire.ToolResume, trust.Untrusted(k.ID))
	}
	return nil
}

func (t *tools) subscribe(ctx context.Context, q request) (kept, error) {
	raw, err := t.call(ctx, wire.ToolSubscribe, q)
	if errors.Is(err, wire.ErrMalformed) {
		err = fmt.Errorf("%w: %w", wire.ErrUnacceptable, err) // a retry would make another subscription
	}
	if err != nil {
		return kept{}, err
	}
	k := readKept(raw)
	if k.ID == "" {
		return k, &toolError{wire.ToolSubscribe, trust.Untrusted("it named no subscription")}
	}
	k.ExpiresAt = cmp.Or(k.ExpiresAt, q.ExpiresAt)
	return k, nil
}

// schema returns the JSON Schema of the arguments that the server supports.
func (a filterAbilities) schema() json.RawMessage {
	type object = map[string]any
	list := func(item object, about string) object {
		return object{"type": "array", "items": item, "uniqueItems": true, "description": about}
	}
	text := func(about string) object { return object{"type": "string", "description": about} }
	pattern := object{"type": "string", "minLength": 1}
	about := "Event types, any of them, e.g. github.push"
	if a.wildcards {
		about += " or github.*"
	} else {
		pattern["pattern"] = `^[^*]+$`
	}
	channels := list(object{"enum": a.channels}, "How events are delivered")
	channels["default"], channels["minItems"] = a.channels[:1], 1
	properties := object{
		"eventTypes": list(pattern, about),
		"tags":       list(object{"type": "string", "minLength": 1}, "Tags, any of them"),
		"priority":   list(object{"enum": priorities()}, "Priorities, any of them"),
		"channels":   channels,
		"expiresAt":  object{"type": "string", "format": "date-time", "description": "When the subscription ends"},
		"serverSideHandler": object{"type": "object", "required": []string{"type"},
			"description": "Runs ON THE SERVER for each event: a bash command, an agent or a webhook. Nothing runs there without it.",
			"properties":  object{"type": object{"enum": []string{"bash", "agent", "webhook"}}}},
	}
	cronned, scheduled := slices.Contains(a.channels, wire.ChannelCron), slices.Contains(a.channels, wire.ChannelScheduled)
	if cronned {
		properties["cronExpression"] = text("Channel cron: minute hour day month weekday, e.g. 0 9 * * 1-5")
		properties["maxEventsPerDelivery"] = object{"type": "integer", "minimum": 1, "description": "Channel cron: the most events of a delivery"}
	}
	if scheduled {
		properties["deliverAt"] = object{"type": "string", "description": "Channel scheduled: when, e.g. 2026-12-24T18:00:00Z"}
		properties["description"] = text("Channel scheduled: what the delivery is for")
		properties["autoExpire"] = object{"type": "boolean", "description": "Channel scheduled: end after the delivery"}
	}
	if cronned || scheduled {
		properties["timezone"] = text("IANA time zone, e.g. Europe/Berlin; UTC if none is named")
		properties["aggregateEvents"] = object{"type": "boolean", "description": "Channels cron and scheduled: all events in one batch"}
	}
	raw, err := json.Marshal(object{"type": "object", "properties": properties, "additionalProperties": false})
	if err != nil {
		return nil // strings and lists can always be encoded
	}
	return raw
}

// defaultChannels returns the channels that a schema names as default.
func defaultChannels(schema json.RawMessage) []string {
	var s struct {
		Properties struct {
			Channels struct{ Default []string }
		}
	}
	_ = json.Unmarshal(schema, &s) // malformed: none
	return s.Properties.Channels.Default
}
