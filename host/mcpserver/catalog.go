package mcpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventserver"
	"eventdeck/host/filter"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

const (
	maxTypes   = 2_000  // besides those of this program
	maxName    = 512    // bytes of a type's name
	pageTypes  = 100    // of events/list
	newestSeen = 10_000 // records that are searched for types at once
	typesEvery = time.Second
)

// The types of this program. eventAny has the events of all servers.
const (
	eventAny   = "eventdeck.event"
	eventGap   = "eventdeck.gap"
	eventState = "eventdeck.state"
)

// typeKey identifies an event type of a server.
type typeKey struct {
	server string
	typ    trust.Text
}

// name returns the name under which the type is offered.
func (k typeKey) name() string { return k.server + "/" + k.typ.Raw() }

// offered is an event type that clients can subscribe to.
type offered struct {
	name, description string
	kind              event.Kind // of the records that are its events
	of                *typeKey   // nil: any type of any server
	payload           json.RawMessage
}

// catalog holds the offered types. It only grows: a type is offered until the server ends, even if
// its records are gone.
type catalog struct {
	mu      sync.Mutex
	known   map[typeKey]bool
	names   []string // sorted, of the offered types
	types   map[string]offered
	version int // grows with every change
}

// add offers further types, and reports whether one is new.
func (c *catalog) add(keys []typeKey) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	grown := false
	if c.types == nil {
		c.types, grown = ownTypes(), true
	}
	for _, k := range keys {
		if c.known[k] || len(c.known) >= maxTypes {
			continue
		}
		c.known[k] = true
		if _, taken := c.types[k.name()]; taken || len(k.name()) > maxName {
			continue // its events are offered as eventAny
		}
		c.types[k.name()] = offered{
			name: k.name(), kind: event.KindEvent, of: &k, payload: json.RawMessage(`{"type":"object"}`),
			description: fmt.Sprintf("Events of type %s of the server %s, as stored.", trust.Line(k.typ).Plain(), trust.Line(trust.Untrusted(k.server)).Plain()),
		}
		grown = true
	}
	if grown {
		c.names = c.names[:0]
		for name := range c.types {
			c.names = append(c.names, name)
		}
		sort.Strings(c.names)
		c.version++
	}
	return grown
}

// ownTypes returns the types of this program.
func ownTypes() map[string]offered {
	types := map[string]offered{}
	for _, t := range []offered{
		{name: eventAny, kind: event.KindEvent, description: "The events of all servers, as stored. _meta tells of which server and type each is.", payload: json.RawMessage(`{"type":"object"}`)},
		{name: eventGap, kind: event.KindGap, description: "A time in which events of a subscription may be missing.",
			payload: json.RawMessage(`{"type":"object","properties":{"cause":{"type":"string"},"from":{"type":["string","null"]},"to":{"type":["string","null"]},"certain":{"type":"boolean"}}}`)},
		{name: eventState, kind: event.KindState, description: "A subscription changed its state.",
			payload: json.RawMessage(`{"type":"object","properties":{"state":{"type":"string"},"evidence":{"type":["string","null"]},"error":{"type":["string","null"]}}}`)},
	} {
		types[t.name] = t
	}
	return types
}

func (c *catalog) find(name string) (offered, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.types[name]
	return t, ok
}

// page returns the types whose names follow a name, and whether there are more.
func (c *catalog) page(behind string) (page []offered, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, there := slices.BinarySearch(c.names, behind)
	if there {
		at++
	}
	for ; at < len(c.names) && len(page) < pageTypes; at++ {
		page = append(page, c.types[c.names[at]])
	}
	return page, at < len(c.names)
}

// currentVersion returns a number that grows with every change.
func (c *catalog) currentVersion() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// refreshTypes offers the types of the subscriptions, and the names of the newest events that came
// since the last call.
//
// Error: that of the log.
func (s *Server) refreshTypes() error {
	seen := map[typeKey]bool{}
	for _, sub := range s.opts.Host.Snapshot().Subs {
		seen[typeKey{sub.Key.Server, sub.Key.Type}] = true
	}
	n, last := 0, s.log().Last()
	err := s.log().Before(0, func(r event.Record) bool {
		if r.Kind == event.KindEvent && r.Seq > s.named {
			seen[typeKey{r.Server, r.Family()}] = true
		}
		n++
		return r.Seq > s.named && n < newestSeen
	})
	s.named = last
	if s.types.add(slices.Collect(maps.Keys(seen))) {
		s.wake()
	}
	return err
}

// pageMark begins the cursors of events/list.
const pageMark = "after:"

// listTypes answers events/list.
func (s *Server) listTypes(params json.RawMessage) (map[string]any, *eventserver.Refusal) {
	var p struct {
		Cursor *string `json:"cursor"`
	}
	if f := eventserver.Decode(params, &p); f != nil {
		return nil, f
	}
	behind := ""
	if p.Cursor != nil {
		var ok bool
		if behind, ok = strings.CutPrefix(*p.Cursor, pageMark); !ok {
			return nil, eventserver.BadParam("cursor", "no such page")
		}
	}
	page, more := s.types.page(behind)
	found := []any{}
	for _, t := range page {
		found = append(found, map[string]any{"name": t.name, "description": s.opts.Redact.String(t.description), "delivery": modes(),
			"inputSchema": t.input(), "payloadSchema": t.payload})
	}
	r := map[string]any{"events": found, "_meta": map[string]any{metaPositions: map[string]any{
		"oldest": s.at(0).cursor(), "newest": s.at(s.log().Last()).cursor()}}}
	if more {
		r["nextCursor"] = pageMark + page[len(page)-1].name
	}
	return r, nil
}

// metaPositions is the member of events/list with the oldest and the newest position for replay.
const metaPositions = "eventdeck/positions"

// The arguments of subscriptions.
const (
	argFilter       = "filter"
	argSubscription = "subscription"
	argServer       = "server"
	argType         = "type"
)

// arguments returns the names and descriptions of the arguments that the type takes.
func (t offered) arguments() [][2]string {
	args := [][2]string{
		{argFilter, "Only what this filter takes, such as sev:P1 or .status=failed, in eventdeck's filter language"},
		{argSubscription, "Only what came by the subscription with this id"},
	}
	if t.of == nil {
		args = append(args, [2]string{argServer, "Only of this server"}, [2]string{argType, "Only of this event type"})
	}
	return args
}

func (t offered) input() map[string]any {
	properties := map[string]any{}
	for _, a := range t.arguments() {
		properties[a[0]] = map[string]any{"type": "string", "description": a[1]}
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

// selection is the events of a type that a client wants.
type selection struct {
	offered
	args   string // canonical JSON
	values map[string]string
	filter *filter.Filter
	own    event.Generations // of ids of this server: an event that came back is not offered again
}

// choose checks the arguments of a subscription.
func (s *Server) choose(t offered, raw json.RawMessage, now time.Time) (selection, *eventserver.Refusal) {
	w := selection{offered: t, values: map[string]string{}, own: s.log().Generations()}
	if len(raw) > 0 && string(raw) != "null" {
		if json.Unmarshal(raw, &w.values) != nil {
			return w, eventserver.BadParam("arguments", "arguments must be an object of texts")
		}
	}
	var names []string
	for _, a := range t.arguments() {
		names = append(names, a[0])
	}
	for name := range w.values {
		if !slices.Contains(names, name) {
			return w, eventserver.BadParam("arguments."+name, "there is no argument of that name; there are "+strings.Join(names, ", "))
		}
	}
	var err error
	if w.filter, err = filter.Parse(w.values[argFilter], now); err != nil {
		return w, eventserver.BadParam("arguments."+argFilter, err.Error())
	}
	canonical, err := wire.Marshal(w.values) // sorts the keys
	if err != nil {
		return w, eventserver.BadParam("arguments", "arguments cannot be spelled")
	}
	w.args = string(canonical)
	return w, nil
}

// takes reports whether the selection has a record.
func (w *selection) takes(r *event.Record) bool {
	if r.Kind != w.kind || w.of != nil && (r.Server != w.of.server || !r.Named(w.of.typ.Raw())) {
		return false
	}
	for name, value := range w.values {
		switch name {
		case argSubscription:
			if string(r.Sub) != value {
				return false
			}
		case argServer:
			if r.Server != value {
				return false
			}
		case argType:
			if !r.Named(value) {
				return false
			}
		}
	}
	generation, _, _ := strings.Cut(r.EventID.Raw(), "-")
	return w.filter.Match(r) && !w.own.Knows(generation)
}
