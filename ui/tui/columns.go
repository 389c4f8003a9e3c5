package tui

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
)

// columnsSetting is the key under which the chosen columns are kept: for every
// event type, and under the empty name for the stream of several types.
const columnsSetting = "ui.columns"

// columnKind says what a column of the stream shows.
type columnKind string

const (
	colTime    columnKind = "time"
	colServer  columnKind = "server"
	colType    columnKind = "type"
	colField   columnKind = "field"   // the member that tells how grave it is, or its status
	colSummary columnKind = "summary" // takes the room that is left
	colSub     columnKind = "sub"
	colMode    columnKind = "mode"
	colSize    columnKind = "size"
	colPath    columnKind = "path" // a place in the payload

	// Labels: see [event.Labels].
	colName     columnKind = "name"
	colPriority columnKind = "priority"
	colTags     columnKind = "tags"
	colBatch    columnKind = "batch"
)

// streamColumn is one column as the operator chose it.
type streamColumn struct {
	Kind  columnKind `json:"kind"`
	Path  string     `json:"path,omitempty"`  // JSON pointer, of colPath
	Width int        `json:"width,omitempty"` // 0: the usual one
}

// name is what the column is called for the operator.
func (c streamColumn) name() trust.Rendered {
	if c.Kind == colPath {
		return trust.Line(trust.Untrusted(c.Path))
	}
	return cells.Sanitize(string(c.Kind))
}

// usualColumns are shown as long as nothing else was chosen, if there is room.
var usualColumns = []streamColumn{{Kind: colTime}, {Kind: colServer}, {Kind: colType}, {Kind: colField}, {Kind: colSummary}, {Kind: colSub}, {Kind: colMode}, {Kind: colSize}}

// columnRank is the order in which columns go where there is no room for them
// and a summary: the highest first.
var columnRank = map[columnKind]int{colSize: 9, colMode: 8, colSub: 7, colBatch: 6, colTags: 6, colPriority: 5, colPath: 5, colName: 4, colField: 4, colServer: 3, colType: 2, colTime: 1}

// Room that a summary gets before columns do that tell less, and before others.
const (
	goodSummary  = 46
	leastSummary = 28
)

// typeKey names an event type of a server in the setting.
func typeKey(n query.Node) string {
	if n.Level() < 2 {
		return ""
	}
	return n.Server + "/" + n.Type.Raw()
}

// plan says which columns the stream shows, and how wide they are.
type plan struct {
	cols  []streamColumn
	width []int          // 0: no room for it
	gen   int            // grows with every change
	clock cells.TimeView // how texts of rows tell times
	of    planKey
}

// planKey is what a plan was made from.
type planKey struct {
	w      int
	scope  query.Node
	widest widest
	short  bool
	only   bool
	many   bool // several servers
	choice int
	clock  cells.TimeView
	labels labelSet // that were seen
}

// planFor makes the plan anew if what it depends on has changed.
func (s *stream) planFor(a *app, w int) *plan {
	p := &s.plan
	if s.query.Node != p.of.scope {
		s.labels = 0
	}
	key := planKey{w, s.query.Node, a.widest, a.lay.ShortTime, a.lay.OnlySummary, len(a.snap.Servers) != 1, a.columns.gen, a.Times, s.labels}
	if key == p.of {
		return p
	}
	kind := typeKey(key.scope) != typeKey(p.of.scope) || key.choice != p.of.choice
	p.of = key
	p.gen++
	p.cols = a.columns.of(key.scope, key.labels)
	p.width = widths(p.cols, key)
	if kind {
		clear(s.formed) // values of other columns
	}
	return p
}

// widths shares the room of a row among its columns.
func widths(cols []streamColumn, key planKey) []int {
	out := make([]int, len(cols))
	if key.only {
		return out
	}
	used, level := 0, key.scope.Level()
	for i, c := range cols {
		switch c.Kind {
		case colTime:
			out[i] = key.clock.Width(!key.short)
		case colServer:
			if level < 1 && key.many {
				out[i] = min(key.widest.server, max(6, key.w/8))
			}
		case colType:
			if level < 2 {
				out[i] = min(key.widest.typ, max(10, key.w/4))
			}
		case colField:
			out[i] = 8
		case colSub:
			if level < 3 {
				out[i] = 8
			}
		case colMode:
			if level < 3 {
				out[i] = 4
			}
		case colSize:
			out[i] = 7
		case colPath, colTags:
			out[i] = 14
		case colName:
			out[i] = 20
		case colPriority:
			out[i] = 8
		case colBatch:
			out[i] = 6
		}
		if out[i] > 0 && c.Width > 0 {
			out[i] = max(3, min(c.Width, 80))
		}
		if out[i] > 0 {
			used += out[i] + 1
		}
	}
	for {
		worst := worstColumn(cols, out)
		if worst < 0 {
			return out
		}
		rank, room := columnRank[cols[worst].Kind], key.w-1-used
		if room >= goodSummary || rank < 7 && room >= leastSummary || rank < 4 && room >= leastSummary/2 {
			return out
		}
		used -= out[worst] + 1
		out[worst] = 0
	}
}

// worstColumn is the column that goes first where there is no room, -1 if none
// may go.
func worstColumn(cols []streamColumn, width []int) int {
	worst := -1
	for i, c := range cols {
		if width[i] > 0 && columnRank[c.Kind] > 1 && (worst < 0 || columnRank[c.Kind] >= columnRank[cols[worst].Kind]) {
			worst = i
		}
	}
	return worst
}

// columnChoice is what the operator chose, by type.
type columnChoice struct {
	by    map[string][]streamColumn
	gen   int // grows with every change
	picks map[typeOfServer]typePick
	seen  int // of what the picks were made
}

type typeOfServer struct {
	server string
	typ    trust.Text
}

// typePick is which members of a type's payloads a row shows.
type typePick struct{ summary, field string } // JSON pointers; "" is not known

// of returns the columns of a scope whose records have labels.
func (c *columnChoice) of(n query.Node, labels labelSet) []streamColumn {
	if cols, ok := c.by[typeKey(n)]; ok && len(cols) > 0 {
		return cols
	}
	return usual(labels)
}

// set changes the columns of a scope; nil goes back to the usual ones.
func (c *columnChoice) set(key string, cols []streamColumn) {
	if c.by == nil {
		c.by = map[string][]streamColumn{}
	}
	c.by[key] = cols
	if cols == nil {
		delete(c.by, key)
	}
	c.gen++
	clear(c.picks)
}

// pick returns what rows of a type show. The schema of its payloads says it; an
// operator who chose columns for the type has said it better.
func (a *app) pick(r *event.Record) typePick {
	c := &a.columns
	key := typeOfServer{r.Server, r.Type}
	if p, ok := c.picks[key]; ok {
		return p
	}
	if c.picks == nil {
		c.picks = map[typeOfServer]typePick{}
	}
	p := pickOf(a.typeOf(r).PayloadSchema)
	for _, col := range c.by[typeKey(query.Node{Server: r.Server, Type: r.Type})] {
		if col.Kind == colPath {
			p.field = col.Path
			break
		}
	}
	c.picks[key] = p
	return p
}

// forgetPicks has the schemas read again when servers list other types.
func (a *app) forgetPicks() {
	n := 0
	for i := range a.snap.Servers {
		n = n*31 + len(a.snap.Servers[i].Types) + int(a.snap.Servers[i].Since.Unix()&0xffff)
	}
	if n != a.columns.seen {
		a.columns.seen = n
		clear(a.columns.picks)
		clear(a.stream.formed)
	}
}

// summaryNames and fieldNames are members that tell what an event is about and
// how grave it is, the best first.
var (
	summaryNames = []string{"title", "summary", "subject", "message", "text", "headline", "description"}
	fieldNames   = []string{"severity", "priority", "urgency", "level", "status", "state", "outcome", "result", "conclusion", "phase"}
)

// pickOf chooses by the schema of a type's payloads.
func pickOf(schema json.RawMessage) typePick {
	var s struct {
		Properties map[string]struct {
			Type any   `json:"type"`
			Enum []any `json:"enum"`
		} `json:"properties"`
	}
	var p typePick
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil {
		return p
	}
	first := func(names []string) string {
		for _, name := range names {
			if prop, ok := s.Properties[name]; ok && (scalarType(prop.Type) || len(prop.Enum) > 0) {
				return "/" + name
			}
		}
		return ""
	}
	p.summary, p.field = first(summaryNames), first(fieldNames)
	return p
}

// scalarType tells whether a schema's type is one of a scalar, or null.
func scalarType(t any) bool {
	switch t := t.(type) {
	case string:
		return t == "string" || t == "number" || t == "integer" || t == "boolean"
	case []any:
		return len(t) > 0 && !slices.ContainsFunc(t, func(v any) bool { return v != "null" && !scalarType(v) })
	}
	return false
}

// valueMax bounds what a column takes of a value, in bytes.
const valueMax = 256

// valueAt returns the value at a JSON pointer as a row shows it.
func valueAt(data []byte, path string) (trust.Text, bool) {
	raw := json.RawMessage(data)
	for path != "" {
		var name string
		name, path, _ = strings.Cut(path[1:], "/")
		if path != "" {
			path = "/" + path
		}
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		next, ok := inside(raw, name)
		if !ok {
			return trust.Text{}, false
		}
		raw = next
	}
	var t trust.Text
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &t) == nil {
		return t, true
	}
	if string(raw) == "null" || len(raw) == 0 {
		return trust.Text{}, false
	}
	compact := trust.CompactJSON(raw[:min(len(raw), 4<<10)])
	return trust.Untrusted(beginning(compact, valueMax)), true
}

// inside returns a member of an object or a list.
func inside(raw json.RawMessage, name string) (json.RawMessage, bool) {
	if len(raw) > 0 && raw[0] == '[' {
		i, err := strconv.Atoi(name)
		var list []json.RawMessage
		if err != nil || json.Unmarshal(raw, &list) != nil || i < 0 || i >= len(list) {
			return nil, false
		}
		return list[i], true
	}
	members, err := strict.ParseObject(raw, strict.Limits{})
	if err != nil {
		return nil, false
	}
	for _, m := range members {
		if m.Key.Raw() == name {
			return m.Value, true
		}
	}
	return nil, false
}

// summaryOf is the text that tells what an event is about.
func summaryOf(r *event.Record, p typePick) trust.Text {
	if p.summary != "" && len(r.Data) > 0 {
		if t, ok := valueAt(r.Data, p.summary); ok && strings.TrimSpace(t.Raw()) != "" {
			return t
		}
	}
	return host.Headline(*r)
}

// compactOf is the beginning of a payload on one line.
func compactOf(r *event.Record) trust.Text {
	compact := trust.CompactJSON(r.Data[:min(len(r.Data), 4<<10)])
	return trust.Untrusted(beginning(compact, 2*valueMax))
}

// beginning returns at most max bytes, without a part of a character.
func beginning(b []byte, max int) string {
	if len(b) <= max {
		return string(b)
	}
	for max > 0 && !utf8.RuneStart(b[max]) {
		max--
	}
	return string(b[:max])
}

// fieldOf is what tells how grave an event is: a member of its payload, else the
// priority that the server gives it.
func fieldOf(r *event.Record, p typePick) trust.Rendered {
	if p.field == "" && r.Labels != nil && !r.Labels.Priority.IsZero() {
		return trust.Line(r.Labels.Priority)
	}
	if p.field != "" {
		t, _ := valueAt(r.Data, p.field)
		return trust.Line(t)
	}
	members, err := strict.ParseObject(r.Data, strict.Limits{})
	if err != nil {
		return trust.Rendered{}
	}
	for _, name := range fieldNames {
		for _, m := range members {
			if m.Key.Raw() == name && len(m.Value) > 0 && m.Value[0] != '{' && m.Value[0] != '[' {
				t, _ := valueAt(m.Value, "")
				return trust.Line(t)
			}
		}
	}
	return trust.Rendered{}
}
