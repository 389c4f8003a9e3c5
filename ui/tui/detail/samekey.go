package detail

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// same is the search for records about the same thing as the chosen one: with the same id, in the
// same batch, or with a key field in common.
type same struct {
	of    uint64
	keys  []keyField
	found []sameRecord
	last  uint64 // the newest record when the search began
	from  uint64 // searched back to here
	done  bool
	busy  bool
	err   error
	gen   int
}

// keyField is a member that identifies the subject of an event.
type keyField struct {
	name  trust.Text
	value string // JSON
}

type sameRecord struct {
	r     event.Record
	what  trust.Rendered // what both have in common
	batch bool           // both are in the same batch
}

// Bounds of the search, in records.
const (
	sameMax  = 200
	sameScan = 200_000
	sameStep = 20_000 // searched in one step
)

// sameRecords writes the records that findSame found.
func (d *Pane) sameRecords(r *event.Record) {
	s := &d.same
	if s.of != r.Seq {
		d.Say("", themes.Dim, "Looking for records of the same thing.")
		return
	}
	d.Words("id      ", r.EventID)
	for _, k := range s.keys {
		d.Lines = append(d.Lines, Line{Label: "field   ", Text: cells.Join(trust.Line(k.name), cells.Sanitize(" = "), trust.Line(trust.Untrusted(k.value)))})
	}
	d.batch(r)
	for i := range s.found {
		if x := &s.found[i]; !x.batch {
			text := cells.Join(d.sameLine(&x.r), cells.Sanitize("  same "), x.what)
			d.Lines = append(d.Lines, Line{Gutter: true, Text: text, Seq: x.r.Seq})
		}
	}
	switch {
	case s.err != nil:
		d.Say("", themes.Bad, "cannot be read: "+s.err.Error())
	case !s.done:
		d.Say("", themes.Dim, "Looking back: "+cells.Count(s.from, "record")+" to go.")
	case len(s.found) == 0:
		d.Say("", themes.Dim, "No other record has the same id or key.")
	default:
		d.Say("", themes.Dim, d.env.Screen.KeyOf("open")+" goes to the chosen one")
	}
}

func (d *Pane) sameLine(r *event.Record) trust.Rendered {
	return cells.Join(cells.Sanitize(cells.TimeText(r.ReceivedAt, d.Zone(), cells.StampDay)+" "), trust.Line(r.Name()), cells.Sanitize("  "), trust.Line(host.Headline(*r)))
}

// keysOf returns the key fields of a payload.
func keysOf(data []byte) []keyField {
	members, err := strict.ParseObject(data, strict.Limits{})
	if err != nil {
		return nil
	}
	var out []keyField
	for _, m := range members {
		name := m.Key.Raw()
		low := strings.ToLower(name)
		if low != "id" && low != "key" && low != "uuid" && !strings.HasSuffix(name, "Id") && !strings.HasSuffix(name, "ID") && !strings.HasSuffix(low, "_id") && !strings.HasSuffix(low, "key") {
			continue
		}
		if v := bytes.TrimSpace(m.Value); len(v) > 2 && len(v) < 200 && v[0] != '{' && v[0] != '[' && v[0] != 't' && v[0] != 'f' && v[0] != 'n' && len(out) < 4 {
			out = append(out, keyField{m.Key, string(v)})
		}
	}
	return out
}

// sameAs returns what a record has in common with the chosen one; ok is false for nothing.
func sameAs(r, of *event.Record, keys []keyField) (what trust.Rendered, ok bool) {
	if r.Seq == of.Seq || r.Kind != event.KindEvent {
		return trust.Rendered{}, false
	}
	if sameBatch(r, of) {
		return cells.Sanitize("batch"), true
	}
	if !of.EventID.IsZero() && r.EventID == of.EventID {
		return cells.Sanitize("id"), true
	}
	for _, k := range keys {
		if !bytes.Contains(r.Data, []byte(k.value)) {
			continue
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(r.Data, &members) == nil && string(bytes.TrimSpace(members[k.name.Raw()])) == k.value {
			return trust.Line(k.name), true
		}
	}
	return trust.Rendered{}, false
}

// findSame searches the log in the background while the Same tab is shown.
func (d *Pane) findSame() tea.Cmd {
	s := &d.same
	if d.Tab != tabSame || d.env.Record() == 0 || s.busy {
		return nil
	}
	of, ok := d.env.Get(d.env.Record())
	if !ok {
		return nil
	}
	log := d.env.Log()
	if s.of != of.Seq {
		last := d.env.Snap.Last
		*s = same{of: of.Seq, gen: s.gen + 1, last: last, from: last + 1, keys: keysOf(of.Data)}
	}
	if s.done {
		return nil
	}
	s.busy = true
	from, keys := s.from, s.keys
	return d.env.Screen.Do(func(ctx context.Context) tea.Msg {
		var found []sameRecord
		end, left := true, sameStep
		err := log.Before(from, func(r event.Record) bool {
			if left == 0 || ctx.Err() != nil {
				end = false
				return false
			}
			left--
			from = r.Seq
			if what, ok := sameAs(&r, &of, keys); ok {
				found = append(found, sameRecord{r, what, sameBatch(&r, &of)})
			}
			return true
		})
		return widget.Then(func() tea.Cmd {
			s.busy = false
			s.gen++
			if s.of != of.Seq {
				return nil
			}
			s.found, s.from, s.err = append(s.found, found...), from, err
			s.done = end || err != nil || len(s.found) >= sameMax || s.last-from > sameScan
			return nil
		})
	})
}

// sameBatch reports whether two records are in the same batch of a server.
func sameBatch(r, of *event.Record) bool {
	return r.Labels != nil && of.Labels != nil && !of.Labels.Batch.IsZero() && r.Sub == of.Sub && r.Labels.Batch == of.Labels.Batch
}

// batch writes the events of the batch of a record, in the order of arrival.
func (d *Pane) batch(of *event.Record) {
	s := &d.same
	var members []event.Record
	for i := range s.found {
		if x := &s.found[i]; x.batch {
			members = append(members, x.r)
		}
	}
	if len(members) == 0 {
		return
	}
	members = append(members, *of)
	slices.SortFunc(members, func(x, y event.Record) int { return cmp.Compare(x.Seq, y.Seq) })
	d.Lines = append(d.Lines, Line{Label: "batch   ", Role: themes.Strong, Text: cells.Join(trust.Line(of.Labels.Batch), cells.Sanitize(", "+cells.Count(len(members), "event")))})
	for i := range members {
		m, joint := &members[i], 1 // the index into Joints: first, middle, last
		switch i {
		case 0:
			joint = 0
		case len(members) - 1:
			joint = 2
		}
		role := themes.Plain
		if m.Seq == of.Seq {
			role = themes.Strong
		}
		d.Lines = append(d.Lines, Line{Gutter: true, Role: role, Seq: m.Seq, Text: cells.Join(cells.Sanitize(d.Env.Glyphs.Joints[joint]+" "), d.sameLine(m))})
	}
}
