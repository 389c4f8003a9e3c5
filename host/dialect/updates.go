package dialect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/host/wire"
)

// ResourceUpdates is the name of plain resource subscriptions of base MCP: the server
// reports that a resource changed, without events.
const ResourceUpdates = "resource updates"

// ResourceUpdated is the one event type of a server with resource subscriptions.
const ResourceUpdated = event.ResourceUpdated

// Bounds of requests beside the subscriptions.
const (
	maxExamples   = 50               // suggested resources
	maxTemplates  = 5                // in the description
	maxContents   = 256 << 10        // bytes of the contents of a resource
	contentsAfter = 10 * time.Second // bound of reading a resource
)

// updates are the plain resource subscriptions of one connection.
type updates struct {
	pushOnly
	s         *session.Session
	opts      Options
	addresses *addresses
}

// resourceUpdates is for servers that advertise no other dialect: SEP-1803 and MCP Events
// carry more.
func resourceUpdates() Kind {
	return Kind{
		Name: ResourceUpdates,
		Speaks: func(i session.Info) bool {
			can := resourceAbilitiesOf(i)
			return can.inBand && !can.any() && !mcpEvents().Speaks(i)
		},
		On: func(s *session.Session, o Options) Dialect {
			u := &updates{pushOnly: ResourceUpdates, s: s, opts: o}
			u.addresses = newAddresses(s, o, u.occurrence)
			return u
		},
		Check: checkUpdates,
	}
}

func (u *updates) Owns(name trust.Text) bool { return name.Raw() == ResourceUpdated }

// List returns the one type. The listed resources are suggestions: the server may accept
// others.
func (u *updates) List(ctx context.Context) ([]event.Type, SkippedTypes, error) {
	resources, err := u.suggestions(ctx, methodResources, "resources", "uri", maxExamples)
	if err != nil {
		return nil, SkippedTypes{}, err
	}
	templates, err := u.suggestions(ctx, methodTemplates, "resourceTemplates", "uriTemplate", maxTemplates)
	if err != nil {
		return nil, SkippedTypes{}, err
	}
	schema, err := updatesSchema(resources, templates)
	if err != nil {
		return nil, SkippedTypes{}, err
	}
	return []event.Type{{
		Name: trust.Untrusted(ResourceUpdated), Title: trust.Untrusted("Resource updated"),
		Description: trust.Untrusted("A resource of the server changed, or one that lies under it."),
		Modes:       []event.Mode{event.ModePush}, InputSchema: schema, Cursorless: true, Dialect: ResourceUpdates,
	}}, SkippedTypes{}, nil
}

// suggestions returns the first addresses of a list; none if the server refuses to list.
func (u *updates) suggestions(ctx context.Context, method, list, member string, most int) ([]string, error) {
	items, err := pages(ctx, u.s, u.opts, method, list, most)
	if err != nil && !refusedList(err) && !errors.Is(err, ErrPartial) && !errors.Is(err, wire.ErrMalformed) {
		return nil, err
	}
	found := []string{}
	for _, item := range items {
		var m map[string]json.RawMessage
		var where string
		_ = json.Unmarshal(item, &m) // of another type: no address
		if json.Unmarshal(m[member], &where) == nil && where != "" && !foreignAddress(where) && len(found) < most {
			found = append(found, where)
		}
	}
	return found, nil
}

// refusedList reports whether the server refuses to list. It may still know resources by
// their addresses.
func refusedList(err error) bool { return wire.NameFrom(err) != "" || unknownMethod(err) }

// foreignAddress reports whether an address belongs to SEP-1803.
func foreignAddress(where string) bool {
	return strings.HasPrefix(where, eventScheme) || strings.HasPrefix(where, subscriptionScheme)
}

// updatesSchema is the schema of the arguments.
func updatesSchema(resources, templates []string) (json.RawMessage, error) {
	about := "address of the resource"
	if len(templates) > 0 {
		about += "; also " + strings.Join(templates, ", ")
	}
	return json.Marshal(map[string]any{
		"type": "object", "required": []string{"uri"}, "additionalProperties": false,
		"properties": map[string]any{
			"uri":  map[string]any{"type": "string", "minLength": 1, "description": about, "examples": resources},
			"read": map[string]any{"type": "boolean", "description": "read the resource after each update and keep its contents with the event"},
		},
	})
}

// watch is the decoded arguments.
type watch struct {
	URI  string `json:"uri"`
	Read bool   `json:"read"`
}

// readWatch reads the arguments. Error: [ErrArguments].
func readWatch(args json.RawMessage) (w watch, err error) {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		return w, fmt.Errorf("%w: uri must be a string, read true or false, and nothing else is allowed", ErrArguments)
	}
	where, err := url.Parse(w.URI)
	switch {
	case err != nil || where.Scheme == "":
		return w, fmt.Errorf("%w: uri is not a complete address; write it with its scheme, as in file:///etc/motd", ErrArguments)
	case foreignAddress(w.URI):
		return w, fmt.Errorf("%w: uri is an address of %s, which the server does not offer", ErrArguments, SEP1803)
	}
	return w, nil
}

func checkUpdates(_ event.Type, args json.RawMessage, _ time.Time) error {
	_, err := readWatch(args)
	return err
}

// Stream subscribes to one resource.
func (u *updates) Stream(ctx context.Context, q wire.StreamRequest, sink func(wire.Note)) (Stream, error) {
	w, err := readWatch(q.Arguments)
	if err != nil {
		return nil, err
	}
	h := newNoteStream(ctx, u.addresses.pulse, sink)
	if w.Read {
		h.completeWith(u.withContents)
	}
	return u.addresses.open(ctx, w.URI, h)
}

// Preview implements [Previewer].
func (u *updates) Preview(request any) (string, json.RawMessage, error) {
	q, ok := request.(wire.StreamRequest)
	if !ok {
		return "", nil, fmt.Errorf("%w of a %T in %s", ErrNoPreview, request, ResourceUpdates)
	}
	w, err := readWatch(q.Arguments)
	if err != nil {
		return "", nil, err
	}
	method, params := u.addresses.subscribeRequest(w.URI)
	raw, err := json.Marshal(params)
	return method, raw, err
}

// dataOf returns the data of an update: all of the params but _meta, which is no part of what the
// server says of its resource.
func dataOf(params json.RawMessage) json.RawMessage { return strict.Without(params, "_meta") }

// occurrence converts an update to an event.
func (u *updates) occurrence(n wire.Note, nth uint64) (string, wire.Note) {
	return occurrenceOf(n, nth, u.opts, func(update) (trust.Text, json.RawMessage) {
		return trust.Untrusted(ResourceUpdated), dataOf(n.Params)
	})
}

// occurrenceOf converts an update to an event with the name and data that describe returns,
// and returns its address.
func occurrenceOf(n wire.Note, nth uint64, o Options, describe func(update) (name trust.Text, data json.RawMessage)) (string, wire.Note) {
	u, refused := readUpdate(n.Params)
	note := wire.Note{Method: wire.NoteEvent, Params: n.Params, Refused: refused}
	if refused != nil {
		return looseURI(n.Params), note
	}
	at := o.Now()
	name, data := describe(u)
	note.Event = &wire.Occurrence{
		EventID: hashID(u.uri.Raw(), data, at, nth), Name: name,
		Timestamp: trust.Untrusted(at.UTC().Format(time.RFC3339Nano)),
		Data:      data, Meta: u.meta, Raw: n.Params,
	}
	return u.uri.Raw(), note
}

// withContents adds the contents of the resource. If it cannot be read or is too large, the
// event stays as it is.
func (u *updates) withContents(ctx context.Context, n wire.Note) wire.Note {
	said, err := readUpdate(n.Params)
	if err != nil {
		return n
	}
	ctx, cancel := context.WithTimeout(ctx, contentsAfter)
	defer cancel()
	result, err := u.s.Call(ctx, methodRead, map[string]string{"uri": said.uri.Raw()})
	if err == nil {
		n.Params, err = joinContents(n.Params, result)
	}
	if err != nil {
		u.opts.Log.Warn("a resource that changed could not be read; its event is kept without contents", "err", err)
		return n
	}
	e := *n.Event
	e.Data, e.Raw = dataOf(n.Params), n.Params
	n.Event = &e
	return n
}

var errContents = errors.New("the contents of the resource are not kept")

// joinContents adds the contents of a resource to the params of its update. With an error
// it returns the params unchanged.
func joinContents(params, result json.RawMessage) (json.RawMessage, error) {
	var answer struct{ Contents json.RawMessage }
	_ = json.Unmarshal(result, &answer) // of another type: no contents
	switch {
	case len(answer.Contents) == 0 || answer.Contents[0] != '[':
		return params, fmt.Errorf("%w: %s returned none", errContents, methodRead)
	case len(answer.Contents) > maxContents:
		return params, fmt.Errorf("%w: they have %d bytes, and at most %d are kept", errContents, len(answer.Contents), maxContents)
	}
	end := bytes.LastIndexByte(params, '}')
	both := append(bytes.TrimRight(params[:end:end], " \t\r\n"), `,"contents":`...)
	both = append(append(both, answer.Contents...), '}')
	if _, err := strict.ParseObject(both, strict.Limits{}); err != nil {
		return params, fmt.Errorf("%w: %w", errContents, err)
	}
	return both, nil
}

// Note routes a notification of the general stream to its resources.
func (u *updates) Note(n wire.Note) (relist bool) { return u.addresses.note(n) }
