// Package flags grades what the scanner noticed in payloads and says it in rows.
package flags

import (
	"slices"
	"strconv"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/trust/scan"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// severity orders flags by what they may do to a reader who trusts the text.
type severity uint8

const (
	nothing severity = iota
	Info             // unusual
	warn             // deceives a reader or a program
	danger           // acts, or hides text
)

// Severities are the signs of the severityOf, told apart without colour.
var Severities = [...]struct {
	Sign, word string
	Role       themes.Role
}{Info: {".", "unusual", themes.Dim}, warn: {"~", "deceptive", themes.Warn}, danger: {"!", "dangerous", themes.Bad}}

// severityOf are the flags whose severity does not follow from their group.
var severityOf = map[string]severity{
	"uni.bidi": danger, "uni.tag": danger, "uni.vs": danger, "uni.linesep": danger,
	"json.dup-key": danger, "json.trailing": danger,
	"uni.pua": Info, "uni.styled": Info, "uni.space": Info, "uni.width": Info, "uni.unassigned": Info, "uni.nonchar": Info,
	"json.wide": Info, "json.depth": Info, "json.size": Info, "url.punycode": Info,
	event.FlagIDMismatch: warn, event.FlagBadge: warn,
}

// groups are the groups of flags: their severity, and the word of a row.
var groups = map[string]struct {
	severity severity
	word     string
}{
	"term": {danger, "ctl"}, "uni": {warn, "uni"}, "json": {warn, "json"},
	"url": {warn, "url"}, "inj": {warn, "inj"}, "layout": {Info, "long"},
}

// SeverityOf grades a flag by itself, else by its group.
func SeverityOf(flag string) severity {
	if s, ok := severityOf[flag]; ok {
		return s
	}
	group, _, _ := strings.Cut(flag, ".")
	if g, ok := groups[group]; ok {
		return g.severity
	}
	return Info
}

// MostSevereFirst returns the flags in the order of their severity.
func MostSevereFirst(flags []string) []string {
	out := slices.Clone(flags)
	slices.SortStableFunc(out, func(x, y string) int { return int(SeverityOf(y)) - int(SeverityOf(x)) })
	return out
}

// wordOf is the short word of a flag for a row.
func wordOf(flag string) string {
	if flag == event.FlagIDMismatch || flag == event.FlagIDLearned {
		return "id"
	}
	group, _, _ := strings.Cut(flag, ".")
	if g, ok := groups[group]; ok {
		return g.word
	}
	return "flag"
}

// ReasonOf says what a flag stands for.
func ReasonOf(flag string) string {
	switch flag {
	case event.FlagBadge:
		return "the event as a whole speaks to an AI"
	case event.FlagIDMismatch:
		return "the delivery's id differs from the event's"
	case event.FlagIDLearned:
		return "the server named the subscription by an id that was not known; it is known now"
	}
	if r := scan.Flag(flag).Reason(); r != "" {
		return r
	}
	return "noticed by another version of this program"
}

// BadgeWord marks an event that speaks to an AI.
const BadgeWord = "AI!"

// Signs are what a row says of the flags of its record: the badge, the gravest
// flag and how many more there are. The detail has them all.
type Signs struct {
	replay string
	badge  string
	worst  string
	role   themes.Role // of grave
}

// SignsOf returns what a row says of the flags of a record.
func SignsOf(r event.Record) Signs {
	var s Signs
	if r.Replayed {
		s.replay = "replay"
	}
	for _, f := range r.Flags {
		if f == event.FlagBadge {
			s.badge = BadgeWord
		}
	}
	top, word, n := nothing, "", 0
	for _, f := range r.Flags {
		if f == event.FlagBadge || s.badge != "" && strings.HasPrefix(f, "inj.") {
			continue // the badge stands for these
		}
		n++
		if sev := SeverityOf(f); sev > top {
			top, word = sev, wordOf(f)
		}
	}
	if n == 0 {
		return s
	}
	s.role = Severities[top].Role
	s.worst = Severities[top].Sign + word
	if n > 1 {
		s.worst += "+" + strconv.Itoa(n-1)
	}
	return s
}

// Width is the room that the signs take, with the blank before them.
func (s *Signs) Width() int {
	w := 0
	for _, p := range [...]string{s.replay, s.badge, s.worst} {
		if p != "" {
			w += 1 + len(p)
		}
	}
	return w
}

// Fit leaves out the word about a replay where a row of so many cells would
// have no room for its text.
func (s Signs) Fit(room int) Signs {
	if room-s.Width() < 8 {
		s.replay = ""
	}
	return s
}

// Draw writes the signs at the end of the row.
func (s *Signs) Draw(c *cells.Canvas) {
	w := s.Width()
	if w == 0 || w > c.Room {
		return
	}
	c.Style(themes.Plain)
	c.Fill(c.Room - w)
	for _, p := range [...]struct {
		role themes.Role
		text string
	}{{themes.Dim, s.replay}, {themes.Alarm, s.badge}, {s.role, s.worst}} {
		if p.text != "" {
			c.Put(themes.Plain, " ")
			c.Put(p.role, p.text)
		}
	}
}
