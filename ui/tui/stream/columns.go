package stream

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/severity"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
)

// ColumnsSetting is the key under which the chosen columns are kept: for every
// event type, and under the empty name for the stream of several types.
const ColumnsSetting = "ui.columns"

// Kind says what a column of the stream shows.
type Kind string

const (
	ColTime     Kind = "time"
	ColServer   Kind = "server"
	ColType     Kind = "type"
	ColSeverity Kind = "severity" // the sender's word for how bad it is
	ColSummary  Kind = "summary"  // takes the room that is left
	ColSub      Kind = "sub"
	ColMode     Kind = "mode"
	ColSize     Kind = "size"
	ColPath     Kind = "path" // a place in the payload

	// Labels: see [event.Labels].
	ColName     Kind = "name"
	ColPriority Kind = "priority"
	ColTags     Kind = "tags"
	ColBatch    Kind = "batch"
)

// Column is one column as the operator chose it.
type Column struct {
	Kind  Kind   `json:"kind"`
	Path  string `json:"path,omitempty"`  // JSON pointer, of colPath
	Width int    `json:"width,omitempty"` // 0: the usual one
}

// UnmarshalText implements [encoding.TextUnmarshaler]: an earlier version called the
// severity otherwise.
func (k *Kind) UnmarshalText(text []byte) error {
	if *k = Kind(text); *k == "field" {
		*k = ColSeverity
	}
	return nil
}

// UsualColumns are shown as long as nothing else was chosen, if there is room.
var UsualColumns = []Column{{Kind: ColTime}, {Kind: ColSeverity}, {Kind: ColServer}, {Kind: ColType}, {Kind: ColSummary}, {Kind: ColSub}, {Kind: ColMode}, {Kind: ColSize}}

// columnRank is the order in which columns go where there is no room for them
// and a summary: the highest first.
var columnRank = map[Kind]int{ColSize: 9, ColMode: 8, ColSub: 7, ColBatch: 6, ColTags: 6, ColPriority: 5, ColPath: 5, ColName: 4, ColServer: 3, ColType: 2, ColTime: 1, ColSeverity: 0}

// Room that a summary gets before columns do that tell less, and before others.
const (
	goodSummary  = 64
	leastSummary = 28
)

// TypeKey names an event type of a server in the setting.
func TypeKey(n query.Node) string {
	if n.Level() < 2 {
		return ""
	}
	return n.Server + "/" + n.Type.Raw()
}

// Plan says which columns the stream shows, and how wide they are.
type Plan struct {
	cols  []Column
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
	sub    bool // the id of the subscription tells rows apart
	short  bool
	only   bool
	many   bool // several servers
	choice int
	clock  cells.TimeView
}

// planFor makes the plan again if what it depends on has changed.
func (s *Stream) planFor(w int) *Plan {
	env := s.env
	p := &s.plan
	if s.Query.Node != p.of.scope {
		s.Labels = 0
	}
	short, only := env.Terse()
	sub := slices.ContainsFunc(s.several, func(k event.Key) bool { return s.Query.Node.HoldsSub(s.Query.Node.Sub, &k) })
	key := planKey{w, s.Query.Node, s.widest, sub, short, only, len(env.Snap.Servers) != 1, s.Columns.gen, env.Times}
	if key == p.of {
		return p
	}
	kind := TypeKey(key.scope) != TypeKey(p.of.scope) || key.choice != p.of.choice
	p.of = key
	p.gen++
	p.cols = s.Columns.Of(key.scope)
	p.width = widths(p.cols, key)
	if kind {
		clear(s.Formed) // values of other columns
	}
	return p
}

// has reports whether a kind of column is shown.
func (p *Plan) has(k Kind) bool {
	i := slices.IndexFunc(p.cols, func(c Column) bool { return c.Kind == k })
	return i >= 0 && p.width[i] > 0
}

// widths shares the room of a row among its columns.
func widths(cols []Column, key planKey) []int {
	out := make([]int, len(cols))
	if key.only {
		for i, c := range cols {
			if c.Kind == ColSeverity {
				out[i] = severityWidth(key.w)
			}
		}
		return out
	}
	used, level := 0, key.scope.Level()
	for i, c := range cols {
		switch c.Kind {
		case ColTime:
			out[i] = key.clock.Width(!key.short)
		case ColServer:
			if level < 1 && key.many {
				out[i] = min(key.widest.server, serverMost(key.w))
			}
		case ColType:
			if level < 2 {
				out[i] = min(key.widest.typ, typeMost(key.w))
			}
		case ColSeverity:
			out[i] = severityWidth(key.w)
		case ColSub:
			if level < 3 && key.sub {
				out[i] = 8
			}
		case ColMode:
			if level < 3 {
				out[i] = 4
			}
		case ColSize:
			out[i] = 7
		case ColPath, ColTags:
			out[i] = 14
		case ColName:
			out[i] = 20
		case ColPriority:
			out[i] = 8
		case ColBatch:
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

// serverMost and typeMost are the room that names get at most in a row of w cells.
func serverMost(w int) int { return max(6, w/8) }
func typeMost(w int) int   { return max(10, w/5) }

// severityWidth is the room of the severity with its bar in a row of w cells: whole
// words, or their beginnings.
func severityWidth(w int) int {
	if w < 76 {
		return 5
	}
	return 9
}

// worstColumn is the column that goes first where there is no room, -1 if none
// may go.
func worstColumn(cols []Column, width []int) int {
	worst := -1
	for i, c := range cols {
		if width[i] > 0 && columnRank[c.Kind] > 1 && (worst < 0 || columnRank[c.Kind] >= columnRank[cols[worst].Kind]) {
			worst = i
		}
	}
	return worst
}

// Choice is what the operator chose, by type.
type Choice struct {
	By    map[string][]Column
	gen   int               // grows with every change
	Grave map[string]string // by [TypeKey], the JSON pointer of the severity; of the operator
	Picks map[typeOfServer]TypePick
	Seen  int // of what the picks were made
}

type typeOfServer struct {
	server string
	typ    trust.Text
}

// TypePick is which members of a type's payloads a row shows.
type TypePick struct{ summary, severity string } // JSON pointers; "" is not known

// Of returns the columns of a scope.
func (c *Choice) Of(n query.Node) []Column {
	if cols, ok := c.By[TypeKey(n)]; ok && len(cols) > 0 {
		return cols
	}
	return UsualColumns
}

// Set changes the columns of a scope; nil goes back to the usual ones.
func (c *Choice) Set(key string, cols []Column) {
	if c.By == nil {
		c.By = map[string][]Column{}
	}
	c.By[key] = cols
	if cols == nil {
		delete(c.By, key)
	}
	c.gen++
	clear(c.Picks)
}

// pick returns what rows of a type show. The schema of its payloads says it, and the
// operator's setting before it.
func (s *Stream) pick(r *event.Record) TypePick {
	env := s.env
	c := s.Columns
	key := typeOfServer{r.Server, r.Type}
	if p, ok := c.Picks[key]; ok {
		return p
	}
	if c.Picks == nil {
		c.Picks = map[typeOfServer]TypePick{}
	}
	p := pickOf(env.TypeOf(r).PayloadSchema)
	if at := c.Grave[TypeKey(query.Node{Server: r.Server, Type: r.Type})]; at != "" {
		p.severity = at
	}
	c.Picks[key] = p
	return p
}

// summaryNames are members that tell what an event is about, the best first.
var summaryNames = []string{"title", "summary", "subject", "message", "text", "headline", "description"}

// property is what is read of a member of a schema.
type property struct {
	Type any   `json:"type"`
	Enum []any `json:"enum"`
}

// pickOf chooses by the schema of a type's payloads.
func pickOf(schema json.RawMessage) TypePick {
	var s struct {
		Properties map[string]property `json:"properties"`
	}
	var p TypePick
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil {
		return p
	}
	for _, name := range summaryNames {
		if prop, ok := s.Properties[name]; ok && (scalarType(prop.Type) || len(prop.Enum) > 0) {
			p.summary = "/" + name
			break
		}
	}
	names := slices.Sorted(maps.Keys(s.Properties))
	if slices.ContainsFunc(names, severity.IsMember) {
		return p // it is found without a schema
	}
	for _, name := range names {
		if prop := s.Properties[name]; prop.levels() {
			p.severity = pointer(name)
			break
		}
	}
	return p
}

// levels reports whether all values that a member can have say how bad something is.
func (p *property) levels() bool {
	return len(p.Enum) > 1 && !slices.ContainsFunc(p.Enum, func(v any) bool {
		word, ok := v.(string)
		return !ok || severity.LevelOf(word) == severity.Unknown
	})
}

// pointer is the JSON pointer of a member of a payload.
func pointer(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// scalarType reports whether a schema's type is one of a scalar, or null.
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

// ValueAt returns the value at a JSON pointer as a row shows it.
func ValueAt(data []byte, path string) (trust.Text, bool) {
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
func summaryOf(r *event.Record, p TypePick) trust.Text {
	if p.summary != "" && len(r.Data) > 0 {
		if t, ok := ValueAt(r.Data, p.summary); ok && strings.TrimSpace(t.Raw()) != "" {
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

// severityOf is the sender's word for how bad an event is.
func severityOf(r *event.Record, p TypePick) trust.Text {
	if p.severity != "" {
		if t, ok := ValueAt(r.Data, p.severity); ok {
			return t
		}
	}
	return severity.Of(r)
}
