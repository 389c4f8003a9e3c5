package tui

import (
	"encoding/json"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
)

// columnPicker chooses the columns of the stream: which, in what order, how wide.
// The stream shows every change at once.
type columnPicker struct {
	app     *app
	name    string // of the setting
	node    query.Node
	rows    []columnRow
	at, top int
	before  []stream.Column // nil: the usual ones
}

// columnRow is a column that is shown or could be.
type columnRow struct {
	stream.Column
	on   bool
	says string // where it comes from
}

// Bounds of what the picker offers.
const (
	offeredPaths = 60
	offeredDepth = 3
	seenRecords  = 50
)

// openColumns edits the columns of the event type in scope, else those of the
// stream of several types.
func (a *app) openColumns() {
	n := a.stream.Query.Node
	d := &columnPicker{app: a, name: stream.TypeKey(n), node: n}
	if d.name != "" {
		d.node = query.Node{Server: n.Server, Type: n.Type}
	}
	d.before = a.stream.Columns.By[d.name]
	d.fill()
	a.Show(d)
}

// fill lists what is shown, then what could be.
func (d *columnPicker) fill() {
	a := d.app

	d.rows = d.rows[:0]
	labels := a.labelsSeen(d.node)
	for _, c := range a.stream.Columns.Of(d.node, labels) {
		d.rows = append(d.rows, columnRow{c, true, ""})
	}
	offer := func(c stream.Column, says string) {
		for i := range d.rows {
			if r := &d.rows[i]; r.Kind == c.Kind && r.Path == c.Path {
				if r.says == "" {
					r.says = says
				}
				return
			}
		}
		if len(d.rows) < offeredPaths {
			d.rows = append(d.rows, columnRow{c, false, says})
		}
	}
	for _, c := range stream.UsualColumns {
		offer(c, kindSays[c.Kind])
	}
	for _, l := range stream.LabelColumns {
		if labels&l.Has != 0 {
			offer(stream.Column{Kind: l.Kind}, kindSays[l.Kind])
		}
	}
	schemaPaths(a.typeOf(&event.Record{Server: d.node.Server, Type: d.node.Type}).PayloadSchema, func(path string) {
		offer(stream.Column{Kind: stream.ColPath, Path: path}, "in the schema")
	})
	left := seenRecords
	_ = a.api.Log().Before(0, func(r event.Record) bool {
		left--
		if r.Kind == event.KindEvent && d.node.Holds(&r) {
			seenPaths(r.Data, func(path string) { offer(stream.Column{Kind: stream.ColPath, Path: path}, "seen") })
		}
		return left > 0
	})
}

var kindSays = map[stream.Kind]string{
	stream.ColTime: "when it was received", stream.ColServer: "if there are several", stream.ColType: "if there are several",
	stream.ColField: "how grave it is, or its status", stream.ColSummary: "takes the room that is left",
	stream.ColName: "of the event itself", stream.ColPriority: "as the server gives it", stream.ColTags: "as the server gives them", stream.ColBatch: "came as one",
	stream.ColSub: "subscription", stream.ColMode: "delivery mode", stream.ColSize: "bytes as received",
}

// schemaPaths calls fn for the scalars that a schema of an object names.
func schemaPaths(schema json.RawMessage, fn func(path string)) {
	var walk func(raw json.RawMessage, at string, depth int)
	left := offeredPaths
	walk = func(raw json.RawMessage, at string, depth int) {
		var s struct {
			Type       any                        `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if left == 0 || depth > offeredDepth || json.Unmarshal(raw, &s) != nil {
			return
		}
		if len(s.Properties) == 0 {
			if at != "" && s.Type != "object" && s.Type != "array" {
				left--
				fn(at)
			}
			return
		}
		names := make([]string, 0, len(s.Properties))
		for name := range s.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			walk(s.Properties[name], at+"/"+pointerName(name), depth+1)
		}
	}
	if len(schema) > 0 {
		walk(schema, "", 0)
	}
}

// seenPaths calls fn for the scalars of a payload.
func seenPaths(data []byte, fn func(path string)) {
	var walk func(raw []byte, at string, depth int)
	walk = func(raw []byte, at string, depth int) {
		members, err := strict.ParseObject(raw, strict.Limits{})
		if err != nil {
			return
		}
		for _, m := range members {
			path := at + "/" + pointerName(m.Key.Raw())
			switch {
			case len(m.Value) == 0 || len(path) > 100 || m.Value[0] == '[':
			case m.Value[0] != '{':
				fn(path)
			case depth < offeredDepth:
				walk(m.Value, path, depth+1)
			}
		}
	}
	walk(data, "", 1)
}

func pointerName(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }

func (d *columnPicker) Title() string {
	if d.name == "" {
		return "Columns of several types"
	}
	return "Columns of " + cells.Sanitize(d.node.Server).Plain() + " " + trust.Line(d.node.Type).Plain()
}

func (d *columnPicker) Size(int, int) (int, int) { return 60, len(d.rows) }

func (d *columnPicker) Draw(c *cells.Canvas, h int) {
	a := d.app

	d.top = max(0, min(d.top, d.at))
	if d.at >= d.top+h {
		d.top = d.at - h + 1
	}
	for i := d.top; i < len(d.rows) && i < d.top+h; i++ {
		r := &d.rows[i]
		mark, sign, role := " ", a.Glyphs.Choice, themes.Dim
		if r.on {
			sign, role = a.Glyphs.Chosen, themes.Plain
		}
		if i == d.at {
			c.Only(themes.Cursor)
			mark = a.Glyphs.Cursor
		}
		c.Put(themes.Plain, mark+sign+" ")
		c.Column(role, r.Name(), max(12, c.Width-30))
		width := ""
		if r.Width > 0 {
			width = cells.Number(uint64(r.Width))
		}
		c.Put(themes.Dim, " "+cells.Pad(width, 3))
		c.Safe(themes.Dim, cells.Sanitize(r.says).Clip(c.Room))
		c.End()
	}
}

// apply shows the rows that are on.
func (d *columnPicker) apply() {
	a := d.app

	cols := []stream.Column{}
	for _, r := range d.rows {
		if r.on {
			cols = append(cols, r.Column)
		}
	}
	a.stream.Columns.Set(d.name, cols)
}

func (d *columnPicker) move(step int) {
	if j := d.at + step; j >= 0 && j < len(d.rows) {
		d.rows[d.at], d.rows[j] = d.rows[j], d.rows[d.at]
		d.at = j
	}
}

// widen changes the width of a column that has one.
func (d *columnPicker) widen(step int) {
	r := &d.rows[d.at]
	if r.Kind == stream.ColSummary {
		return
	}
	if r.Width == 0 {
		r.Width = 12
	}
	r.Width = max(3, min(r.Width+step, 80))
}

// change does what a key says and tells whether the columns changed.
func (d *columnPicker) change(name string) (changed bool) {
	a := d.app

	switch name {
	case "j", "down":
		d.at = min(d.at+1, len(d.rows)-1)
	case "k", "up":
		d.at = max(d.at-1, 0)
	case "g", "home":
		d.at = 0
	case "G", "end":
		d.at = len(d.rows) - 1
	case "space":
		d.rows[d.at].on = !d.rows[d.at].on
		return true
	case "J", "shift+down":
		d.move(1)
		return true
	case "K", "shift+up":
		d.move(-1)
		return true
	case "<", "left":
		d.widen(-1)
		return true
	case ">", "right":
		d.widen(1)
		return true
	case "r":
		a.stream.Columns.Set(d.name, nil)
		d.fill()
		d.at = min(d.at, len(d.rows)-1)
	}
	return false
}

func (d *columnPicker) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	a := d.app

	switch name {
	case "esc", "q":
		a.stream.Columns.Set(d.name, d.before)
		a.Show(nil)
	case "enter":
		a.Show(nil)
		a.Tell("columns are kept")
		return a.keepSetting(stream.ColumnsSetting, a.stream.Columns.By)
	default:
		if d.change(name) {
			d.apply()
		}
	}
	return nil
}

func (d *columnPicker) Paste(string) tea.Cmd { return nil }
func (d *columnPicker) Hints() []string {
	return []string{"space", "show", "J K", "order", "< >", "width", "r", "usual", "enter", "keep", "esc", "undo"}
}
