package dialect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/host/wire"
)

// SEP1803 is the name of event subscriptions over resources.
const SEP1803 = "SEP-1803"

// Methods and notifications of SEP-1803 and of the resources it stands on.
const (
	methodResources   = "resources/list"
	methodTemplates   = "resources/templates/list"
	methodRead        = "resources/read"
	methodSubscribe   = "resources/subscribe"
	methodUnsubscribe = "resources/unsubscribe"
	methodRegister    = "resources/subscriptions/register"
	methodDeregister  = "resources/subscriptions/deregister"

	noteUpdated   = "notifications/resources/updated"
	noteResources = "notifications/resources/list_changed"
)

const (
	eventScheme        = "event://"
	subscriptionScheme = "subscription://"
)

// resources is SEP-1803 on one connection: event types are event:// resources,
// subscriptions are subscription:// resources.
type resources struct {
	pushOnly  // except for webhooks
	s         *session.Session
	opts      Options
	can       resourceAbilities
	addresses *addresses

	mu       sync.Mutex
	unlisted map[trust.Text]bool // registrations that the server made but does not list
}

func sep1803() Kind {
	return Kind{
		Name:         SEP1803,
		Speaks:       func(i session.Info) bool { return resourceAbilitiesOf(i).any() },
		On:           newResources,
		Check:        checkTemplate,
		Read:         readResourceDelivery,
		ServerSecret: true,
	}
}

func newResources(s *session.Session, o Options) Dialect {
	r := &resources{pushOnly: SEP1803, s: s, opts: o, can: resourceAbilitiesOf(s.Info()), unlisted: map[trust.Text]bool{}}
	r.addresses = newAddresses(s, o, r.occurrence)
	return r
}

// resourceAbilities is what capabilities.resources says about events.
type resourceAbilities struct {
	events, inBand, webhook bool
}

func (a resourceAbilities) any() bool { return a.events || a.webhook }

func resourceAbilitiesOf(i session.Info) (a resourceAbilities) {
	var p struct {
		Capabilities struct {
			Resources map[string]json.RawMessage
		}
	}
	if json.Unmarshal(i.Raw, &p) != nil {
		return a
	}
	r := p.Capabilities.Resources
	var ways []trust.Text
	// A member of another type counts as absent.
	_ = json.Unmarshal(r["events"], &a.events)
	_ = json.Unmarshal(r["subscribe"], &a.inBand)
	_ = json.Unmarshal(r["subscription"], &ways)
	for _, w := range ways {
		switch w.Raw() {
		case "webhook":
			a.webhook = true
		case "notification":
			a.inBand = true
		}
	}
	return a
}

func (r *resources) Owns(name trust.Text) bool { return strings.HasPrefix(name.Raw(), eventScheme) }

// List returns the event:// resources and templates.
func (r *resources) List(ctx context.Context) ([]event.Type, SkippedTypes, error) {
	var types []event.Type
	var skipped SkippedTypes
	answered := false
	var short error
	for _, list := range []struct{ method, member, address string }{
		{methodResources, "resources", "uri"}, {methodTemplates, "resourceTemplates", "uriTemplate"},
	} {
		items, err := pages(ctx, r.s, r.opts, list.method, list.member, math.MaxInt)
		if unknownMethod(err) {
			continue
		}
		if errors.Is(err, ErrPartial) {
			short = err
		} else if err != nil {
			return nil, SkippedTypes{}, err
		}
		answered = true
		for i, item := range items {
			t, isEvent, err := r.eventType(item, list.address)
			switch {
			case err != nil:
				skipped.Count++
				skipped.tell("%s, descriptor %d: %v", list.method, i+1, err)
				r.opts.Log.Warn("an event resource is malformed and hidden", "method", list.method, "err", err)
			case isEvent && len(types) < r.opts.types:
				types = append(types, t)
			case isEvent:
				short = (&listing{opts: r.opts}).enough(len(types))
			}
		}
	}
	if !answered {
		return nil, SkippedTypes{}, fmt.Errorf("%w, nor any method of resources", ErrNoEvents)
	}
	return types, skipped, short
}

// pages returns the items of a list, page after page until there are enough.
//
// Errors: those of the server; [ErrPartial] with the items read so far.
func pages(ctx context.Context, s *session.Session, o Options, method, member string, enough int) ([]json.RawMessage, error) {
	var items []json.RawMessage
	seen := map[string]bool{}
	params := map[string]string{}
	read := listing{opts: o}
	for {
		raw, err := s.Call(ctx, method, params)
		if err != nil {
			return nil, named(err)
		}
		read.page(raw)
		var page map[string]json.RawMessage
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, fmt.Errorf("%w: the result of %s", wire.ErrMalformed, method)
		}
		var list []json.RawMessage
		_ = json.Unmarshal(page[member], &list) // anything else is an empty list
		items = append(items, list...)
		var next string
		if json.Unmarshal(page["nextCursor"], &next) != nil || next == "" || seen[next] || len(items) > enough {
			return items, nil
		}
		if err := read.full(); err != nil {
			return items, err
		}
		seen[next] = true
		params["cursor"] = next
	}
}

// eventType reads a descriptor. isEvent is false for other resources.
func (r *resources) eventType(raw json.RawMessage, member string) (t event.Type, isEvent bool, err error) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return t, false, errors.New("a descriptor is not an object")
	}
	var where trust.Text
	if json.Unmarshal(m[member], &where) != nil || where.IsZero() {
		return t, false, fmt.Errorf("a descriptor without %s", member)
	}
	if !strings.HasPrefix(where.Raw(), eventScheme) {
		return t, false, nil
	}
	var meta map[string]json.RawMessage
	_ = json.Unmarshal(m["_meta"], &meta) // without it there are no schemas
	t = event.Type{
		Name: where, Title: firstText(m["title"], m["name"]), Description: firstText(m["description"]),
		PayloadSchema: schemaOf(meta["eventSchema"]), Cursorless: true, Dialect: SEP1803,
	}
	if t.InputSchema, err = templateSchema(where.Raw(), schemaOf(meta["paramsSchema"]), member == "uriTemplate"); err != nil {
		return t, false, err
	}
	if r.can.inBand {
		t.Modes = append(t.Modes, event.ModePush)
	}
	if r.can.webhook {
		t.Modes = append(t.Modes, event.ModeWebhook)
	}
	return t, true, nil
}

// firstText returns the first value that is a non-empty string.
func firstText(list ...json.RawMessage) trust.Text {
	for _, raw := range list {
		var text trust.Text
		if json.Unmarshal(raw, &text) == nil && !text.IsZero() {
			return text
		}
	}
	return trust.Text{}
}

// schemaOf returns raw if it is an object, nil otherwise.
func schemaOf(raw json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return nil
	}
	return raw
}

// Note routes a notification of the general stream to its addresses.
func (r *resources) Note(n wire.Note) (relist bool) { return r.addresses.note(n) }

// update is the params of notifications/resources/updated.
type update struct {
	uri     trust.Text
	payload json.RawMessage // a part of the params; nil if absent
	meta    json.RawMessage // see [wire.OwnMeta]
}

func readUpdate(params json.RawMessage) (u update, err error) {
	members, err := strict.ParseObject(params, strict.Limits{})
	if err != nil {
		return u, err
	}
	for _, m := range members {
		switch m.Key.Raw() {
		case "uri":
			if err := json.Unmarshal(m.Value, &u.uri); err != nil {
				return u, fmt.Errorf("%w: uri is not a string", wire.ErrOccurrence)
			}
		case "payload":
			u.payload = m.Value
		case "_meta":
			u.meta = wire.OwnMeta(m.Value)
		}
	}
	if u.uri.IsZero() {
		return u, fmt.Errorf("%w: it has no uri", wire.ErrOccurrence)
	}
	return u, nil
}

// looseURI finds the address in params that strict parsing refuses, so that the refusal is
// recorded at its subscription.
func looseURI(params json.RawMessage) string {
	var p struct{ URI string }
	_ = json.Unmarshal(params, &p) // else it belongs to no subscription
	return p.URI
}

// occurrence converts an update to an event. Updates of other resources are dropped.
func (r *resources) occurrence(n wire.Note, nth uint64) (string, wire.Note) {
	return occurrenceOf(n, nth, r.opts, func(u update) (trust.Text, json.RawMessage) { return u.uri, u.payload })
}
