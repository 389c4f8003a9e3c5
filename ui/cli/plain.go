package cli

import (
	"strings"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/severity"
	"eventdeck/host/trust"
)

// appendPlain appends the record as one line for a person: words, no glyphs, no
// colours, nothing that is repainted. What matters comes first, as lines are read aloud:
// when, how bad, what; then where, the payload, and ids.
func appendPlain(b []byte, r event.Record) []byte {
	b = r.ReceivedAt.Local().AppendFormat(b, "15:04:05.000")
	isEvent := false
	switch {
	case r.Kind == event.KindGap && r.Gap != nil:
		b = appendWords(b, gapText(*r.Gap))
	case r.Kind == event.KindState && r.State != nil:
		b = appendWords(b, stateText(*r.State))
	case r.Kind == event.KindRejected:
		b = appendWords(b, "payload refused: "+plain(r.Reason))
	default:
		isEvent = true
		b = appendWords(b, plain(severity.Of(&r)))
		if what := plain(host.Headline(r)); what != plainJSON(r.Data) {
			b = appendWords(b, what)
		}
	}
	b = appendWords(b, safe(r.Server), plain(r.Type))
	if isEvent {
		b = appendWords(b, plainJSON(r.Data))
		if r.Replayed {
			b = appendWords(b, "(replayed)")
		}
	}
	if len(r.Flags) > 0 {
		b = appendWords(b, "["+safe(strings.Join(r.Flags, " "))+"]")
	}
	if isEvent {
		b = appendWords(b, plain(r.EventID))
	}
	return append(b, '\n')
}

// appendWords appends the words that are not empty, each behind two blanks.
func appendWords(b []byte, words ...string) []byte {
	for _, w := range words {
		if w == "" {
			continue
		}
		b = append(b, "  "...)
		b = append(b, w...)
	}
	return b
}

func gapText(g event.Gap) string {
	var b strings.Builder
	if g.Certain {
		b.WriteString("gap: events are missing")
	} else {
		b.WriteString("gap: events may be missing")
	}
	if !g.From.IsZero() {
		b.WriteString(" from " + g.From.Local().Format(time.DateTime))
	}
	if !g.To.IsZero() {
		b.WriteString(" to " + g.To.Local().Format(time.DateTime))
	}
	b.WriteString(" (" + string(g.Cause) + ")")
	return b.String()
}

func stateText(s event.StateChange) string {
	text := "state: " + string(s.State)
	if words, ok := host.CallbackWords(s.Error); ok {
		return text + ", " + words
	}
	if s.Evidence != "" {
		text += ", " + safe(s.Evidence)
	}
	if !s.Error.IsZero() {
		text += ", " + plain(s.Error)
	}
	return text
}

// plain renders a text of a server for one line.
func plain(t trust.Text) string { return trust.Line(t).Plain() }

// plainJSON renders JSON of a server for one line.
func plainJSON(raw []byte) string {
	var b strings.Builder
	for _, line := range trust.Detail(raw, nil, 0) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strings.TrimLeft(line.Plain(), " "))
	}
	return b.String()
}

// safe does what plain does for a text of the operator: it may have been pasted.
func safe(s string) string { return plain(trust.Unescaped(s)) }
