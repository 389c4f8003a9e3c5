// Package severity reads how bad an event is from the word of its sender, for colours on the
// screen and for filters. The word is a server's claim: nothing checks it, and nothing but
// colours and order depends on it.
package severity

import (
	"slices"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
)

// Level is the meaning of a sender's word.
type Level uint8

// The levels, the worst last.
const (
	Unknown Level = iota // there is no word, or none that is known
	Good                 // it is over, or was never bad
	Info
	Warning
	Error
	Critical
	Levels // how many there are
)

// String returns the word for it; "" for [Unknown].
func (l Level) String() string {
	return [...]string{"", "good", "info", "warning", "error", "critical"}[min(l, Critical)]
}

// severityNames are members that hold a severity, in any word. outcomeNames are members that
// hold an outcome; they come second and count only with a known word, since a status may also
// be "open" or one of HTTP. The best of each come first.
var (
	severityNames = []string{"severity", "sev", "level", "priority", "urgency"}
	outcomeNames  = []string{"status", "state", "outcome", "result", "conclusion", "phase"}
)

// IsMember reports whether a member of that name holds a severity.
func IsMember(name string) bool { return slices.Contains(severityNames, name) }

// MemberText returns the text of the best member of a payload, or of an object in it, that
// holds a severity. Escapes of JSON are left as they are. The payload must have been read
// strictly before.
func MemberText(data string) (text string, ok bool) {
	severity, _ := look(data)
	return severity.text, severity.ok
}

// Of returns the sender's word for how bad an event is: the severity in its payload, else the
// priority that the server gives it, else the outcome in its payload. Zero: there is none.
func Of(r *event.Record) trust.Text {
	text, json := word(r)
	if json && strings.Contains(text, `\`) {
		return trust.Untrusted(string(jsontext.AppendUnquoted(nil, text)))
	}
	return trust.Untrusted(strings.Clone(text)) // it outlives the payload
}

// Rate returns the level of an event by the sender's word.
func Rate(r *event.Record) Level {
	text, json := word(r)
	if json && strings.Contains(text, `\`) {
		return LevelOf(Of(r).Raw())
	}
	return LevelOf(text)
}

// word returns the sender's word, and whether it stands in JSON, where it may have escapes.
func word(r *event.Record) (text string, json bool) {
	severity, outcome := look(jsontext.View(r.Data))
	switch {
	case severity.ok:
		return severity.text, true
	case !r.Priority().IsZero():
		return r.Priority().Raw(), false
	}
	return outcome.text, outcome.ok
}

// levels are the known words, in lower case.
var levels = map[string]Level{
	"critical": Critical, "crit": Critical, "fatal": Critical, "emergency": Critical, "emerg": Critical, "panic": Critical, "alert": Critical,
	"blocker": Critical, "disaster": Critical, "p0": Critical, "p1": Critical, "sev0": Critical, "sev1": Critical,
	"error": Error, "err": Error, "failed": Error, "failure": Error, "down": Error, "high": Error, "urgent": Error, "major": Error,
	"warning": Warning, "warn": Warning, "degraded": Warning, "medium": Warning, "moderate": Warning, "p2": Warning, "sev2": Warning,
	"info": Info, "information": Info, "informational": Info, "notice": Info, "low": Info, "minor": Info, "debug": Info, "trace": Info,
	"normal": Info, "p3": Info, "p4": Info, "p5": Info, "sev3": Info, "sev4": Info, "sev5": Info,
	"ok": Good, "success": Good, "succeeded": Good, "resolved": Good, "recovered": Good, "up": Good, "passed": Good, "healthy": Good, "green": Good,
}

// longestWord is the length of the longest known word, in bytes.
const longestWord = len("informational")

// LevelOf returns the level of a word in any letter case.
func LevelOf(word string) Level {
	if len(word) > longestWord {
		return Unknown
	}
	if l, ok := levels[word]; ok {
		return l
	}
	return levels[strings.ToLower(word)]
}

// candidate is the best member that was seen so far.
type candidate struct {
	names []string // of better members, the best first
	text  string
	ok    bool
}

// wants reports whether a member of that name would be better.
func (c *candidate) wants(name string) bool { return slices.Contains(c.names, name) }

// isKnown reports whether the text of a scalar in JSON is a known word.
func isKnown(text string) bool {
	if strings.Contains(text, `\`) {
		text = string(jsontext.AppendUnquoted(nil, text))
	}
	return LevelOf(text) != Unknown
}

// see takes a member if it is better than the one before.
func (c *candidate) see(data string, m *jsontext.Members) {
	for i, name := range c.names {
		if m.Key == name {
			c.names, c.text, c.ok = c.names[:i], jsontext.Inside(data[m.Value:m.End]), true
			return
		}
	}
}

// look reads a payload until it has the best severity, and returns that and the best outcome
// before it. Only scalars count. Where the payload itself has no severity, the first object in
// it that has one counts.
func look(data string) (severity, outcome candidate) {
	start := jsontext.SkipSpace(data, 0)
	if start >= len(data) || data[start] != '{' {
		return severity, outcome
	}
	severity.names, outcome.names = severityNames, outcomeNames
	inner := candidate{names: severityNames}
	for m := jsontext.Enter(data, start); len(severity.names) > 0 && m.Next(); {
		switch data[m.Value] {
		case '[', 'n':
		case '{':
			if severity.ok || inner.ok {
				continue
			}
			for o := jsontext.Enter(data, m.Value); o.Next(); {
				if c := data[o.Value]; c != '{' && c != '[' && c != 'n' {
					inner.see(data, &o)
				}
			}
		default:
			severity.see(data, &m)
			if outcome.wants(m.Key) && isKnown(jsontext.Inside(data[m.Value:m.End])) {
				outcome.see(data, &m)
			}
		}
	}
	if !severity.ok {
		severity = inner
	}
	return severity, outcome
}
