package detail

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// raw writes the bytes of a record as they came.
func (d *Pane) raw(r *event.Record, w int) {
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

// rawMax bounds the bytes that the raw tab shows.
const rawMax = 32 << 10

// schema compares a payload with the schema of its type.
func (d *Pane) schema(r *event.Record) {
	if r.Kind != event.KindEvent {
		d.Say("", themes.Dim, "Only the payload of an event has a schema.")
		return
	}
	typ := query.TypeOf(d.env.Snap, r.Server, r.Type)
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
		d.Lines = append(d.Lines, Line{Label: sign + cells.Pad(string(x.Kind), 10), Role: role, Text: cells.Join(where, cells.Sanitize(" "), cells.Sanitize(x.Says))})
	}
	d.Say("", themes.Plain, " ")
	d.Say("", themes.Dim, "the server's schema")
	d.Quote(r.Server, trust.JSON(capped(typ.PayloadSchema), max(d.Width-1, 1)))
}

// delivery writes how a record was delivered.
func (d *Pane) delivery(r *event.Record) {
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
	d.cursors(r)
	if v := query.FindSub(d.env.Snap, r.Sub); v != nil {
		d.Say("dedup     ", themes.Plain, "kept once per subscription and event id; "+cells.Count(v.Dropped, "duplicate")+" dropped in this run")
		if v.Mode == event.ModeWebhook {
			for _, f := range evidence.LeaseFacts(v, d.Env.Clock()) {
				d.Lines = append(d.Lines, Line{Label: cells.Pad(strings.TrimSpace(f.Label), 9), Role: f.Role, Text: f.Text})
			}
		}
	} else {
		d.Say("dedup     ", themes.Dim, "the subscription has ended")
	}
	d.Say("size      ", themes.Plain, cells.Count(len(r.Raw), "byte"))
	for _, f := range evidence.MostSevereFirst(r.Flags) {
		s := evidence.Severities[evidence.SeverityOf(f)]
		d.Lines = append(d.Lines, Line{Label: "flag      ", Role: s.Role, Text: cells.Join(cells.Sanitize(s.Sign+" "), cells.Sanitize(f), cells.Sanitize(": "+evidence.ReasonOf(f)))})
	}
}

// cursorScan bounds the records that are searched for the cursor before a record.
const cursorScan = 2_000

// before is the cursor of a subscription before a record.
type before struct {
	of     uint64
	cursor event.Cursor
	busy   bool
	gen    int
}

// findBefore searches the cursor before the record while the Delivery tab is shown.
func (d *Pane) findBefore() tea.Cmd {
	b := &d.before
	of, ok := d.env.Get(d.env.Record())
	if d.Tab != tabDelivery || !ok || b.busy || b.of == of.Seq {
		return nil
	}
	b.busy = true
	log := d.env.Log()
	return d.env.Screen.Do(func(ctx context.Context) tea.Msg {
		var found event.Cursor
		left := cursorScan
		_ = log.Before(of.Seq, func(p event.Record) bool { // without the log no earlier cursor is shown
			left--
			if p.Sub == of.Sub && p.Cursor.Valid {
				found = p.Cursor
				return false
			}
			return left > 0 && ctx.Err() == nil
		})
		return widget.Then(func() tea.Cmd {
			b.of, b.cursor, b.busy = of.Seq, found, false
			b.gen++
			return nil
		})
	})
}

func (d *Pane) cursors(r *event.Record) {
	var before event.Cursor
	if d.before.of == r.Seq {
		before = d.before.cursor
	}
	if before.Valid {
		d.Lines = append(d.Lines, Line{Label: "cursor    ", Text: cells.Join(cells.Sanitize("before: "), trust.Line(before.Text))})
	}
	if r.Cursor.Valid {
		d.Lines = append(d.Lines, Line{Label: "cursor    ", Text: cells.Join(cells.Sanitize("after: "), trust.Line(r.Cursor.Text))})
	} else {
		d.Say("cursor    ", themes.Dim, "none came with it")
	}
}
