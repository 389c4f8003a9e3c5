package incidents

import (
	"fmt"
	"io"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// page writes the lines of a report until one fails.
type page struct {
	w     io.Writer
	zone  *time.Location
	plain bool // without Markdown
	err   error
}

func (p *page) heading(level int, text string) {
	if p.plain {
		p.line("%s\n", text)
		return
	}
	p.line("%s %s\n", strings.Repeat("#", level), text)
}

// item writes an item of a list.
func (p *page) item(format string, args ...any) {
	if !p.plain {
		format = "- " + format
	}
	p.line(format, args...)
}

// note writes the note of the item before it.
func (p *page) note(text string) {
	if p.plain {
		p.line("Note: %s", text)
		return
	}
	p.line("  - Note: %s", text)
}

// entry writes a line of the timeline.
func (p *page) entry(e *Entry, text string) {
	severity, server, typ := p.untrusted(e.Severity), p.inert(e.Server), p.untrusted(e.Type)
	switch {
	case !p.plain:
		p.line("| %s | %s | %s | %s | %s | %d |", p.when(e), severity, text, server, typ, e.Seq)
	case severity == "":
		p.line("%s: %s. %s %s, record %d.", p.when(e), text, server, typ, e.Seq)
	default:
		p.line("%s, %s: %s. %s %s, record %d.", p.when(e), severity, text, server, typ, e.Seq)
	}
}

// fenced writes a text in a block that the text cannot end.
func (p *page) fenced(text string) {
	text = strings.TrimRight(text, "\n")
	if p.plain {
		p.line("%s\n", text)
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	p.line("%stext\n%s\n%s\n", fence, text, fence)
}

// received returns the mark of a time that is not from a server.
func (p *page) received() string {
	if p.plain {
		return "received"
	}
	return "*received*"
}

func (p *page) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *page) time(t time.Time) string { return t.In(p.zone).Format("2006-01-02 15:04:05") }

// when returns the time of an entry.
func (p *page) when(e *Entry) string {
	text := e.At.In(p.zone).Format("2006-01-02 15:04:05.000")
	if !e.Said {
		text += " " + p.received()
	}
	return text
}

// source returns the server and type of an entry.
func (p *page) source(e *Entry) string { return p.inert(e.Server) + " " + p.untrusted(e.Type) }

// summary returns the summary of an entry.
func (p *page) summary(e *Entry) string {
	text := p.untrusted(e.Summary)
	switch {
	case e.Kind == event.KindRejected:
		return "payload refused: " + text
	case e.Kind == event.KindGap && e.Gap != nil:
		return "gap (" + p.inert(string(e.Gap.Cause)) + ")"
	case text == "":
		return "(no summary)"
	}
	return text
}

// summaryMax bounds the summary of one line, in cells.
const summaryMax = 300

// untrusted renders a text of a server for one line.
func (p *page) untrusted(t trust.Text) string {
	return p.inert(trust.Line(t).Clip(summaryMax).Plain())
}

// inert renders a text for one line without markup or control characters.
func (p *page) inert(text string) string {
	if p.plain {
		return trust.Line(trust.Unescaped(text)).Plain()
	}
	return inert(text)
}

// inert escapes Markdown in a text: no markup, no tags, no links.
func inert(text string) string {
	shown := trust.Line(trust.Unescaped(text)).Plain()
	var b strings.Builder
	for i, c := range shown {
		if strings.ContainsRune("\\`*_[]<>#|~&!@", c) || strings.HasPrefix(shown[i:], "://") {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return strings.ReplaceAll(b.String(), "www.", `www\.`)
}

// zoneName returns the name and offset of a time zone: readers of a report may be in another one.
func zoneName(t time.Time) string {
	name := t.Location().String()
	if t.Location() == time.UTC {
		return name
	}
	if t.Location() == time.Local {
		name, _ = t.Zone()
	}
	return name + " (UTC" + t.Format("-07:00") + ")"
}
