// Lists the most frequent values of a field in all stored events, and filters by one.

package trace

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/filter"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/incidents"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// valuesMax bounds the values that are listed.
const valuesMax = 200

// OpenTop counts the values at a path of the matching events in the background, and shows them.
func OpenTop(env *Env, use func(term string) tea.Cmd, path *filter.Path, match func(*event.Record) bool) tea.Cmd {
	ctx, cancel := context.WithCancel(context.Background())
	d := &list{env: env, use: use, path: path, stop: cancel, Picker: widget.NewPicker(nil)}
	env.Screen.Show(d)
	log := env.Log()
	return env.Screen.Do(func(run context.Context) tea.Msg {
		end := context.AfterFunc(run, cancel)
		defer end()
		t, err := incidents.Count(ctx, log, match, path, func(uint64) bool { return ctx.Err() == nil })
		return widget.Then(func() tea.Cmd {
			if ctx.Err() == nil {
				d.counted(t, err)
			}
			return nil
		})
	})
}

// list is the dialog.
type list struct {
	env  *Env
	use  func(term string) tea.Cmd
	path *filter.Path
	widget.Picker
	values   []incidents.Value
	distinct int
	tally    *incidents.Tally // nil until everything was counted
	err      error
	stop     context.CancelFunc
}

func (d *list) counted(t *incidents.Tally, err error) {
	if d.err = err; err != nil {
		return
	}
	d.tally = t
	d.values, d.distinct = t.Top(valuesMax)
	all := make([]widget.Pick, len(d.values))
	for i, v := range d.values {
		all[i] = widget.Pick{Text: trust.Line(v.Text), Find: widget.Findable(trust.Line(v.Text).Plain())}
	}
	d.Refill(all)
}

func (d *list) Title() string { return "Top values of " + cells.Sanitize(d.path.String()).Plain() }

func (d *list) Size(w, h int) (int, int) {
	return min(90, max(1, w-4)), max(3, min(h-6, len(d.values)+2))
}

func (d *list) Draw(c *cells.Canvas, h int) {
	switch {
	case d.err != nil:
		c.Safe(themes.Bad, cells.Sanitize(" cannot read the log: "+d.err.Error()).Clip(c.Room))
		c.End()
		return
	case d.tally == nil:
		c.Put(themes.Dim, " counting "+d.env.Glyphs.More)
		c.End()
		return
	}
	d.DrawField(c, d.env.Glyphs.Path, h-2)
	most := 1
	if len(d.values) > 0 {
		most = d.values[0].Count
	}
	i := 0
	d.DrawList(d.env.Glyphs, c, h-2, func(c *cells.Canvas, x *widget.Pick) {
		n := d.countOf(x)
		c.Field(themes.Strong, cells.Sanitize(cells.Number(uint64(n))), 9, true)
		c.Put(themes.Plain, " ")
		bar := max(1, n*12/most)
		for k := range 12 {
			if k < bar {
				c.Put(themes.Good, d.env.Glyphs.Bars[len(d.env.Glyphs.Bars)-1])
			} else {
				c.Put(themes.Plain, " ")
			}
		}
		c.Put(themes.Plain, " ")
		c.Safe(themes.Plain, x.Text.Clip(c.Room))
		i++
	})
	for ; i < h-2; i++ {
		c.End()
	}
	text := fmt.Sprintf(" %s in %s, %s without", cells.Count(d.distinct, "value"), cells.Count(d.tally.Records, "event"), cells.Number(uint64(d.tally.Without)))
	if more := d.distinct - len(d.values); more > 0 {
		text += fmt.Sprintf(", the %d most frequent are listed", len(d.values))
	}
	c.Put(themes.Dim, text)
	c.End()
}

// countOf returns the number of events with the value of a row.
func (d *list) countOf(x *widget.Pick) int {
	for i := range d.values {
		if trust.Line(d.values[i].Text).Plain() == x.Text.Plain() {
			return d.values[i].Count
		}
	}
	return 0
}

func (d *list) Key(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		d.stop()
		d.env.Screen.Show(nil)
	case "enter":
		if d.Chosen() == nil {
			return nil
		}
		d.stop()
		d.env.Screen.Show(nil)
		return d.use(filter.PathTerm(d.path.String(), d.values[d.Found[d.At]].Text))
	default:
		d.Picker.Key(k)
	}
	return nil
}

func (d *list) Paste(s string) tea.Cmd { d.Insert(s); return nil }

func (d *list) Hints() []string {
	return []string{"enter", "show these", "type", "to find", "esc", "back"}
}
