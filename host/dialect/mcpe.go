package dialect

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/host/wire"
)

// MCPE is the name of event subscription through tools.
const MCPE = "MCPE"

// FilteredStream is the one event type of a server that speaks MCPE: the filter among the
// arguments decides what it delivers.
const FilteredStream = "filtered-stream"

const noteTools = "notifications/tools/list_changed"

// tools is MCPE on one connection: tool calls make subscriptions, events come among the
// notifications of the connection.
type tools struct {
	pushOnly
	s     *session.Session
	opts  Options
	can   filterAbilities
	pulse *pulse
	all   *resumables

	opening sync.Mutex // one subscription is opened at a time

	mu       sync.Mutex
	renews   *bool // the server has the tool that moves an end; nil: not known yet
	byID     map[string]*noteStream
	awaiting int // subscriptions being opened: events may come before the response
	early    []earlyNote
	bytes    int // of early
}

// earlyNote is a notification that came before the id of its subscription is known.
type earlyNote struct {
	id string
	n  wire.Note
}

// Bounds of the early notifications.
const (
	maxEarly      = 1000
	maxEarlyBytes = 4 << 20
)

func mcpe() Kind {
	return Kind{
		Name:    MCPE,
		Speaks:  func(i session.Info) bool { return saysMCPE(i) || mayHaveTools(i) },
		On:      newTools,
		Check:   checkFiltered,
		Firings: filteredFirings,
		Ends:    filteredEnd,
		Lasting: true,
	}
}

func newTools(s *session.Session, o Options) Dialect {
	return &tools{
		pushOnly: MCPE, s: s, opts: o, can: filterAbilitiesOf(s.Info()), pulse: newPulse(s, o), all: newResumables(), byID: map[string]*noteStream{},
	}
}

// filterAbilities is what capabilities.events says about MCPE.
type filterAbilities struct {
	said      bool // it has a member that the sketch's capability does not have
	max       int  // 0: not stated
	channels  []string
	pause     bool
	wildcards bool
}

func capabilities(i session.Info) map[string]json.RawMessage {
	var p struct{ Capabilities map[string]json.RawMessage }
	_ = json.Unmarshal(i.Raw, &p) // of another type: empty
	return p.Capabilities
}

func filterAbilitiesOf(i session.Info) filterAbilities {
	a := filterAbilities{channels: []string{wire.ChannelRealtime}, pause: true, wildcards: true}
	var m map[string]json.RawMessage
	if json.Unmarshal(capabilities(i)["events"], &m) != nil {
		return a
	}
	for _, key := range []string{"maxSubscriptions", "deliveryChannels", "features"} {
		a.said = a.said || m[key] != nil
	}
	_ = json.Unmarshal(m["maxSubscriptions"], &a.max)
	var channels, known []string
	_ = json.Unmarshal(m["deliveryChannels"], &channels)
	for _, c := range []string{wire.ChannelRealtime, wire.ChannelCron, wire.ChannelScheduled} {
		if slices.Contains(channels, c) {
			known = append(known, c)
		}
	}
	if len(known) > 0 {
		a.channels = known
	}
	if features := m["features"]; features != nil {
		var f struct {
			Pause, Wildcards                bool
			CronSchedule, ScheduledDelivery *bool
		}
		_ = json.Unmarshal(features, &f) // of another type: empty
		a.pause, a.wildcards = f.Pause, f.Wildcards
		drop := func(flag *bool, channel string) {
			if flag != nil && !*flag {
				a.channels = slices.DeleteFunc(a.channels, func(c string) bool { return c == channel })
			}
		}
		drop(f.CronSchedule, wire.ChannelCron)
		drop(f.ScheduledDelivery, wire.ChannelScheduled)
	}
	return a
}

// saysMCPE reports whether capabilities.events is that of MCPE, not the sketch's.
func saysMCPE(i session.Info) bool { return filterAbilitiesOf(i).said }

// mayHaveTools reports whether only tools/list can tell: the server has tools, and no
// capability that says which dialect it speaks.
func mayHaveTools(i session.Info) bool {
	c := capabilities(i)
	var m map[string]json.RawMessage
	undecided := c["events"] != nil && (json.Unmarshal(c["events"], &m) != nil || m["listChanged"] == nil)
	return c["tools"] != nil && (undecided || !i.Advertised)
}

func (t *tools) Owns(name trust.Text) bool { return name.Raw() == FilteredStream }

// List returns the filtered stream if the tools confirm that there is one.
func (t *tools) List(ctx context.Context) ([]event.Type, SkippedTypes, error) {
	found, err := t.find(ctx)
	if unknownMethod(err) || wire.NameFrom(err) != "" && !t.can.said {
		return nil, SkippedTypes{}, fmt.Errorf("%w, nor tools: %w", ErrNoEvents, err)
	}
	if err != nil {
		return nil, SkippedTypes{}, named(err)
	}
	if !found[wire.ToolSubscribe] {
		return nil, SkippedTypes{}, fmt.Errorf("%w, nor the tool %s", ErrNoEvents, wire.ToolSubscribe)
	}
	return []event.Type{t.filtered()}, SkippedTypes{}, nil
}

// find returns the names of the server's tools, as far as they matter here.
//
// Errors: those of the server, [wire.ErrMalformed].
func (t *tools) find(ctx context.Context) (found map[string]bool, err error) {
	found = map[string]bool{}
	var params any
	for range maxPages {
		raw, err := t.s.Call(ctx, "tools/list", params)
		if err != nil {
			return nil, err
		}
		var list struct {
			Tools []struct{ Name trust.Text }
			Next  string `json:"nextCursor"`
		}
		if json.Unmarshal(raw, &list) != nil {
			return nil, fmt.Errorf("%w: the result of tools/list", wire.ErrMalformed)
		}
		for _, tool := range list.Tools {
			if name := tool.Name.Raw(); name == wire.ToolSubscribe || name == wire.ToolUpdate {
				found[name] = true
			}
		}
		if list.Next == "" || len(found) == 2 {
			break
		}
		params = map[string]string{"cursor": list.Next}
	}
	t.mu.Lock()
	renews := found[wire.ToolUpdate]
	t.renews = &renews
	t.mu.Unlock()
	return found, nil
}

func (t *tools) filtered() event.Type {
	text := "What passes a filter of event types, tags and priorities, delivered over the connection."
	if t.can.max > 0 {
		text += fmt.Sprintf(" The server holds at most %d of them.", t.can.max)
	}
	return event.Type{
		Name: trust.Untrusted(FilteredStream), Title: trust.Untrusted("Filtered stream"), Description: trust.Untrusted(text),
		Modes: []event.Mode{event.ModePush}, InputSchema: t.can.schema(), Cursorless: true, Dialect: MCPE,
	}
}

// Note passes events to the stream of their subscription.
func (t *tools) Note(n wire.Note) (relist bool) {
	t.pulse.beat()
	t.all.note(n)
	switch method := strings.TrimPrefix(n.Method, "notifications/"); {
	case n.Method == noteTools:
		return true
	case n.Method == wire.NoteInterrupt:
		n.Since = t.s.MissedSince()
		for _, h := range t.streams() {
			h.note(n)
		}
	case method == wire.NoteMCPEEvent, method == wire.NoteMCPEBatch, method == wire.NoteMCPEExpired:
		t.route(method, n)
	}
	return false
}

func (t *tools) streams() (all []*noteStream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range t.byID {
		all = append(all, h)
	}
	return all
}

func (t *tools) route(method string, n wire.Note) {
	var p struct{ SubscriptionID string }
	_ = json.Unmarshal(n.Params, &p) // else it belongs to no subscription
	t.mu.Lock()
	h := t.byID[p.SubscriptionID]
	kept := false
	if h == nil && t.awaiting > 0 && len(t.early) < maxEarly && t.bytes+len(n.Params) <= maxEarlyBytes {
		t.early = append(t.early, earlyNote{p.SubscriptionID, wire.Note{Method: method, Params: n.Params}})
		t.bytes += len(n.Params)
		kept = true
	}
	t.mu.Unlock()
	if h == nil {
		if !kept {
			t.opts.Log.Debug("an event for a subscription without an open stream", "id", trust.Untrusted(p.SubscriptionID))
		}
		return
	}
	if method == wire.NoteMCPEExpired && h.renew != nil {
		h.cancel(errLapsed) // nobody planned that: it is made anew
		return
	}
	for _, note := range translate(method, n.Params, t.opts) {
		h.note(note)
	}
}

// translate converts a notification to the terms of MCP Events.
func translate(method string, params json.RawMessage, o Options) []wire.Note {
	switch method {
	case wire.NoteMCPEExpired:
		return []wire.Note{{Method: wire.NoteTerminated, Params: json.RawMessage(`{"error":{"message":"the subscription has expired"}}`), Planned: true}}
	case wire.NoteMCPEEvent:
		var p struct{ Event json.RawMessage }
		if json.Unmarshal(params, &p) != nil || p.Event == nil {
			return []wire.Note{{Method: wire.NoteEvent, Params: params, Refused: fmt.Errorf("%w: no event in it", wire.ErrOccurrence)}}
		}
		return []wire.Note{readFiltered(p.Event, "", o, 0)}
	}
	var p struct{ Events []json.RawMessage }
	if json.Unmarshal(params, &p) != nil {
		return []wire.Note{{Method: wire.NoteEvent, Params: params, Refused: fmt.Errorf("%w: no events in it", wire.ErrOccurrence)}}
	}
	sum := sha256.Sum256(params)
	batch := "b-" + base64.RawURLEncoding.EncodeToString(sum[:9])
	notes := make([]wire.Note, 0, len(p.Events))
	for i, raw := range p.Events {
		notes = append(notes, readFiltered(raw, batch, o, uint64(i)))
	}
	return notes
}

// readFiltered reads one event of MCPE strictly.
func readFiltered(raw json.RawMessage, batch string, o Options, n uint64) wire.Note {
	note := wire.Note{Method: wire.NoteEvent, Params: raw}
	members, err := strict.ParseObject(raw, strict.Limits{})
	if err != nil {
		note.Refused = err
		return note
	}
	e := wire.Occurrence{Raw: raw, Batch: trust.Untrusted(batch)}
	for _, m := range members {
		switch m.Key.Raw() {
		case "id":
			_ = json.Unmarshal(m.Value, &e.EventID) // of another type: as if absent
		case "type":
			_ = json.Unmarshal(m.Value, &e.Name)
		case "data":
			e.Data = m.Value
		case "metadata":
			var meta map[string]json.RawMessage
			if json.Unmarshal(m.Value, &meta) == nil {
				e.Meta = m.Value
			}
			_ = json.Unmarshal(meta["timestamp"], &e.Timestamp)
			_ = json.Unmarshal(meta["priority"], &e.Priority)
			_ = json.Unmarshal(meta["tags"], &e.Tags)
		}
	}
	if e.EventID.IsZero() {
		e.EventID = hashID(e.Name.Raw(), raw, o.Now(), n)
	}
	note.Event = &e
	return note
}
