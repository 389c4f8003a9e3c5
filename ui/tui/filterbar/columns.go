// Is the dialog to choose the columns of the stream.

package filterbar

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/filter"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/widget"
)

// Picker is the dialog to choose columns, their order and widths. The stream shows each change at
// once.
type Picker struct {
	env  *Env
	name string // of the setting
	node query.Node
	Rows []Row // the shown columns, then others that can be shown
	widget.Chooser
	before []stream.Column // the columns before; nil: the usual ones
	recent []event.Record  // the newest records
}

// Row is a column that is or can be shown.
type Row struct {
	stream.Column
	On   bool
	Says string // where it comes from
}

// name returns the name of the column; a path is written as in filters.
func (r *Row) name() trust.Rendered {
	if r.Kind == stream.ColPath {
		return trust.Line(trust.Untrusted(filter.PathAt(r.Path)))
	}
	return cells.Sanitize(string(r.Kind))
}

// Bounds of what the picker offers.
const (
	pathsMax  = 60
	depthMax  = 3
	recentMax = 50
)

// OpenColumns edits the columns of the event type in scope, else those of streams of several types. It first
// reads the newest records in the background.
func OpenColumns(env *Env) tea.Cmd {
	n := env.Stream.Query.Node
	d := &Picker{env: env, name: stream.TypeKey(n), node: n}
	if d.name != "" {
		d.node = query.Node{Server: n.Server, Type: n.Type}
	}
	d.before = env.Stream.Columns.By[d.name]
	return env.Do(func(context.Context) tea.Msg {
		var recent []event.Record
		_ = env.Log().Before(0, func(r event.Record) bool { // without the log only the schema offers columns
			recent = append(recent, r)
			return len(recent) < recentMax
		})
		return widget.Then(func() tea.Cmd {
			d.recent = recent
			d.fill()
			env.Show(d)
			return nil
		})
	})
}

// fill lists the columns that are shown, then others that can be shown.
func (d *Picker) fill() {
	d.Rows = d.Rows[:0]
	labels := d.labels()
	for _, c := range d.env.Stream.Columns.Of(d.node) {
		d.Rows = append(d.Rows, Row{c, true, ""})
	}
	offer := func(c stream.Column, says string) {
		for i := range d.Rows {
			if r := &d.Rows[i]; r.Kind == c.Kind && r.Path == c.Path {
				if r.Says == "" {
					r.Says = says
				}
				return
			}
		}
		if len(d.Rows) < pathsMax {
			d.Rows = append(d.Rows, Row{c, false, says})
		}
	}
	for _, c := range stream.UsualColumns {
		offer(c, kindHelp[c.Kind])
	}
	for _, l := range stream.LabelColumns {
		if labels&l.Has != 0 {
			offer(stream.Column{Kind: l.Kind}, kindHelp[l.Kind])
		}
	}
	schemaPaths(query.TypeOf(d.env.Snap, d.node.Server, d.node.Type).PayloadSchema, func(path string) {
		offer(stream.Column{Kind: stream.ColPath, Path: path}, "in the schema")
	})
	for i := range d.recent {
		if r := &d.recent[i]; r.Kind == event.KindEvent && d.node.Holds(r) {
			seenPaths(r.Data, func(path string) { offer(stream.Column{Kind: stream.ColPath, Path: path}, "seen") })
		}
	}
}

// labels returns the kinds of labels of the newest records in scope and of shown rows.
func (d *Picker) labels() (seen stream.LabelSet) {
	if d.node == d.env.Stream.Query.Node {
		seen = d.env.Stream.Labels
	}
	for i := range d.recent {
		if r := &d.recent[i]; d.node.Holds(r) && r.Labels != nil {
			seen |= stream.LabelsOf(r).Set
		}
	}
	return seen
}

var kindHelp = map[stream.Kind]string{
	stream.ColTime: "when it was received", stream.ColServer: "if there are several", stream.ColType: "if there are several",
	stream.ColSeverity: "or status: the sender's word", stream.ColSummary: "takes the room that is left",
	stream.ColSubscribed: "the type that was subscribed to", stream.ColPriority: "as the server gives it", stream.ColTags: "as the server gives them", stream.ColBatch: "came as one",
	stream.ColSub: "subscription", stream.ColMode: "delivery mode", stream.ColSize: "bytes as received",
}

// Title implements [widget.Dialog].
func (d *Picker) Title() string {
	if d.name == "" {
		return "Columns of several types"
	}
	return "Columns of " + cells.Sanitize(d.node.Server).Plain() + " " + trust.Line(d.node.Type).Plain()
}

// Size implements [widget.Dialog].
func (d *Picker) Size(int, int) (int, int) { return 60, len(d.Rows) }

// Draw implements [widget.Dialog].
func (d *Picker) Draw(c *cells.Canvas, h int) {
	first, end := d.Chooser.Visible(len(d.Rows), h)
	for i := first; i < end; i++ {
		r := &d.Rows[i]
		sign, role := d.env.Glyphs.Choice, themes.Dim
		if r.On {
			sign, role = d.env.Glyphs.Chosen, themes.Plain
		}
		c.Mark(i == d.At, d.env.Glyphs.Cursor)
		c.Put(themes.Plain, sign+" ")
		c.Column(role, r.name(), max(12, c.Width-30))
		width := ""
		if r.Width > 0 {
			width = cells.Number(uint64(r.Width))
		}
		c.Put(themes.Dim, " "+cells.Pad(width, 3))
		c.Safe(themes.Dim, cells.Sanitize(r.Says).Clip(c.Room))
		c.End()
	}
}

// apply makes the stream show the columns that are on.
func (d *Picker) apply() {
	cols := []stream.Column{}
	for _, r := range d.Rows {
		if r.On {
			cols = append(cols, r.Column)
		}
	}
	d.env.Stream.Columns.Set(d.name, cols)
}

func (d *Picker) move(step int) {
	if j := d.At + step; j >= 0 && j < len(d.Rows) {
		d.Rows[d.At], d.Rows[j] = d.Rows[j], d.Rows[d.At]
		d.At = j
	}
}

// widen changes the width of a column that has one.
func (d *Picker) widen(step int) {
	r := &d.Rows[d.At]
	if r.Kind == stream.ColSummary {
		return
	}
	if r.Width == 0 {
		r.Width = 12
	}
	r.Width = max(3, min(r.Width+step, 80))
}

// change handles a key and reports whether the columns changed.
func (d *Picker) change(name string) (changed bool) {
	switch name {
	case "space":
		d.Rows[d.At].On = !d.Rows[d.At].On
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
		d.env.Stream.Columns.Set(d.name, nil)
		d.fill()
		d.At = min(d.At, len(d.Rows)-1)
	default:
		d.Chooser.Key(name, len(d.Rows))
	}
	return false
}

// Key implements [widget.Dialog].
func (d *Picker) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch name {
	case "esc", "q":
		d.env.Stream.Columns.Set(d.name, d.before)
		d.env.Show(nil)
	case "enter":
		d.env.Show(nil)
		d.env.Tell("columns are kept")
		return d.env.Persist.SetJSON(stream.ColumnsSetting, d.env.Stream.Columns.By)
	default:
		if d.change(name) {
			d.apply()
		}
	}
	return nil
}

// Hints implements [widget.Dialog].
func (d *Picker) Hints() []string {
	return []string{"space", "show", "J K", "order", "< >", "width", "r", "usual", "enter", "keep", "esc", "undo"}
}
