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

// graveNames are members that say how bad something is in whatever word, stateNames those
// that say how it went, which is second best and counts only in a known word: a status may
// be "open" or that of HTTP. The best of each come first.
var (
	graveNames = []string{"severity", "sev", "level", "priority", "urgency"}
	stateNames = []string{"status", "state", "outcome", "result", "conclusion", "phase"}
)

// Names reports whether a member of that name says how bad something is.
func Names(member string) bool { return slices.Contains(graveNames, member) }

// Grave returns the text of the best member of a payload, or of an object in it, that says
// how bad it is. Escapes of JSON are as they are. The payload was read strictly before.
func Grave(data string) (text string, ok bool) {
	grave, _ := look(data)
	return grave.text, grave.ok
}

// Of returns the sender's word for how bad an event is: a member of its payload that says
// so, else the priority that the server gives it, else a member that says how it went.
// The zero text means that there is no such word.
func Of(r *event.Record) trust.Text {
	text, json := word(r)
	if json && strings.Contains(text, `\`) {
		return trust.Untrusted(string(jsontext.AppendUnquoted(nil, text)))
	}
	return trust.Untrusted(strings.Clone(text)) // it outlives the payload
}

// Rate returns what the sender's word for how bad an event is means.
func Rate(r *event.Record) Level {
	text, json := word(r)
	if json && strings.Contains(text, `\`) {
		return LevelOf(Of(r).Raw())
	}
	return LevelOf(text)
}

// word returns the sender's word, and whether it stands in JSON, where it may have escapes.
func word(r *event.Record) (text string, json bool) {
	grave, state := look(jsontext.View(r.Data))
	switch {
	case grave.ok:
		return grave.text, true
	case r.Labels != nil && !r.Labels.Priority.IsZero():
		return r.Labels.Priority.Raw(), false
	}
	return state.text, state.ok
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

// found is the member of those that were seen whose name comes first.
type found struct {
	names []string // that are better, the best first
	text  string
	ok    bool
}

// wants reports whether a member of that name is better than what was seen.
func (f *found) wants(name string) bool { return slices.Contains(f.names, name) }

// known reports whether the text of a scalar in JSON is a word of which the level is known.
func known(text string) bool {
	if strings.Contains(text, `\`) {
		text = string(jsontext.AppendUnquoted(nil, text))
	}
	return LevelOf(text) != Unknown
}

func (f *found) see(data string, m *jsontext.Members) {
	for i, name := range f.names {
		if m.Key == name {
			f.names, f.text, f.ok = f.names[:i], jsontext.Inside(data[m.Value:m.End]), true
			return
		}
	}
}

// look goes through a payload until it has the best member that says how bad it is, and
// returns it and what says how it went of the members before. Only scalars count; where the
// payload has none that says how bad it is, those of the first object in it that does.
func look(data string) (grave, state found) {
	start := jsontext.SkipSpace(data, 0)
	if start >= len(data) || data[start] != '{' {
		return grave, state
	}
	grave.names, state.names = graveNames, stateNames
	inner := found{names: graveNames}
	for m := jsontext.Enter(data, start); len(grave.names) > 0 && m.Next(); {
		switch data[m.Value] {
		case '[', 'n':
		case '{':
			if grave.ok || inner.ok {
				continue
			}
			for o := jsontext.Enter(data, m.Value); o.Next(); {
				if c := data[o.Value]; c != '{' && c != '[' && c != 'n' {
					inner.see(data, &o)
				}
			}
		default:
			grave.see(data, &m)
			if state.wants(m.Key) && known(jsontext.Inside(data[m.Value:m.End])) {
				state.see(data, &m)
			}
		}
	}
	if !grave.ok {
		grave = inner
	}
	return grave, state
}
