package notify

import (
	"encoding/base64"
	"strings"
	"unicode"

	"eventdeck/ui/tui/cells"
)

// Alert is a way in which the terminal notifies.
type Alert string

// The alerts. [Bell] is for terminals that know none of the sequences.
const (
	Bell   Alert = "bell"
	OSC9   Alert = "osc9"   // iTerm2, ConEmu: one text
	OSC99  Alert = "osc99"  // kitty: title and body, encoded
	OSC777 Alert = "osc777" // rxvt-unicode, foot, Ghostty, WezTerm: title and body
)

// Alerts are all alerts.
var Alerts = []Alert{Bell, OSC9, OSC99, OSC777}

// AlertFor returns the alert of the terminal that the environment names. Multiplexers get a bell,
// since they may swallow the sequences.
func AlertFor(env func(string) string) Alert {
	if multiplexed(env) {
		return Bell
	}
	term := env("TERM")
	switch {
	case env("KITTY_WINDOW_ID") != "" || strings.Contains(term, "kitty"):
		return OSC99
	case env("TERM_PROGRAM") == "iTerm.app":
		return OSC9
	case env("TERM_PROGRAM") == "WezTerm", env("TERM_PROGRAM") == "ghostty",
		strings.HasPrefix(term, "foot"), strings.HasPrefix(term, "rxvt-unicode"), strings.HasPrefix(term, "xterm-ghostty"):
		return OSC777
	}
	return Bell
}

func multiplexed(env func(string) string) bool {
	return env("TMUX") != "" || env("STY") != "" || strings.HasPrefix(env("TERM"), "screen") || strings.HasPrefix(env("TERM"), "tmux")
}

// Bounds of the text of a notification, in cells.
const (
	TitleMax = 40
	bodyMax  = 160
)

// Sequence returns the bytes that notify. No byte of title and body can end the sequence or begin
// another one.
func (k Alert) Sequence(title, body string, tmux, asciiOnly bool) string {
	title, body = Text(title, TitleMax, asciiOnly), Text(body, bodyMax, asciiOnly)
	const end = "\x1b\\"
	var s string
	switch k {
	case OSC9:
		s = "\x1b]9;" + title + ": " + body + end
	case OSC99:
		s = "\x1b]99;i=eventdeck:d=0:e=1;" + base64.StdEncoding.EncodeToString([]byte(title)) + end +
			"\x1b]99;i=eventdeck:p=body:e=1;" + base64.StdEncoding.EncodeToString([]byte(body)) + end
	case OSC777:
		s = "\x1b]777;notify;" + title + ";" + body + end
	default:
		return "\a"
	}
	if tmux {
		return "\x1bPtmux;" + strings.ReplaceAll(s, "\x1b", "\x1b\x1b") + end
	}
	return s
}

// Text makes a text safe inside a sequence: printable, clipped, and without semicolons, which
// separate fields.
func Text(s string, width int, asciiOnly bool) string {
	s = cells.Sanitize(s).Clip(width).Plain()
	return strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ','
		case r == unicode.ReplacementChar, r >= 0x7f && asciiOnly:
			return '?'
		case r < 0x20 || r >= 0x7f && r < 0xa0 || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
}
