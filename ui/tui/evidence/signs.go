// Shows in rows what the scanner noticed in payloads, by severity.

package evidence

import (
	"slices"
	"strconv"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/trust/scan"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// harm orders flags by the harm they may do to a reader who trusts the text.
type harm uint8

const (
	nothing harm = iota
	Info         // unusual
	warn         // deceives a reader or a program
	danger       // acts on the terminal, or hides text
)

// Severities are the signs of the severities, which differ without colour.
var Severities = [...]struct {
	Sign, word string
	Role       themes.Role
}{Info: {".", "unusual", themes.Dim}, warn: {"~", "deceptive", themes.Warn}, danger: {"!", "dangerous", themes.Bad}}

// severityOf has the flags whose severity is not that of their group.
var severityOf = map[string]harm{
	"uni.bidi": danger, "uni.tag": danger, "uni.vs": danger, "uni.linesep": danger,
	"json.dup-key": danger, "json.trailing": danger,
	"uni.pua": Info, "uni.styled": Info, "uni.space": Info, "uni.width": Info, "uni.unassigned": Info, "uni.nonchar": Info,
	"json.wide": Info, "json.depth": Info, "json.size": Info, "url.punycode": Info,
	event.FlagBadge: warn,
}

// groups has the severity of each group of flags, and the word that stands for it in a row.
var groups = map[string]struct {
	severity harm
	word     string
}{
	"term": {danger, "ctl"}, "uni": {warn, "uni"}, "json": {warn, "json"},
	"url": {warn, "url"}, "inj": {warn, "inj"}, "layout": {Info, "long"},
}

// SeverityOf returns the severity of a flag: its own, else that of its group.
func SeverityOf(flag string) harm {
	if s, ok := severityOf[flag]; ok {
		return s
	}
	group, _, _ := strings.Cut(flag, ".")
	if g, ok := groups[group]; ok {
		return g.severity
	}
	return Info
}

// MostSevereFirst returns the flags sorted by severity.
func MostSevereFirst(flags []string) []string {
	out := slices.Clone(flags)
	slices.SortStableFunc(out, func(x, y string) int { return int(SeverityOf(y)) - int(SeverityOf(x)) })
	return out
}

// wordOf returns the short word for a flag in a row.
func wordOf(flag string) string {
	if flag == event.FlagIDLearned {
		return "id"
	}
	group, _, _ := strings.Cut(flag, ".")
	if g, ok := groups[group]; ok {
		return g.word
	}
	return "flag"
}

// ReasonOf says what a flag means.
func ReasonOf(flag string) string {
	switch flag {
	case event.FlagBadge:
		return "the event as a whole speaks to an AI"
	case event.FlagIDLearned:
		return "the server named the subscription by an unknown id, which is known now"
	}
	if r := scan.Flag(flag).Reason(); r != "" {
		return r
	}
	return "noticed by another version of this program"
}

// BadgeWord marks an event whose text addresses an AI.
const BadgeWord = "AI!"

// Signs show the flags of a record in its row: the badge, the most severe flag and the number of
// further ones. The detail pane shows all of them.
type Signs struct {
	replay string
	badge  string
	worst  string
	role   themes.Role // of worst
}

// SignsOf returns the signs of a record.
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

// Width returns the width of the signs, with the blank before them.
func (s *Signs) Width() int {
	w := 0
	for _, p := range [...]string{s.replay, s.badge, s.worst} {
		if p != "" {
			w += 1 + len(p)
		}
	}
	return w
}

// Fit returns the signs without the word about a replay if the text of a row of room cells would
// be too narrow.
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
