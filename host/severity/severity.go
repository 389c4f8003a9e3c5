// Package severity tells how bad an event is by the word of its sender: the screen
// colours by it, the filter finds by it. The word is a server's claim. Nothing checks it,
// and nothing but colours and places in a list follows from it.
package severity

import (
	"slices"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
)

// Level is what a sender's word means.
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

// graveNames are members that say how bad something is, stateNames those that say how it
// went, which is second best. The best of each come first.
var (
	graveNames = []string{"severity", "sev", "level", "priority", "urgency"}
	stateNames = []string{"status", "state", "outcome", "result", "conclusion", "phase"}
)

// Names tells whether a member of that name says how bad something is.
func Names(member string) bool { return slices.Contains(graveNames, member) }

// Found tells whether [Of] finds a member of that name.
func Found(member string) bool { return Names(member) || slices.Contains(stateNames, member) }

// Grave returns the text of the best member of a payload, or of an object in it, that says
// how bad it is. Escapes of JSON are as they are. The payload was read strictly before.
func Grave(data string) (text string, ok bool) {
	start, ok := object(data)
	if !ok {
		return "", false
	}
	if text, ok = best(data, start, graveNames); ok {
		return text, true
	}
	for m := jsontext.Enter(data, start); m.Next(); {
		if data[m.Value] != '{' {
			continue
		}
		if text, ok = best(data, m.Value, graveNames); ok {
			return text, true
		}
	}
	return "", false
}

// Of returns the sender's word for how bad an event is: a member of its payload that says
// so, else the priority that the server gives it, else a member that says how it went.
// The zero text means that there is no such word.
func Of(r *event.Record) trust.Text {
	data := jsontext.View(r.Data)
	if text, ok := Grave(data); ok {
		return unescaped(text)
	}
	if r.Labels != nil && !r.Labels.Priority.IsZero() {
		return r.Labels.Priority
	}
	if start, ok := object(data); ok {
		if text, ok := best(data, start, stateNames); ok {
			return unescaped(text)
		}
	}
	return trust.Text{}
}

// levels are the words that are known, in lower case.
var levels = map[string]Level{
	"critical": Critical, "crit": Critical, "fatal": Critical, "emergency": Critical, "emerg": Critical, "panic": Critical, "alert": Critical,
	"blocker": Critical, "disaster": Critical, "p0": Critical, "p1": Critical, "sev0": Critical, "sev1": Critical,
	"error": Error, "err": Error, "failed": Error, "failure": Error, "down": Error, "high": Error, "urgent": Error, "major": Error,
	"warning": Warning, "warn": Warning, "degraded": Warning, "medium": Warning, "moderate": Warning, "p2": Warning, "sev2": Warning,
	"info": Info, "information": Info, "informational": Info, "notice": Info, "low": Info, "minor": Info, "debug": Info, "trace": Info,
	"normal": Info, "p3": Info, "p4": Info, "p5": Info, "sev3": Info, "sev4": Info, "sev5": Info,
	"ok": Good, "success": Good, "succeeded": Good, "resolved": Good, "recovered": Good, "up": Good, "passed": Good, "healthy": Good, "green": Good,
}

// longest bounds the words that are looked up, in bytes.
const longest = len("informational")

// LevelOf returns what a word means, without regard to case.
func LevelOf(word string) Level {
	if len(word) > longest {
		return Unknown
	}
	if l, ok := levels[word]; ok {
		return l
	}
	return levels[strings.ToLower(word)]
}

// object returns where the object begins that a payload is.
func object(data string) (start int, ok bool) {
	start = jsontext.SkipSpace(data, 0)
	return start, start < len(data) && data[start] == '{'
}

// best returns the first of the named members of the object at data[at:] that is a scalar.
func best(data string, at int, names []string) (text string, ok bool) {
	rank := len(names)
	for m := jsontext.Enter(data, at); m.Next(); {
		c := data[m.Value]
		if c == '{' || c == '[' || c == 'n' {
			continue
		}
		for i, name := range names[:rank] {
			if m.Key == name {
				text, rank = jsontext.Inside(data[m.Value:m.End]), i
				break
			}
		}
	}
	return text, rank < len(names)
}

// unescaped returns a text of a payload that outlives it.
func unescaped(text string) trust.Text {
	if strings.Contains(text, `\`) {
		return trust.Untrusted(string(jsontext.AppendUnquoted(nil, text)))
	}
	return trust.Untrusted(strings.Clone(text))
}
