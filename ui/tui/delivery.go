package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/flags"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/widget"
)

// The tabs of the detail beside the payload.

// raw shows every byte of a record as it came.
func (d *shownDetail) raw(r *event.Record, w int) {
	if len(r.Raw) == 0 {
		d.Say("", themes.Dim, "The host made this record itself; no bytes came with it.")
		return
	}
	d.Say("", themes.Dim, cells.Count(len(r.Raw), "byte")+", as they came")
	d.Quote(r.Server, trust.Block(trust.Untrusted(string(r.Raw[:min(len(r.Raw), rawMax)])), max(w-1, 1)))
	if rest := len(r.Raw) - rawMax; rest > 0 {
		d.Say("", themes.Warn, "+"+cells.Count(rest, "byte")+" not shown; eventdeck events --raw has them all")
	}
}

// rawMax bounds what the raw tab shows, in bytes.
const rawMax = 32 << 10

// schema compares a payload with the schema of its type.
func (d *shownDetail) schema(a *app, r *event.Record) {
	if r.Kind != event.KindEvent {
		d.Say("", themes.Dim, "Only the payload of an event has a schema.")
		return
	}
	typ := a.typeOf(r)
	c := schema.ComparePayload(typ, capped(r.Data))
	switch {
	case len(typ.PayloadSchema) == 0:
		d.Say("", themes.Dim, "The server gives no schema for the payloads of this type.")
		return
	case !c.Schema:
		d.Say("", themes.Warn, "The server's schema cannot be used: it is no JSON Schema, refers in circles, or the payload is no JSON.")
		return
	case len(c.Differences) == 0:
		d.Say("", themes.Good, "The payload is what its schema says; "+cells.Count(c.Members, "member")+" compared.")
	}
	for _, x := range c.Differences {
		role, sign := themes.Warn, "! "
		if x.Kind == schema.DifferenceExtra {
			role, sign = themes.Dim, "+ "
		}
		where := cells.Sanitize("the whole payload")
		if !x.Path.IsZero() {
			where = trust.Line(x.Path)
		}
		d.Lines = append(d.Lines, detail.Line{Label: sign + cells.Pad(string(x.Kind), 10), Role: role, Text: cells.Join(where, cells.Sanitize(" "), cells.Sanitize(x.Says))})
	}
	d.Say("", themes.Plain, " ")
	d.Say("", themes.Dim, "the server's schema")
	d.Quote(r.Server, trust.JSON(capped(typ.PayloadSchema), max(d.Width-1, 1)))
}

// delivery tells the way by which a record came.
func (d *shownDetail) delivery(a *app, r *event.Record) {
	d.Say("mode      ", themes.Plain, string(r.Mode))
	d.Say("record    ", themes.Plain, cells.Number(r.Seq)+", "+string(r.Kind)+", subscription "+string(r.Sub))
	d.Say("received  ", themes.Plain, cells.TimeText(r.ReceivedAt, d.Zone(), cells.StampFull)+evidence.Lag(*r))
	d.Words("occurred  ", r.Timestamp)
	if r.Replayed {
		d.Say("replayed  ", themes.Busy, "yes, from the server's history")
	} else if r.Kind == event.KindEvent {
		d.Say("replayed  ", themes.Plain, "no")
	}
	if r.Mode == event.ModeWebhook && (r.Kind == event.KindEvent || r.Kind == event.KindRejected) {
		d.Say("signature ", themes.Good, "verified; a delivery that fails is refused and not kept")
		d.Words("webhook id", r.WebhookID)
	}
	d.Words("event id  ", r.EventID)
	d.cursors(a, r)
	if v := a.sub(r.Sub); v != nil {
		d.Say("dedup     ", themes.Plain, "kept once per subscription and event id; "+cells.Count(v.Dropped, "duplicate")+" dropped in this run")
		if v.Mode == event.ModeWebhook {
			for _, f := range evidence.LeaseFacts(v, a.Clock()) {
				d.Lines = append(d.Lines, detail.Line{Label: cells.Pad(strings.TrimSpace(f.Label), 9), Role: f.Role, Text: f.Text})
			}
		}
	} else {
		d.Say("dedup     ", themes.Dim, "the subscription has ended")
	}
	d.Say("size      ", themes.Plain, cells.Count(len(r.Raw), "byte"))
	for _, f := range flags.GravestFirst(r.Flags) {
		s := flags.Severities[flags.SeverityOf(f)]
		d.Lines = append(d.Lines, detail.Line{Label: "flag      ", Role: s.Role, Text: cells.Join(cells.Sanitize(s.Sign+" "), cells.Sanitize(f), cells.Sanitize(": "+flags.ReasonOf(f)))})
	}
}

// cursorLook bounds how many records are looked at for the position before one.
const cursorLook = 2_000

func (d *shownDetail) cursors(a *app, r *event.Record) {
	var before event.Cursor
	left := cursorLook
	_ = a.api.Log().Before(r.Seq, func(p event.Record) bool {
		left--
		if p.Sub == r.Sub && p.Cursor.Valid {
			before = p.Cursor
			return false
		}
		return left > 0
	})
	if before.Valid {
		d.Lines = append(d.Lines, detail.Line{Label: "cursor    ", Text: cells.Join(cells.Sanitize("before: "), trust.Line(before.Text))})
	}
	if r.Cursor.Valid {
		d.Lines = append(d.Lines, detail.Line{Label: "cursor    ", Text: cells.Join(cells.Sanitize("after: "), trust.Line(r.Cursor.Text))})
	} else {
		d.Say("cursor    ", themes.Dim, "none came with it")
	}
}

// same are the records that tell of the same thing as the chosen one.
type same struct {
	of    uint64
	keys  []keyField
	found []sameRecord
	from  uint64 // looked back to here
	done  bool
	busy  bool
	err   error
	gen   int
}

// keyField is a member that names what an event is about.
type keyField struct {
	name  trust.Text
	value string // JSON
}

type sameRecord struct {
	r     event.Record
	what  trust.Rendered // what is the same
	batch bool           // came in the same batch
}

// Bounds of the search for the same.
const (
	sameMax  = 200
	sameLook = 200_000
)

// sameRecords lists what sameWork finds.
func (d *shownDetail) sameRecords(a *app, r *event.Record) {
	s := &d.same
	if s.of != r.Seq {
		d.Say("", themes.Dim, "Looking for records of the same thing.")
		return
	}
	d.Words("id      ", r.EventID)
	for _, k := range s.keys {
		d.Lines = append(d.Lines, detail.Line{Label: "field   ", Text: cells.Join(trust.Line(k.name), cells.Sanitize(" = "), trust.Line(trust.Untrusted(k.value)))})
	}
	d.batch(r, a.Glyphs)
	for i := range s.found {
		if x := &s.found[i]; !x.batch {
			text := cells.Join(d.sameLine(&x.r), cells.Sanitize("  same "), x.what)
			d.Lines = append(d.Lines, detail.Line{Gutter: true, Text: text, Seq: x.r.Seq})
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
		d.Say("", themes.Dim, a.KeyOf("open")+" goes to the chosen one")
	}
}

func (d *shownDetail) sameLine(r *event.Record) trust.Rendered {
	name := r.Type
	if r.Labels != nil && !r.Labels.Name.IsZero() {
		name = r.Labels.Name
	}
	return cells.Join(cells.Sanitize(cells.TimeText(r.ReceivedAt, d.Zone(), cells.StampDay)+" "), trust.Line(name), cells.Sanitize("  "), trust.Line(host.Headline(*r)))
}

// keysOf returns the members of a payload that name what it is about.
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

// sameAs tells what a record has in common with the chosen one.
func sameAs(r, of *event.Record, keys []keyField) (trust.Rendered, bool) {
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

// sameWork looks through the log beside the program while the tab is shown.
func (a *app) sameWork() tea.Cmd {
	s := &a.detail.same
	if a.detail.tab != tabSame || !a.showsRecord() || s.busy {
		return nil
	}
	log := a.api.Log()
	if s.of != a.stream.At {
		r, err := log.Get(a.stream.At)
		*s = same{of: a.stream.At, gen: s.gen + 1, from: log.Last() + 1, err: err}
		s.keys = keysOf(r.Data)
	}
	if s.done {
		return nil
	}
	of, err := log.Get(s.of)
	if err != nil {
		s.done, s.err = true, err
		return nil
	}
	s.busy = true
	from, keys := s.from, s.keys
	return a.Do(func(ctx context.Context) tea.Msg {
		var found []sameRecord
		end, left := true, stream.PageScan
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
			s.done = end || err != nil || len(s.found) >= sameMax || log.Last()-from > sameLook
			return nil
		})
	})
}
