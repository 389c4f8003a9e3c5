package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
)

// otherModesMax bounds the unknown modes of a type that are named.
const otherModesMax = 8

// node tells what is known of the chosen node: why it is quiet.
func (d *detail) node(a *app) {
	r := a.tree.chosen()
	switch {
	case r.item != nil:
		d.item(a, r.item)
	case r.sub != nil:
		d.subscription(a, r.sub)
	case r.node.Level() == 2:
		d.eventType(a, r)
	case r.server != nil:
		d.server(a, r.server)
	default:
		d.everything(a)
	}
}

func (d *detail) everything(a *app) {
	d.say("", themes.Strong, fmt.Sprintf("%s, %s", cells.Count(len(a.snap.Servers), "server"), cells.Count(len(a.snap.Subs), "subscription")))
	d.say("stored  ", themes.Plain, cells.Count(a.snap.Last, "record")+" in "+a.snap.Store.Path)
	r := a.snap.Resume
	d.say("resumed ", themes.Plain, fmt.Sprintf("%s replayed, %s dropped, %s since the start", cells.Count(r.Replayed, "event"), cells.Count(r.Duplicates, "duplicate"), cells.Count(r.Gaps, "gap")))
	d.say("receiver", themes.Plain, a.snap.Receiver)
	if a.snap.Store.Sealed == "file" {
		d.say("secrets ", themes.Warn, "sealed with a key in a file beside the store: this system has no keyring")
	}
}

func (d *detail) server(a *app, s *host.ServerView) {
	d.say("", themes.Strong, s.Name)
	d.say("state   ", themes.Plain, evidence.Reach(*s, a.Clock()))
	d.say("error   ", themes.Warn, s.Err)
	d.say("events  ", themes.Warn, s.TypesErr)
	d.say("address ", themes.Plain, s.Address)
	if s.Transport != "" {
		d.say("speaks  ", themes.Plain, strings.TrimSpace(evidence.Protocol(s)+" over "+s.Transport+" "+s.HTTP))
	}
	d.say("profile ", themes.Plain, s.Profile)
	if s.TypesKnown {
		d.say("types   ", themes.Plain, cells.Number(uint64(len(s.Types))))
	}
	d.hidden(s)
	if !s.Title.IsZero() {
		d.quote(s.Name, []trust.Rendered{cells.Join(trust.Line(s.Title), cells.Sanitize(" "), trust.Line(s.Release))})
	}
}

// hidden tells which of a server's event types are not shown, and why.
func (d *detail) hidden(s *host.ServerView) {
	if s.BadTypes == 0 {
		return
	}
	d.say("hidden  ", themes.Warn, cells.Count(s.BadTypes, "event type"))
	for _, why := range s.BadWhy {
		d.say("        ", themes.Warn, why)
	}
	if more := s.BadTypes - len(s.BadWhy); more > 0 && len(s.BadWhy) > 0 {
		d.say("        ", themes.Dim, fmt.Sprintf("and %s more", cells.Number(uint64(more))))
	}
}

// modes tells how a type is delivered, and what of that cannot be used here.
func (d *detail) modes(t *event.Type) {
	known := ""
	for _, m := range t.Modes {
		known += string(m) + " "
	}
	if d.say("modes   ", themes.Plain, known); known == "" {
		d.say("modes   ", themes.Warn, "none to subscribe by: "+evidence.NotOffered(*t))
	}
	if len(t.OtherModes) > 0 {
		others := cells.Sanitize("not known here:")
		for _, m := range t.OtherModes[:min(len(t.OtherModes), otherModesMax)] {
			others = cells.Join(others, cells.Sanitize(" "), trust.Line(m))
		}
		d.fact(evidence.Fact{Label: "        ", Role: themes.Warn, Text: others})
	}
}

func (d *detail) eventType(a *app, r *treeRow) {
	d.lines = append(d.lines, detailLine{role: themes.Strong, text: cells.Join(cells.Sanitize(r.node.Server), cells.Sanitize(" "), trust.Line(r.node.Type))})
	if r.typ == nil {
		d.say("", themes.Warn, "The server does not list this type now.")
		return
	}
	d.modes(r.typ)
	d.say("dialect ", themes.Plain, host.DialectName(r.typ.Dialect))
	if r.typ.Cursorless {
		d.say("replay  ", themes.Warn, "none: what is missed stays missed")
	}
	if r.kids == 0 && len(r.typ.Modes) > 0 {
		d.say("", themes.Key, "Not subscribed. Press "+a.keyOf("subscribe")+" to subscribe.")
	}
	width := max(d.of.w-1, 1)
	d.quote(r.node.Server, trust.Block(r.typ.Description, width))
	for _, described := range []json.RawMessage{r.typ.InputSchema, r.typ.PayloadSchema} {
		if err := schema.Check(described); err != nil {
			d.say("schema  ", themes.Warn, err.Error())
		}
	}
	if len(r.typ.InputSchema) > 0 {
		d.say("", themes.Dim, "arguments")
		d.quote(r.node.Server, trust.JSON(capped(r.typ.InputSchema), width))
	}
}

// subscription tells what is known of a subscription and why it is quiet.
func (d *detail) subscription(a *app, v *host.SubscriptionView) {
	now := a.Clock()
	word := evidence.StateWord(v, now)
	_, role := evidence.Sign(a.Glyphs, word)
	d.lines = append(d.lines, detailLine{role: themes.Strong, text: cells.Join(cells.Sanitize(v.Key.Server), cells.Sanitize(" "), trust.Line(v.Key.Type))})
	d.say("state   ", role, cells.Commas(string(word), evidence.Of(*v, now)))
	for _, f := range evidence.Quietness(v, a.cursorless(v), now) {
		d.fact(f)
	}
	d.say("id      ", themes.Plain, string(v.ID)+", "+string(v.Mode)+", "+host.DialectName(v.Dialect))
	if !evidence.NoArgs(v.Key.Args) {
		d.say("args    ", themes.Plain, string(v.ShownArgs()))
	}
	d.since("since   ", v.Status.Since, now)
	d.say("stored  ", themes.Plain, fmt.Sprintf("%s in this run, %s dropped, %s", cells.Count(v.Stored, "event"), cells.Count(v.Dropped, "duplicate"), cells.Count(v.Gaps, "gap")))
	if strings.ContainsAny(v.Status.Error.Raw(), "\r\n") { // else the evidence has it whole
		d.quote(v.Key.Server, trust.Block(v.Status.Error, max(d.of.w-1, 1)))
	}
}

// fact adds a line of evidence, on several lines where it is wider than the pane.
func (d *detail) fact(f evidence.Fact) {
	width := d.of.w - len(f.Label) - 2
	if f.Text.Width <= width || width < 8 {
		d.lines = append(d.lines, detailLine{label: f.Label, role: f.Role, text: f.Text})
		return
	}
	label := f.Label
	for _, l := range trust.Block(trust.Untrusted(f.Text.Plain()), width) {
		d.lines = append(d.lines, detailLine{label: label, role: f.Role, text: l})
		label = strings.Repeat(" ", len(label))
	}
}

// cursorless tells whether a subscription's type has no replay, as the server says or
// as it was when it was subscribed to.
func (a *app) cursorless(v *host.SubscriptionView) bool {
	return v.NoReplay || a.typeOf(&event.Record{Server: v.Key.Server, Type: v.Key.Type}).Cursorless
}

func (d *detail) since(label string, t, now time.Time) {
	if !t.IsZero() {
		d.say(label, themes.Plain, cells.At(now, t)+", "+cells.Ago(now, t))
	}
}
