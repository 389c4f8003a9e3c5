package tui

import (
	"encoding/json"
	"fmt"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/tree"
)

// node tells what is known of the chosen node: why it is quiet.
func (d *shownDetail) node(a *app) {
	r := a.tree.Chosen()
	switch {
	case r.Item != nil:
		d.item(a, r.Item)
	case r.Sub != nil:
		d.Subscription(r.Sub, a.cursorless(r.Sub))
	case r.Node.Level() == 2:
		d.eventType(a, r)
	case r.Server != nil:
		d.Server(r.Server)
	default:
		d.everything(a)
	}
}

func (d *shownDetail) everything(a *app) {
	d.Say("", themes.Strong, fmt.Sprintf("%s, %s", cells.Count(len(a.snap.Servers), "server"), cells.Count(len(a.snap.Subs), "subscription")))
	d.Say("stored  ", themes.Plain, cells.Count(a.snap.Last, "record")+" in "+a.snap.Store.Path)
	r := a.snap.Resume
	d.Say("resumed ", themes.Plain, fmt.Sprintf("%s replayed, %s dropped, %s since the start", cells.Count(r.Replayed, "event"), cells.Count(r.Duplicates, "duplicate"), cells.Count(r.Gaps, "gap")))
	d.Say("receiver", themes.Plain, a.snap.Receiver)
	if a.snap.Store.Sealed == "file" {
		d.Say("secrets ", themes.Warn, "sealed with a key in a file beside the store: this system has no keyring")
	}
}

func (d *shownDetail) eventType(a *app, r *tree.Row) {
	d.Lines = append(d.Lines, detail.Line{Role: themes.Strong, Text: cells.Join(cells.Sanitize(r.Node.Server), cells.Sanitize(" "), trust.Line(r.Node.Type))})
	if r.Type == nil {
		d.Say("", themes.Warn, "The server does not list this type now.")
		return
	}
	d.Modes(r.Type)
	d.Say("dialect ", themes.Plain, host.DialectName(r.Type.Dialect))
	if r.Type.Cursorless {
		d.Say("replay  ", themes.Warn, "none: what is missed stays missed")
	}
	if r.Kids == 0 && len(r.Type.Modes) > 0 {
		d.Say("", themes.Key, "Not subscribed. Press "+a.KeyOf("subscribe")+" to subscribe.")
	}
	width := max(d.Width-1, 1)
	d.Quote(r.Node.Server, trust.Block(r.Type.Description, width))
	for _, described := range []json.RawMessage{r.Type.InputSchema, r.Type.PayloadSchema} {
		if err := schema.Check(described); err != nil {
			d.Say("schema  ", themes.Warn, err.Error())
		}
	}
	if len(r.Type.InputSchema) > 0 {
		d.Say("", themes.Dim, "arguments")
		d.Quote(r.Node.Server, trust.JSON(capped(r.Type.InputSchema), width))
	}
}

// cursorless tells whether a subscription's type has no replay, as the server says or
// as it was when it was subscribed to.
func (a *app) cursorless(v *host.SubscriptionView) bool {
	return v.NoReplay || a.typeOf(&event.Record{Server: v.Key.Server, Type: v.Key.Type}).Cursorless
}
