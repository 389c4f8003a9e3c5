package plain

import (
	"cmp"
	"strings"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/reading"
)

// AppendRecord appends the record as one line for a person: words, without glyphs, colours and
// repainting. The most important comes first, as lines are read aloud: time, severity,
// headline; then the source, the payload and ids. A record without a severity or a headline has
// "-" there. The time has the date unless that is today's, as of now.
func AppendRecord(b []byte, r event.Record, now time.Time) []byte {
	layout := "15:04:05.000"
	if r.ReceivedAt.Local().Format(time.DateOnly) != now.Local().Format(time.DateOnly) {
		layout = time.DateOnly + " " + layout
	}
	b = r.ReceivedAt.Local().AppendFormat(b, layout)
	isEvent := false
	level, what := "", ""
	switch {
	case r.Kind == event.KindGap && r.Gap != nil:
		what = gapText(*r.Gap)
	case r.Kind == event.KindState && r.State != nil:
		what = stateText(*r.State)
	case r.Kind == event.KindRejected:
		what = "payload refused: " + Text(r.Reason)
	default:
		isEvent = true
		l, status, word := reading.Judge(&r)
		if level = Text(word); status == reading.Resolved {
			level = status.String()
		} else if level == "" {
			level = l.String()
		}
		if text := Text(host.Headline(r)); text != JSON(r.Data) {
			what = text
		}
	}
	b = AppendWords(b, cmp.Or(level, "-"), cmp.Or(what, "-"), Safe(r.Server), Text(r.Name()))
	if isEvent {
		b = AppendWords(b, JSON(r.Data))
		if r.Replayed {
			b = AppendWords(b, "(replayed)")
		}
	}
	if len(r.Flags) > 0 {
		b = AppendWords(b, "["+Safe(strings.Join(r.Flags, " "))+"]")
	}
	if isEvent {
		b = AppendWords(b, Text(r.EventID))
	}
	return append(b, '\n')
}

// AppendWords appends the words that are not empty, each behind two spaces.
func AppendWords(b []byte, words ...string) []byte {
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
	missing := "gap: events may be missing"
	if g.Certain {
		missing = "gap: events are missing"
	}
	return missing + GapTime(g) + " (" + string(g.Cause) + ")"
}

// GapTime spells the time in which events may be missing, as far as it is known, behind a
// space.
func GapTime(g event.Gap) (words string) {
	if !g.From.IsZero() {
		words += " from " + g.From.Local().Format(time.DateTime)
	}
	if !g.To.IsZero() {
		words += " to " + g.To.Local().Format(time.DateTime)
	}
	return words
}

func stateText(s event.StateChange) string {
	text := "state: " + string(s.State)
	if words, ok := host.CallbackWords(s.Error); ok {
		return text + ", " + words
	}
	if grounds := s.Grounds(); grounds != "" {
		text += ", " + Safe(grounds)
	}
	if !s.Error.IsZero() {
		text += ", " + Text(s.Error)
	}
	return text
}
