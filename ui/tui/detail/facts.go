package detail

import (
	"encoding/json"
	"fmt"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// Everything writes totals of the host and the store.
func (d *Text) Everything(snap *host.Snapshot) {
	d.Say("", themes.Strong, fmt.Sprintf("%s, %s", cells.Count(len(snap.Servers), "server"), cells.Count(len(snap.Subs), "subscription")))
	d.Say("stored  ", themes.Plain, cells.Count(snap.Last, "record")+" in "+snap.Store.Path)
	r := snap.Resume
	d.Say("resumed ", themes.Plain, fmt.Sprintf("%s replayed, %s dropped, %s since the start", cells.Count(r.Replayed, "event"), cells.Count(r.Duplicates, "duplicate"), cells.Count(r.Gaps, "gap")))
	d.Say("receiver", themes.Plain, snap.Receiver)
	if snap.ReceiverErr != "" {
		d.Say("", themes.Warn, snap.ReceiverErr+"; it is started again")
	}
	if err := snap.Store.Locked; err != nil {
		d.Say("secrets ", themes.Warn, err.Error())
	} else if snap.Store.Sealed == "file" {
		d.Say("secrets ", themes.Plain, "sealed with a key in a file beside the store")
	}
}

// Type writes what is known of an event type; t is nil if its server does not list it. subscribe is
// the key that subscribes, "" if there is a subscription.
func (d *Text) Type(server string, name trust.Text, t *event.Type, subscribe string) {
	d.Lines = append(d.Lines, Line{Role: themes.Strong, Text: cells.Join(cells.Sanitize(server), cells.Sanitize(" "), trust.Line(name))})
	d.TypeFacts(server, t, subscribe)
}

// TypeFacts is [Text.Type] without the line that names the type.
func (d *Text) TypeFacts(server string, t *event.Type, subscribe string) {
	if t == nil {
		d.Say("", themes.Warn, "The server does not list this type now.")
		return
	}
	d.Modes(t)
	d.Say("dialect ", themes.Plain, host.DialectName(t.Dialect))
	if t.Cursorless {
		d.Say("replay  ", themes.Warn, "none: what is missed stays missed")
	}
	if subscribe != "" && len(t.Modes) > 0 {
		d.Say("", themes.Key, "Not subscribed. Press "+subscribe+" to subscribe.")
	}
	width := max(d.Width-1, 1)
	d.Quote(server, trust.Block(t.Description, width))
	for _, described := range []json.RawMessage{t.InputSchema, t.PayloadSchema} {
		if err := schema.Check(described); err != nil {
			d.Say("schema  ", themes.Warn, err.Error())
		}
	}
	if len(t.InputSchema) > 0 {
		d.Say("", themes.Dim, "arguments")
		d.Quote(server, trust.JSON(capped(t.InputSchema), width))
	}
}
