// Package themes says what the parts of the screen look like. A theme gives
// every role its attributes; panes name roles and never colours.
//
// No role is told by its colour alone: each has a word, a glyph or an attribute
// beside it, so that the theme "none" loses nothing.
package themes

import (
	"strconv"
	"strings"
)

// Role is a purpose on the screen.
type Role uint8

// The roles.
const (
	Plain     Role = iota // ordinary text
	Dim                   // what can wait: separators, ages, counts
	Strong                // what is read first
	Brand                 // the program's own name
	Title                 // title of a pane
	TitleOn               // title of the pane that has the keys
	Rule                  // lines between panes
	RuleOn                // line of the pane that has the keys
	Cursor                // the selected row of the pane that has the keys
	CursorOff             // the selected row of another pane
	Good                  // live, confirmed
	Busy                  // on the way
	Warn                  // needs a look
	Bad                   // failed
	Gap                   // events are or may be missing
	Mark                  // stands for text that is not shown as it came
	Span                  // text in which something was noticed
	SpanMark              // a mark in such text
	SpanOn                // the place that is explained now
	Gutter                // the bar beside text from a server
	Server                // names of servers
	Type                  // names of event types
	Key                   // a key that can be pressed
	Field                 // an input
	FieldOn               // the input that has the keys
	Off                   // cannot be chosen
	Alarm                 // a whole line that wants attention
	roles
)

// Reset ends every role.
const Reset = "\x1b[m"

// look is what a role is made of.
type look struct {
	fg, bg string // SGR colour parameters, "" for the terminal's own
	attrs  string // SGR attributes: 1 bold, 2 faint, 3 italic, 4 underline, 7 reverse
}

// Theme gives roles their look. It is a value.
type Theme struct {
	Name string
	on   [roles]string
}

// On returns the sequence that begins a role. It undoes the role before.
func (t Theme) On(r Role) string {
	if int(r) >= len(t.on) || t.on[r] == "" {
		return Reset
	}
	return t.on[r]
}

// Names lists the themes.
func Names() []string { return []string{"dark", "light", "high-contrast", "ansi16", "none"} }

// Named returns a theme by its name.
func Named(name string) (Theme, bool) {
	switch name {
	case "dark":
		return build(name, dark.looks()), true
	case "light":
		return build(name, light.looks()), true
	case "high-contrast":
		return build(name, contrast.looks()), true
	case "ansi16":
		return build(name, ansi16.looks()), true
	case "none":
		return build(name, none()), true
	}
	return Theme{}, false
}

// For returns the default for a terminal: none without colours, otherwise by
// its background.
func For(darkBackground, noColor bool) Theme {
	name := "light"
	switch {
	case noColor:
		name = "none"
	case darkBackground:
		name = "dark"
	}
	t, _ := Named(name)
	return t
}

func build(name string, looks [roles]look) Theme {
	t := Theme{Name: name}
	for i, l := range looks {
		var params []string
		for _, p := range []string{l.attrs, l.fg, l.bg} {
			if p != "" {
				params = append(params, p)
			}
		}
		if len(params) > 0 {
			t.on[i] = "\x1b[0;" + strings.Join(params, ";") + "m"
		}
	}
	return t
}

// rgb is a colour as in a style sheet, 0xRRGGBB.
type rgb uint32

func (c rgb) params(first string) string {
	return first + ";2;" + strconv.Itoa(int(c>>16&255)) + ";" + strconv.Itoa(int(c>>8&255)) + ";" + strconv.Itoa(int(c&255))
}

func fg(c rgb) string { return c.params("38") }
func bg(c rgb) string { return c.params("48") }
