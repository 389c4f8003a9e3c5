package stream

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"eventdeck/host/event"
	"eventdeck/host/filter"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
)

// ColumnsSetting is the setting with the chosen columns by [TypeKey]; "" is the key for streams of
// several types.
const ColumnsSetting = "ui.columns"

// Kind is the kind of a column of the stream.
type Kind string

const (
	ColTime     Kind = "time"
	ColServer   Kind = "server"
	ColType     Kind = "type"
	ColSeverity Kind = "severity" // the sender's word for the severity
	ColSummary  Kind = "summary"  // gets the remaining width
	ColSub      Kind = "sub"
	ColMode     Kind = "mode"
	ColSize     Kind = "size"
	ColPath     Kind = "path" // a place in the payload

	// Labels: see [event.Labels].
	ColSubscribed Kind = "subscribed" // the type that was subscribed to, where the event has another name
	ColPriority   Kind = "priority"
	ColTags       Kind = "tags"
	ColBatch      Kind = "batch"
)

// Column is one column as the operator chose it.
type Column struct {
	Kind  Kind   `json:"kind"`
	Path  string `json:"path,omitempty"`  // the JSON pointer of a ColPath
	Width int    `json:"width,omitempty"` // in cells; 0: the usual width
}

// UnmarshalText implements [encoding.TextUnmarshaler]. An earlier version called the severity
// "field".
func (k *Kind) UnmarshalText(text []byte) error {
	if *k = Kind(text); *k == "field" {
		*k = ColSeverity
	}
	return nil
}

// UsualColumns are shown, as far as they fit, until others are chosen.
var UsualColumns = []Column{{Kind: ColTime}, {Kind: ColSeverity}, {Kind: ColServer}, {Kind: ColType}, {Kind: ColSummary}, {Kind: ColSub}, {Kind: ColMode}, {Kind: ColSize}}

// columnRank is the order in which columns are omitted to make room for the summary: the highest
// rank first.
var columnRank = map[Kind]int{ColSize: 9, ColMode: 8, ColSub: 7, ColBatch: 6, ColTags: 6, ColPriority: 5, ColPath: 5, ColSubscribed: 4, ColServer: 3, ColType: 2, ColTime: 1, ColSeverity: 0}

// Widths of the summary in cells, for which columns are omitted.
const (
	wantedSummary = 64
	minSummary    = 28
)

// TypeKey returns the key of an event type in the setting, "" for a node above types.
func TypeKey(n query.Node) string {
	if n.Level() < 2 {
		return ""
	}
	return n.Server + "/" + n.Type.Raw()
}

// Plan has the columns of the stream and their widths.
type Plan struct {
	cols  []Column
	width []int          // in cells; 0: the column is omitted
	gen   int            // grows with every change
	clock cells.TimeView // for times in the text of rows
	now   time.Time      // some time today
	of    planKey
}

// planKey has what a plan depends on.
type planKey struct {
	w      int
	scope  query.Node
	widest widest
	sub    bool // rows differ only by the id of their subscription
	short  bool
	only   bool
	many   bool // several servers
	choice int
	clock  cells.TimeView
	today  int // see [cells.TimeView.Day]
}

// planFor returns the plan for a width, updated if needed.
func (s *Stream) planFor(w int) *Plan {
	env := s.env
	p := &s.plan
	if s.Query.Node != p.of.scope {
		s.Labels = 0
	}
	short, only := env.Panes.Now.ShortTime, env.Panes.Now.OnlySummary
	sub := slices.ContainsFunc(s.several, func(k event.Key) bool { return s.Query.Node.HoldsSub(s.Query.Node.Sub, &k) })
	now := env.Clock()
	key := planKey{w, s.Query.Node, s.widest, sub, short, only, len(env.Snap.Servers) != 1, s.Columns.gen, env.Times, env.Times.Day(now)}
	if key == p.of {
		return p
	}
	kind := TypeKey(key.scope) != TypeKey(p.of.scope) || key.choice != p.of.choice
	p.of, p.now = key, now
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

// widths returns the widths of columns, 0 for an omitted one.
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
			if out[i] = len(cells.TimeLong); key.short {
				out[i] = len(cells.TimeShort)
			}
			if key.widest.dated && (key.clock == cells.TimeLocal || key.clock == cells.TimeUTC) {
				out[i] += len(cells.TimeDay)
			}
		case ColServer:
			if level < 1 && key.many {
				out[i] = min(key.widest.server, serverMax(key.w))
			}
		case ColType:
			if level < 2 {
				out[i] = min(key.widest.typ, typeMax(key.w))
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
		case ColSubscribed:
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
		if room >= wantedSummary || rank < 7 && room >= minSummary || rank < 4 && room >= minSummary/2 {
			return out
		}
		used -= out[worst] + 1
		out[worst] = 0
	}
}

// serverMax and typeMax return the largest widths of names in a row of w cells.
func serverMax(w int) int { return max(6, w/8) }
func typeMax(w int) int   { return max(10, w/5) }

// severityWidth returns the width of the severity and its bar in a row of w cells: enough for whole
// words, or for their beginnings.
func severityWidth(w int) int {
	if w < 76 {
		return 5
	}
	return 9
}

// worstColumn returns the column to omit next, -1 for none.
func worstColumn(cols []Column, width []int) int {
	worst := -1
	for i, c := range cols {
		if width[i] > 0 && columnRank[c.Kind] > 1 && (worst < 0 || columnRank[c.Kind] >= columnRank[cols[worst].Kind]) {
			worst = i
		}
	}
	return worst
}

// Choice has the columns that the operator chose, and the members of payloads that rows show.
type Choice struct {
	By            map[string][]Column
	gen           int                           // grows with every change
	SeverityPaths map[string]string             // by [TypeKey], the JSON pointer of the severity; of the operator
	Picks         map[typeOfServer]*reading.Map // what a row shows of a type's payloads
	Seen          int                           // the version of the types that Picks was made from
}

type typeOfServer struct {
	server string
	typ    trust.Text
}

// Of returns the columns for a node.
func (c *Choice) Of(n query.Node) []Column {
	if cols, ok := c.By[TypeKey(n)]; ok && len(cols) > 0 {
		return cols
	}
	return UsualColumns
}

// Set sets the columns of a [TypeKey]; nil restores the usual ones.
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

// pick returns which members of payloads the rows of a type show: as the operator's setting says,
// else as the schema suggests.
func (s *Stream) pick(r *event.Record) *reading.Map {
	env := s.env
	c := s.Columns
	key := typeOfServer{r.Server, r.Type}
	if p, ok := c.Picks[key]; ok {
		return p
	}
	if c.Picks == nil {
		c.Picks = map[typeOfServer]*reading.Map{}
	}
	p := pickOf(query.TypeOf(env.Snap, r.Server, r.Type).PayloadSchema)
	if at := c.SeverityPaths[TypeKey(query.Node{Server: r.Server, Type: r.Type})]; at != "" {
		p.Level = []string{filter.PathAt(at)}
	}
	c.Picks[key] = p
	return p
}

// property is a member of a schema, as far as it is read here.
type property struct {
	Enum []any `json:"enum"`
}

// pickOf returns where a type's payloads have their severity by its schema: in a member that allows
// only levels, where none is named as severity.
func pickOf(schema json.RawMessage) *reading.Map {
	var s struct {
		Properties map[string]property `json:"properties"`
	}
	p := &reading.Map{}
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil {
		return p
	}
	names := slices.Sorted(maps.Keys(s.Properties))
	if slices.ContainsFunc(names, reading.IsSeverity) {
		return p
	}
	for _, name := range names {
		if prop := s.Properties[name]; prop.levels() {
			p.Level = []string{filter.PathAt(Pointer(name))}
			break
		}
	}
	return p
}

// levels reports whether all values of a member are words for a severity.
func (p *property) levels() bool {
	return len(p.Enum) > 1 && !slices.ContainsFunc(p.Enum, func(v any) bool {
		word, ok := v.(string)
		return !ok || reading.LevelOf(word) == reading.None
	})
}

// Pointer returns the JSON pointer of a member of an object (RFC 6901).
func Pointer(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// valueMax bounds the text of a value in a column, in bytes.
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

// inside returns a member of an object, or an element of a list.
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

// beginning returns at most max bytes, and only whole characters.
func beginning(b []byte, max int) string {
	if len(b) <= max {
		return string(b)
	}
	for max > 0 && !utf8.RuneStart(b[max]) {
		max--
	}
	return string(b[:max])
}
