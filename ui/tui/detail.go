package tui

import (
	"fmt"
	"strings"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
)

// detailLine is one line of the detail: our words, or a server's behind the
// gutter.
type detailLine struct {
	label  string
	role   themes.Role
	text   trust.Rendered
	gutter bool
}

// detail shows one thing in full: a record, or a node of the tree with the
// evidence for its state.
type detail struct {
	lines  []detailLine
	top    int
	height int
	shown  int // rows of lines; the last row may tell about a span
	span   int // the span that is explained, from 1; 0 is none
	of     detailKey
	draws  canvas
	out    []string
}

// detailKey is what the lines were made from.
type detailKey struct {
	seq     uint64
	node    node
	version uint64
	second  int64
	w       int
	view    payloadView
	gen     int
}

func (d *detail) by(n int) {
	d.top = max(0, min(d.top+n, len(d.lines)-d.shown))
}

// draw returns exactly h rows of w cells.
func (d *detail) draw(a *app, w, h int) []string {
	key := detailKey{w: w}
	if a.onNode() {
		key.node, key.version, key.second = a.tree.at, a.snap.Version, a.clock().Unix()
	} else {
		key.seq, key.view, key.gen = a.stream.at, a.payloads.view, a.payloads.gen
	}
	if key != d.of {
		if key.seq != d.of.seq || key.node != d.of.node {
			d.top, d.span = 0, 0
		}
		d.of = key
		d.lines = d.lines[:0]
		if a.onNode() {
			d.node(a)
		} else {
			d.record(a, w)
		}
	}
	d.height, d.shown = h, h
	f := a.findingsHere()
	if f != nil && len(f.report.Spans) > 0 && h > 3 {
		d.shown--
	}
	d.by(0)
	c := &d.draws
	c.begin(&a.theme, w)
	c.span, c.found = d.span, a.search.text
	for i := d.top; i < d.top+d.shown; i++ {
		if i < len(d.lines) {
			d.lines[i].draw(c, a.glyphs)
		} else {
			c.end()
		}
	}
	if d.shown < h {
		d.drawSpan(a, c, f.report.Spans)
	}
	d.out = c.rows(h, d.out)
	return d.out
}

func (l *detailLine) draw(c *canvas, g *glyphs) {
	if l.gutter {
		c.put(themes.Gutter, g.gutter)
	} else {
		c.put(themes.Plain, " ")
	}
	if l.label != "" {
		c.put(themes.Dim, l.label+" ")
	}
	c.safe(l.role, l.text.Clip(c.room))
	c.end()
}

// drawSpan explains the span that n and N lead to.
func (d *detail) drawSpan(a *app, c *canvas, spans []trust.Span) {
	if d.span == 0 || d.span > len(spans) {
		c.put(themes.Key, " "+a.keyOf("match.next"))
		c.put(themes.Dim, " to the "+count(len(spans), "place")+" noticed ")
		c.put(themes.Key, " "+a.keyOf("why"))
		c.put(themes.Dim, " why")
		c.end()
		return
	}
	s := &spans[d.span-1]
	c.put(themes.Key, fmt.Sprintf(" %d/%d ", d.span, len(spans)))
	c.put(themes.Strong, string(s.Flag)+" ")
	c.put(themes.Plain, s.Reason+" ")
	c.safe(themes.Dim, join(ours("at "), trust.Line(s.Path)).Clip(c.room))
	c.end()
}

func (d *detail) say(label string, role themes.Role, text string) {
	if text != "" {
		d.lines = append(d.lines, detailLine{label: label, role: role, text: ours(text)})
	}
}

// quote adds a server's own words.
func (d *detail) quote(server string, lines []trust.Rendered) {
	d.lines = append(d.lines, detailLine{gutter: true, role: themes.Gutter, text: join(ours("untrusted data from "), ours(server))})
	for _, l := range lines {
		d.lines = append(d.lines, detailLine{gutter: true, text: l})
	}
}

func (d *detail) record(a *app, w int) {
	if a.stream.at == 0 {
		d.say("", themes.Dim, "The event that is chosen in the stream is shown here in full.")
		return
	}
	r, err := a.api.Log().Get(a.stream.at)
	if err != nil {
		d.say("", themes.Bad, "cannot be read: "+err.Error())
		return
	}
	d.lines = append(d.lines, detailLine{role: themes.Strong, text: join(ours(r.Server), ours(" "), trust.Line(r.Type))})
	d.say("received", themes.Plain, r.ReceivedAt.Local().Format("2006-01-02 15:04:05.000")+lag(r))
	if !r.Timestamp.IsZero() {
		d.lines = append(d.lines, detailLine{label: "occurred", text: trust.Line(r.Timestamp)})
	}
	if !r.EventID.IsZero() {
		d.lines = append(d.lines, detailLine{label: "id      ", text: trust.Line(r.EventID)})
	}
	if r.Cursor.Valid {
		d.lines = append(d.lines, detailLine{label: "cursor  ", text: trust.Line(r.Cursor.Text)})
	}
	d.say("came by ", themes.Plain, cameBy(r))
	d.flags(r.Flags, w)
	width := max(w-1, 1)
	switch {
	case r.Kind == event.KindGap && r.Gap != nil:
		d.say("", themes.Gap, gapWords(*r.Gap))
		d.say("cause   ", themes.Plain, causes[r.Gap.Cause])
		if !r.Gap.Certain {
			d.say("", themes.Dim, "Nothing says that events were missed; nothing shows that none were.")
		}
	case r.Kind == event.KindState && r.State != nil:
		d.say("state   ", stateRole(r.State.State), string(r.State.State))
		d.say("evidence", themes.Plain, r.State.Evidence)
		if !r.State.Error.IsZero() {
			d.quote(r.Server, trust.Block(r.State.Error, width))
		}
	case r.Kind == event.KindRejected:
		d.say("refused ", themes.Bad, "the payload was kept but not taken")
		d.quote(r.Server, trust.Block(r.Reason, width))
		d.payload(a, &r, width)
	default:
		d.payload(a, &r, width)
	}
}

// flags names every flag of a record.
func (d *detail) flags(flags []string, w int) {
	const label = "flags   "
	line := ""
	for _, f := range gravestFirst(flags) {
		name := signsOfSeverity[severityOf(f)].sign + ours(f).Plain()
		if line != "" && len(label)+len(line)+len(name)+3 > w {
			d.say(label, themes.Warn, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += name
	}
	d.say(label, themes.Warn, line)
}

// payload shows what a server wrote: as it was laid out beside the program, and
// until then a beginning of it.
func (d *detail) payload(a *app, r *event.Record, width int) {
	p := &a.payloads
	data := payloadOf(r)
	if f := p.found[r.Seq]; f != nil {
		for _, q := range f.problems {
			d.lines = append(d.lines, detailLine{label: "schema  ", role: themes.Warn, text: schemaWords(q)})
		}
	}
	if p.of == (laidOut{r.Seq, p.view, width}) {
		d.quote(r.Server, p.lines)
		if rest := len(data) - payloadMax; rest > 0 {
			d.say("", themes.Warn, fmt.Sprintf("+%s bytes are not shown", number(uint64(rest))))
		}
		return
	}
	d.quote(r.Server, p.view.lay(data[:min(len(data), payloadNow)], nil, width))
	if len(data) > payloadNow {
		d.say("", themes.Dim, "more is on its way")
	}
}

// schemaWords tells where a payload fails its schema.
func schemaWords(p host.Problem) trust.Rendered {
	at := ours("as a whole")
	if !p.Path.IsZero() {
		at = join(ours("at "), trust.Line(p.Path))
	}
	return join(ours("fails its schema "), at, ours(": "), ours(p.Says))
}

func capped(b []byte) []byte { return b[:min(len(b), payloadMax)] }

// lag tells how long an event was on its way, if its time can be read.
func lag(r event.Record) string {
	t, err := time.Parse(time.RFC3339, r.Timestamp.Raw())
	if err != nil || r.Kind != event.KindEvent {
		return ""
	}
	d := r.ReceivedAt.Sub(t)
	if d < 0 || d > 365*24*time.Hour {
		return ""
	}
	if d < time.Minute {
		return fmt.Sprintf(", %.1f s after it occurred", d.Seconds())
	}
	return ", " + span(d) + " after it occurred"
}

func cameBy(r event.Record) string {
	s := string(r.Mode)
	if r.Replayed {
		s += ", from the server's history"
	}
	return s
}

// node tells what is known of the chosen node: why it is quiet.
func (d *detail) node(a *app) {
	r := a.tree.chosen()
	switch {
	case r.sub != nil:
		d.subscription(a, r.sub)
	case r.node.level() == 2:
		d.eventType(a, r)
	case r.server != nil:
		d.server(a, r.server)
	default:
		d.everything(a)
	}
}

func (d *detail) everything(a *app) {
	d.say("", themes.Strong, fmt.Sprintf("%s, %s", count(len(a.snap.Servers), "server"), count(len(a.snap.Subs), "subscription")))
	d.say("stored  ", themes.Plain, number(a.snap.Last)+" records in "+a.snap.Store.Path)
	r := a.snap.Resume
	d.say("resumed ", themes.Plain, fmt.Sprintf("%s replayed, %s dropped, %s since the start", count(int(r.Replayed), "event"), count(int(r.Duplicates), "duplicate"), count(int(r.Gaps), "gap")))
	d.say("receiver", themes.Plain, a.snap.Receiver)
	if a.snap.Store.Sealed == "file" {
		d.say("secrets ", themes.Warn, "sealed with a key in a file beside the store: this system has no keyring")
	}
}

func (d *detail) server(a *app, s *host.ServerView) {
	d.say("", themes.Strong, s.Name)
	d.say("state   ", themes.Plain, reach(*s, a.clock()))
	d.say("error   ", themes.Warn, s.Err)
	d.say("events  ", themes.Warn, s.TypesErr)
	d.say("address ", themes.Plain, s.Address)
	d.say("speaks  ", themes.Plain, strings.TrimSpace(s.Era+" "+s.Version+" over "+s.Transport+" "+s.HTTP))
	d.say("profile ", themes.Plain, s.Profile)
	if s.TypesKnown {
		d.say("types   ", themes.Plain, number(uint64(len(s.Types))))
	}
	if s.BadTypes > 0 {
		d.say("        ", themes.Warn, count(s.BadTypes, "descriptor")+" made no sense")
	}
	if !s.Title.IsZero() {
		d.quote(s.Name, []trust.Rendered{join(trust.Line(s.Title), ours(" "), trust.Line(s.Release))})
	}
}

func (d *detail) eventType(a *app, r *treeRow) {
	d.lines = append(d.lines, detailLine{role: themes.Strong, text: join(ours(r.node.server), ours(" "), trust.Line(r.node.typ))})
	if r.typ == nil {
		d.say("", themes.Warn, "The server does not list this type now.")
		return
	}
	modes := ""
	for _, m := range r.typ.Modes {
		modes += string(m) + " "
	}
	d.say("modes   ", themes.Plain, modes)
	if r.typ.Cursorless {
		d.say("replay  ", themes.Warn, "none: what is missed stays missed")
	}
	if r.kids == 0 {
		d.say("", themes.Key, "Not subscribed. Press s to subscribe.")
	}
	width := max(d.of.w-1, 1)
	d.quote(r.node.server, trust.Block(r.typ.Description, width))
	if len(r.typ.InputSchema) > 0 {
		d.say("", themes.Dim, "arguments")
		d.quote(r.node.server, trust.JSON(capped(r.typ.InputSchema), width))
	}
}

func (d *detail) subscription(a *app, v *host.SubscriptionView) {
	now, s := a.clock(), v.Status
	state := stateOf(*v)
	_, role := a.glyphs.sign(state)
	d.lines = append(d.lines, detailLine{role: themes.Strong, text: join(ours(v.Key.Server), ours(" "), trust.Line(v.Key.Type))})
	d.say("state   ", role, string(state)+", "+evidence(*v, now))
	d.say("id      ", themes.Plain, string(v.ID)+", "+string(v.Mode))
	d.say("args    ", themes.Plain, string(v.Key.Args))
	d.since("since   ", s.Since, now)
	d.since("opened  ", s.Opened, now)
	d.since("event   ", s.LastEvent, now)
	d.since("beat    ", s.LastHeartbeat, now)
	if s.Interval > 0 {
		d.say("interval", themes.Plain, span(s.Interval)+" between heartbeats")
	}
	d.since("poll    ", s.LastPoll, now)
	d.since("delivery", s.LastDelivery, now)
	if s.NextTry.After(now) {
		d.say("next    ", themes.Plain, "the host acts in "+span(s.NextTry.Sub(now)))
	}
	if !v.Lease.RefreshBefore.IsZero() {
		d.say("lease   ", themes.Plain, "ends in "+span(v.Lease.RefreshBefore.Sub(now)))
	}
	d.say("stored  ", themes.Plain, fmt.Sprintf("%s in this run, %s dropped, %s", count(int(v.Stored), "event"), count(int(v.Dropped), "duplicate"), count(int(v.Gaps), "gap")))
	if !s.Error.IsZero() {
		d.quote(v.Key.Server, trust.Block(s.Error, max(d.of.w-1, 1)))
	}
}

func (d *detail) since(label string, t, now time.Time) {
	if !t.IsZero() {
		d.say(label, themes.Plain, t.Local().Format("15:04:05")+", "+ago(now, t))
	}
}
