package demo

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// engine is the part of pager and chat that handles MCP Events, for any transport. It is immutable
// and may be used by many goroutines.
type engine struct {
	origin
	profile wire.Profile
	types   []*eventType
	page    int // event types on a page of events/list

	nextPoll time.Duration // until a client should poll again
	faults   faultSet
}

// newRun returns the origin of a run that starts now. Error: that of random.
func newRun(random io.Reader) (origin, error) {
	id := make([]byte, 5)
	if _, err := io.ReadFull(random, id); err != nil {
		return origin{}, fmt.Errorf("no randomness for the id of the run: %w", err)
	}
	return origin{run: "r" + hex.EncodeToString(id), start: time.Now()}, nil
}

// pageMark begins the cursors of events/list.
const pageMark = "page-"

// list answers events/list: the types that exist at now, page by page.
func (e *engine) list(params json.RawMessage, now time.Time) (map[string]any, *eventserver.Refusal) {
	var p struct {
		Cursor *string `json:"cursor"`
	}
	if f := eventserver.Decode(params, &p); f != nil {
		return nil, f
	}
	from := 0
	if p.Cursor != nil {
		n, err := strconv.Atoi((*p.Cursor)[min(len(pageMark), len(*p.Cursor)):])
		if err != nil || n <= 0 || n >= len(e.types) || *p.Cursor != pageMark+strconv.Itoa(n) {
			return nil, eventserver.BadParam("cursor", "no such page")
		}
		from = n
	}
	to := min(from+e.page, len(e.types))
	found := []any{}
	for _, t := range e.types[from:to] {
		if !t.exists(now) {
			continue
		}
		d := map[string]any{"name": t.name, "description": t.description, "delivery": t.modes, "inputSchema": t.input, "payloadSchema": t.payload}
		if t.cursorless {
			d["cursorless"] = true
		}
		found = append(found, d)
	}
	r := map[string]any{"events": found}
	if to < len(e.types) {
		r["nextCursor"] = pageMark + strconv.Itoa(to)
	}
	return r, nil
}

// nextChange returns when the list of types changes next; zero means never.
func (e *engine) nextChange(now time.Time) time.Time {
	var next time.Time
	for _, t := range e.types {
		if t.lifetime == nil {
			continue
		}
		if _, at := t.lifetime.at(now); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// requested is a subscription as requested, after all checks.
type requested struct {
	kind *eventType
	args map[string]any
	raw  string // canonical JSON of args
	pos  uint64 // events up to here are not wanted
	max  int    // events in an answer to a poll
	held bool   // a cursor was given: pos is where the client is
	// truncated: events after the cursor cannot be replayed any more or are too old for maxAgeMs,
	// or the cursor is of another run.
	truncated bool
	echo      string // the cursor in `active` in place of the position; "": none
}

type requestParams struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Params    json.RawMessage `json:"params"` // earlier spelling of arguments
	Cursor    json.RawMessage `json:"cursor"`
	MaxAgeMs  *float64        `json:"maxAgeMs"`
	MaxAge    *float64        `json:"maxAge"` // earlier spelling, seconds
}

// resolve checks the params that poll, stream and subscribe have in common.
func (e *engine) resolve(params json.RawMessage, mode string, now time.Time) (requested, *eventserver.Refusal) {
	var p requestParams
	if f := eventserver.Decode(params, &p); f != nil {
		return requested{}, f
	}
	t, f := e.find(p.Name, now)
	if f != nil {
		return requested{}, f
	}
	if !t.offers(mode) {
		return requested{}, eventserver.BadMode(p.Name, mode, t.modes)
	}
	args, raw, f := t.arguments(p)
	if f != nil {
		return requested{}, f
	}
	w := requested{kind: t, args: args, raw: raw}
	if f := e.place(&w, mode, p, now); f != nil {
		return requested{}, f
	}
	return w, e.faults.refuse()
}

func (e *engine) find(name string, now time.Time) (*eventType, *eventserver.Refusal) {
	if name == "" {
		return nil, eventserver.BadParam("name", "name is missing")
	}
	for _, t := range e.types {
		if t.name == name && t.exists(now) {
			return t, nil
		}
	}
	return nil, eventserver.Refuse(wire.NotFound, "no such event type", map[string]any{"kind": "event", "name": name})
}

// arguments validates the arguments against the input schema.
func (t *eventType) arguments(p requestParams) (map[string]any, string, *eventserver.Refusal) {
	given := p.Arguments
	if given == nil {
		given = p.Params
	}
	args := map[string]any{}
	if len(given) > 0 && string(given) != "null" {
		if json.Unmarshal(given, &args) != nil {
			return nil, "", eventserver.BadParam("arguments", "arguments must be an object")
		}
	}
	if err := t.schema.Validate(args); err != nil {
		field := t.badArgument(args)
		return nil, "", eventserver.BadParam(field, field+" does not fit the inputSchema: "+err.Error())
	}
	canonical, err := json.Marshal(args) // sorts the keys
	if err != nil {
		return nil, "", eventserver.BadParam("arguments", "arguments cannot be spelled")
	}
	return args, string(canonical), nil
}

// badArgument names the argument for which validation failed.
func (t *eventType) badArgument(args map[string]any) string {
	s := t.schema.Schema()
	for _, name := range s.Required {
		if _, ok := args[name]; !ok {
			return "arguments." + name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		property := s.Properties[name]
		if property == nil {
			return "arguments." + name
		}
		r, err := property.Resolve(nil)
		if err != nil || r.Validate(args[name]) != nil {
			return "arguments." + name
		}
	}
	return "arguments"
}

// place sets where delivery starts: at the cursor, but not before now - maxAge and not before the
// oldest event that can be replayed; at now without a cursor.
func (e *engine) place(w *requested, mode string, p requestParams, now time.Time) *eventserver.Refusal {
	count := w.kind.feed.count(now)
	w.pos = count
	cursor, given, f := eventserver.ReadCursor(p.Cursor)
	if f != nil || !given || w.kind.cursorless {
		return f
	}
	asked := cursor
	if mode == "poll" && e.faults.has(faultPollForeign) {
		var own bool
		if cursor, own = strings.CutPrefix(cursor, foreignPoll); !own {
			return eventserver.BadParam("cursor", "no cursor of a poll")
		}
	}
	first := w.kind.oldest(count)
	pos, ok := e.position(w.kind.feed, cursor)
	w.held = true
	if !ok || pos > count || pos+1 < first {
		pos, w.truncated = first-1, true
	}
	age := -1.0
	switch {
	case p.MaxAgeMs != nil:
		age = *p.MaxAgeMs
	case p.MaxAge != nil:
		age = *p.MaxAge * 1000
	}
	if age >= 0 {
		oldest := now.Add(-time.Duration(min(age, 1e12) * float64(time.Millisecond)))
		floor := w.kind.feed.count(oldest)
		w.truncated = w.truncated || w.kind.matchesAny(pos, floor, w.args)
		pos = max(pos, floor)
	}
	w.pos = pos
	e.faults.misplace(w, mode, asked, count)
	return nil
}

// matchesAny reports whether an event after from, up to and including to, passes the arguments.
func (e *eventType) matchesAny(from, to uint64, args map[string]any) bool {
	for n := from + 1; n <= to; n++ {
		if e.feed.matches(n, args) {
			return true
		}
	}
	return false
}

// mark returns the value of the member cursor for a position: null without replay.
func (e *engine) mark(t *eventType, pos uint64) any {
	if t.cursorless {
		return nil
	}
	return e.cursor(t.feed, pos)
}

// appendOccurrence appends event n with the cursor of position at.
func (e *engine) appendOccurrence(dst []byte, t *eventType, n, at uint64) []byte {
	dst = append(dst, '{')
	dst = t.feed.appendBody(dst, n)
	if t.cursorless {
		return append(dst, `,"cursor":null}`...)
	}
	dst = append(dst, `,"cursor":"`...)
	dst = e.appendCursor(dst, t.feed, at)
	return append(dst, `"}`...)
}
