// Package detail is the pane that shows one thing in full, line by line: text of the program after
// labels, untrusted text behind the gutter.
package detail

import (
	"fmt"
	"strings"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/filter"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/widget"
)

// otherModesMax bounds the unknown modes of a type that are listed.
const otherModesMax = 8

// Server writes what is known of a server.
func (d *Text) Server(s *host.ServerView) {
	d.Say("", themes.Strong, s.Name)
	d.Say("state   ", themes.Plain, evidence.Reach(*s, d.Env.Clock()))
	d.Say("error   ", themes.Warn, s.Err)
	d.Say("events  ", themes.Warn, s.TypesErr)
	d.Say("address ", themes.Plain, s.Address)
	if s.Transport != "" {
		d.Say("speaks  ", themes.Plain, strings.TrimSpace(evidence.Protocol(s)+" over "+s.Transport+" "+s.HTTP))
	}
	d.Say("profile ", themes.Plain, s.Profile)
	if s.TypesKnown {
		d.Say("types   ", themes.Plain, cells.Number(uint64(len(s.Types))))
	}
	d.hidden(s)
	if !s.Title.IsZero() {
		d.Quote(s.Name, []trust.Rendered{cells.Join(trust.Line(s.Title), cells.Sanitize(" "), trust.Line(s.Release))})
	}
}

// hidden writes which event types of a server are not shown, and why.
func (d *Text) hidden(s *host.ServerView) {
	if s.BadTypes == 0 {
		return
	}
	d.Say("hidden  ", themes.Warn, cells.Count(s.BadTypes, "event type"))
	for _, why := range s.BadWhy {
		d.Say("        ", themes.Warn, why)
	}
	if more := s.BadTypes - len(s.BadWhy); more > 0 && len(s.BadWhy) > 0 {
		d.Say("        ", themes.Dim, fmt.Sprintf("and %s more", cells.Number(uint64(more))))
	}
}

// Modes writes the delivery modes of a type, and those that are not supported here.
func (d *Text) Modes(t *event.Type) {
	known := ""
	for _, m := range t.Modes {
		known += string(m) + " "
	}
	if d.Say("modes   ", themes.Plain, known); known == "" {
		d.Say("modes   ", themes.Warn, "none to subscribe by: "+evidence.NotOffered(*t))
	}
	if len(t.OtherModes) > 0 {
		others := cells.Sanitize("not known here:")
		for _, m := range t.OtherModes[:min(len(t.OtherModes), otherModesMax)] {
			others = cells.Join(others, cells.Sanitize(" "), trust.Line(m))
		}
		d.fact(evidence.Fact{Label: "        ", Role: themes.Warn, Text: others})
	}
}

// Subscription writes what is known of a subscription and why it is quiet.
func (d *Text) Subscription(v *host.SubscriptionView, cursorless bool) {
	now := d.Env.Clock()
	word := evidence.StateWord(v, now)
	_, role := evidence.Sign(d.Env.Glyphs, word)
	d.Lines = append(d.Lines, Line{Role: themes.Strong, Text: cells.Join(cells.Sanitize(v.Key.Server), cells.Sanitize(" "), trust.Line(v.Key.Type))})
	d.Say("state   ", role, cells.Commas(string(word), evidence.Of(*v, now)))
	for _, f := range evidence.Quietness(v, cursorless, now) {
		d.fact(f)
	}
	d.Say("id      ", themes.Plain, string(v.ID)+", "+string(v.Mode)+", "+host.DialectName(v.Dialect))
	if !evidence.NoArgs(v.Key.Args) {
		d.Say("args    ", themes.Plain, string(v.ShownArgs()))
	}
	d.since("since   ", v.Status.Since, now)
	d.Say("stored  ", themes.Plain, fmt.Sprintf("%s in this run, %s dropped, %s", cells.Count(v.Stored, "event"), cells.Count(v.Dropped, "duplicate"), cells.Count(v.Gaps, "gap")))
	if strings.ContainsAny(v.Status.Error.Raw(), "\r\n") { // else the evidence has it whole
		d.Quote(v.Key.Server, trust.Block(v.Status.Error, max(d.Width-1, 1)))
	}
}

// fact adds evidence, on several lines if it is wider than the pane.
func (d *Text) fact(f evidence.Fact) {
	width := d.Width - len(f.Label) - 2
	if f.Text.Width <= width || width < 8 {
		d.Lines = append(d.Lines, Line{Label: f.Label, Role: f.Role, Text: f.Text})
		return
	}
	label := f.Label
	for _, l := range trust.Block(trust.Untrusted(f.Text.Plain()), width) {
		d.Lines = append(d.Lines, Line{Label: label, Role: f.Role, Text: l})
		label = strings.Repeat(" ", len(label))
	}
}

func (d *Text) since(label string, t, now time.Time) {
	if !t.IsZero() {
		d.Say(label, themes.Plain, cells.At(now, t)+", "+cells.Ago(now, t))
	}
}

// Line is one line of the detail: text of the program, or untrusted text behind the gutter.
type Line struct {
	Label  string
	Role   themes.Role
	Text   trust.Rendered
	More   []Segment // after the text
	Right  string    // at the end of the row, if it fits
	Gutter bool
	Bar    themes.Role // of the gutter; 0: the usual one
	Fold   int         // the number of the line from 1, if a fold begins with it
	Seq    uint64      // the record that the line leads to
	Do     func()      // called when the line is opened; may be nil

	value int        // the offset of the value of the line in the payload, plus 1; 0: it has none
	term  string     // the filter for the value of a line outside the payload
	said  trust.Text // that value
}

// Segment is a part of a line in a role of its own.
type Segment struct {
	Role themes.Role
	Text trust.Rendered
}

// Text collects lines.
type Text struct {
	Env   *cells.Env
	Demo  func(server string) bool // the server is one of the demo
	Lines []Line
	Width int
}

// Zone returns the time zone in which times are shown.
func (d *Text) Zone() *time.Location { return d.Env.Times.Zone() }

// Begin removes all lines and sets the width in cells.
func (d *Text) Begin(width int) { d.Lines, d.Width = d.Lines[:0], width }

// Draw writes the line into one row.
func (l *Line) Draw(c *cells.Canvas, g *cells.Glyphs) {
	if l.Gutter {
		bar := themes.Gutter
		if l.Bar != 0 {
			bar = l.Bar
		}
		c.Put(bar, g.Gutter)
	} else {
		c.Put(themes.Plain, " ")
	}
	if l.Label != "" {
		c.Put(themes.Dim, l.Label+" ")
	}
	kept := 0
	if l.Right != "" && l.Text.Width+len(l.Right)+2 < c.Room {
		kept = len(l.Right) + 1
	}
	c.Room -= kept
	c.Safe(l.Role, l.Text.Clip(c.Room))
	for i, p := range l.More {
		if i > 0 || l.Text.Width > 0 {
			c.Put(themes.Plain, "  ")
		}
		c.Safe(p.Role, p.Text.Clip(c.Room))
	}
	if c.Room += kept; kept > 0 {
		c.Right(themes.Dim, l.Right)
	}
	c.End()
}

// DrawLines writes the lines that are visible in h rows.
func DrawLines(c *cells.Canvas, g *cells.Glyphs, lines []Line, sight *widget.Scroll, h int) {
	first, end := sight.Visible(len(lines), h)
	for i := range lines[first:end] {
		lines[first+i].Draw(c, g)
	}
}

// Say adds text of the program after a label, on several lines if it is wider than the pane; "" adds
// nothing.
func (d *Text) Say(label string, role themes.Role, text string) {
	if text != "" {
		d.fact(evidence.Fact{Label: label, Role: role, Text: cells.Sanitize(text)})
	}
}

// Quote adds rendered untrusted text behind the gutter, below a line that names its source.
func (d *Text) Quote(server string, lines []trust.Rendered) {
	d.Lines = append(d.Lines, Line{Gutter: true, Role: themes.Gutter, Text: cells.Join(cells.Sanitize("untrusted data from "), cells.Sanitize(server))})
	for _, l := range lines {
		d.Lines = append(d.Lines, Line{Gutter: true, Text: l})
	}
}

// labels writes the labels that a server gives an event.
func (d *Text) labels(r *event.Record) {
	l := r.Labels
	if l == nil {
		return
	}
	if of := r.Subscribed(); !of.IsZero() {
		d.Lines = append(d.Lines, Line{Label: "of type ", Text: cells.Join(trust.Line(of), cells.Sanitize(", which was subscribed to")), term: filter.FieldTerm("type", of), said: of})
	}
	if !l.Priority.IsZero() {
		d.Lines = append(d.Lines, Line{Label: "priority", Role: evidence.WordLevelRole(l.Priority.Raw()), Text: trust.Line(l.Priority)})
	}
	d.Words("tags    ", evidence.TagWords(l))
	if !l.Batch.IsZero() {
		d.Lines = append(d.Lines, Line{Label: "batch   ", Text: cells.Join(trust.Line(l.Batch), cells.Sanitize(", came with others; the last tab lists them"))})
	}
}

// Headline writes severity, summary and age of a record, the operator's note unless it is "", and
// the record's source. word is the sender's word for the severity.
func (d *Text) Headline(r *event.Record, word, summary trust.Rendered, level reading.Level, note string) {
	now := d.Env.Clock()
	head := Line{Right: cells.Ago(now, r.ReceivedAt)}
	switch {
	case r.Kind == event.KindGap:
		head.Role, head.Text = themes.Gap, cells.Sanitize("gap")
	case r.Kind == event.KindState && r.State != nil:
		head.Role, head.Text = evidence.StateRole(r.State.State), evidence.StateWords(*r)
	case r.Kind == event.KindRejected:
		head.Role, head.Text = themes.Bad, cells.Sanitize("payload refused")
	default:
		head.Role, head.Text = evidence.WordRole(level), word.Clip(severityMax)
		head.Gutter, head.Bar = true, evidence.LevelRole(level)
		head.More = []Segment{{themes.Strong, summary}}
	}
	d.Lines = append(d.Lines, head)
	if note != "" {
		d.Say("", themes.Key, d.Env.Glyphs.Mark+" note: "+note)
	}
	more := make([]Segment, 0, 2)
	if !r.EventID.IsZero() {
		more = append(more, Segment{themes.Faint, idLabel}, Segment{themes.Dim, trust.Line(r.EventID)})
	}
	d.Lines = append(d.Lines, Line{Label: cells.Sanitize(r.Server).Plain(), Role: themes.Type, Text: trust.Line(r.Name()), More: more, term: filter.FieldTerm("type", r.Name()), said: r.Name()})
}

// idLabel is written before the id of an event.
var idLabel = cells.Sanitize("id")

// severityMax is the largest width of a sender's word for the severity, in cells.
const severityMax = 24

// Envelope writes the delivery and the metadata of a record.
func (d *Text) Envelope(r *event.Record) {
	d.Say("received", themes.Plain, cells.TimeText(r.ReceivedAt, d.Zone(), cells.StampFull)+evidence.Lag(*r))
	d.Words("occurred", r.Timestamp)
	if !r.EventID.IsZero() {
		d.Lines = append(d.Lines, Line{Label: "id      ", Text: trust.Line(r.EventID), term: filter.ValueTerm(r.EventID), said: r.EventID})
	}
	d.labels(r)
	if r.Cursor.Valid {
		d.Lines = append(d.Lines, Line{Label: "cursor  ", Text: trust.Line(r.Cursor.Text)})
	}
	d.Say("came by ", themes.Plain, cameBy(*r))
}

// Section adds a blank line and a title.
func (d *Text) Section(title string) {
	d.Lines = append(d.Lines, Line{}, Line{Role: themes.Title, Text: cells.Sanitize(title)})
}

// Words adds untrusted text of one line after a label.
func (d *Text) Words(label string, t trust.Text) {
	if !t.IsZero() {
		d.Lines = append(d.Lines, Line{Label: label, Text: trust.Line(t)})
	}
}

// Gap writes a gap and its cause, if the record is one.
func (d *Text) Gap(r *event.Record) {
	if r.Gap == nil {
		return
	}
	d.Say("", themes.Gap, evidence.GapWords(*r.Gap, d.Env.Times))
	d.Say("cause   ", themes.Plain, evidence.Causes[r.Gap.Cause])
	if d.Demo(r.Server) && r.Gap.Cause == event.CauseTruncated { // other causes are those of a drop in mid-run too
		d.Say("", themes.Dim, evidence.DemoGaps)
	}
	if !r.Gap.Certain {
		d.Say("", themes.Dim, "Nothing says that events were missed; nothing shows that none were.")
	}
}

// Flags writes the flags of a record, the most severe first, in lines of w cells.
func (d *Text) Flags(raised []string, w int) {
	const label = "flags   "
	line := ""
	for _, f := range evidence.MostSevereFirst(raised) {
		name := evidence.Severities[evidence.SeverityOf(f)].Sign + cells.Sanitize(f).Plain()
		if line != "" && len(label)+len(line)+len(name)+3 > w {
			d.Say(label, themes.Warn, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += name
	}
	d.Say(label, themes.Warn, line)
}

func cameBy(r event.Record) string {
	s := string(r.Mode)
	if r.Replayed {
		s += ", from the server's history"
	}
	return s
}
