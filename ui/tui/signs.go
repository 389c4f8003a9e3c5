package tui

import (
	"slices"
	"strconv"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// severity orders flags by what they may do to somebody who trusts the text.
type severity uint8

const (
	nothing severity = iota
	info             // unusual
	warn             // deceives a reader or a program
	danger           // acts, or hides text
)

// signsOfSeverity are the signs of the severities, told apart without colour.
var signsOfSeverity = [...]struct {
	sign, word string
	role       themes.Role
}{info: {".", "unusual", themes.Dim}, warn: {"~", "deceptive", themes.Warn}, danger: {"!", "dangerous", themes.Bad}}

// graded are the flags whose severity does not follow from their group.
var graded = map[string]severity{
	"uni.bidi": danger, "uni.tag": danger, "uni.vs": danger, "uni.linesep": danger,
	"json.dup-key": danger, "json.trailing": danger,
	"uni.pua": info, "uni.styled": info, "uni.space": info, "uni.width": info, "uni.unassigned": info, "uni.nonchar": info,
	"json.wide": info, "json.depth": info, "json.size": info, "url.punycode": info,
	event.FlagIDMismatch: warn, event.FlagBadge: warn,
}

// groups are the groups of flags: their severity, and the word of a row.
var groups = map[string]struct {
	severity severity
	word     string
}{
	"term": {danger, "ctl"}, "uni": {warn, "uni"}, "json": {warn, "json"},
	"url": {warn, "url"}, "inj": {warn, "inj"}, "layout": {info, "long"},
}

func severityOf(flag string) severity {
	if s, ok := graded[flag]; ok {
		return s
	}
	group, _, _ := strings.Cut(flag, ".")
	if g, ok := groups[group]; ok {
		return g.severity
	}
	return info
}

// gravestFirst returns the flags in the order of their severity.
func gravestFirst(flags []string) []string {
	out := slices.Clone(flags)
	slices.SortStableFunc(out, func(x, y string) int { return int(severityOf(y)) - int(severityOf(x)) })
	return out
}

// wordOf is the short word of a flag for a row.
func wordOf(flag string) string {
	if flag == event.FlagIDMismatch {
		return "id"
	}
	group, _, _ := strings.Cut(flag, ".")
	if g, ok := groups[group]; ok {
		return g.word
	}
	return "flag"
}

// reasonOf says what a flag stands for.
func reasonOf(flag string) string {
	switch flag {
	case event.FlagBadge:
		return "the event as a whole speaks to an AI"
	case event.FlagIDMismatch:
		return "the delivery's id differs from the event's"
	}
	if r := trust.Flag(flag).Reason(); r != "" {
		return r
	}
	return "noticed by another version of this program"
}

// badgeWord marks an event that speaks to an AI.
const badgeWord = "AI!"

// signs are what a row says of the flags of its record: the badge, the gravest
// flag and how many more there are. The detail has them all.
type signs struct {
	replay string
	badge  string
	grave  string
	role   themes.Role // of grave
}

func signsOf(r event.Record) signs {
	var s signs
	if r.Replayed {
		s.replay = "replay"
	}
	for _, f := range r.Flags {
		if f == event.FlagBadge {
			s.badge = badgeWord
		}
	}
	top, word, n := nothing, "", 0
	for _, f := range r.Flags {
		if f == event.FlagBadge || s.badge != "" && strings.HasPrefix(f, "inj.") {
			continue // the badge stands for these
		}
		n++
		if sev := severityOf(f); sev > top {
			top, word = sev, wordOf(f)
		}
	}
	if n == 0 {
		return s
	}
	s.role = signsOfSeverity[top].role
	s.grave = signsOfSeverity[top].sign + word
	if n > 1 {
		s.grave += "+" + strconv.Itoa(n-1)
	}
	return s
}

// width is the room that the signs take, with the blank before them.
func (s *signs) width() int {
	w := 0
	for _, p := range [...]string{s.replay, s.badge, s.grave} {
		if p != "" {
			w += 1 + len(p)
		}
	}
	return w
}

// fit leaves out the word about a replay where a row of so many cells would
// have no room for its text.
func (s signs) fit(room int) signs {
	if room-s.width() < 8 {
		s.replay = ""
	}
	return s
}

// lay writes the signs at the end of the row.
func (s *signs) lay(c *cells.Canvas) {
	w := s.width()
	if w == 0 || w > c.Room {
		return
	}
	c.Style(themes.Plain)
	c.Fill(c.Room - w)
	for _, p := range [...]struct {
		role themes.Role
		text string
	}{{themes.Dim, s.replay}, {themes.Alarm, s.badge}, {s.role, s.grave}} {
		if p.text != "" {
			c.Put(themes.Plain, " ")
			c.Put(p.role, p.text)
		}
	}
}
