package tui

import (
	"encoding/base64"
	"strings"
	"unicode"

	"eventdeck/ui/tui/cells"
)

// alert is a way in which a terminal tells somebody who looks elsewhere.
type alert string

// The ways. Terminals that know none of the sequences ring.
const (
	alertBell   alert = "bell"
	alertOSC9   alert = "osc9"   // iTerm2, Windows Terminal's relatives: one text
	alertOSC99  alert = "osc99"  // kitty: title and body, encoded
	alertOSC777 alert = "osc777" // rxvt-unicode, foot, Ghostty, WezTerm: title and body
)

var alerts = []alert{alertBell, alertOSC9, alertOSC99, alertOSC777}

// alertFor chooses by what terminals say of themselves in the environment. A
// multiplexer may swallow the sequences and shows a bell well, so it gets one.
func alertFor(env func(string) string) alert {
	if multiplexed(env) {
		return alertBell
	}
	term := env("TERM")
	switch {
	case env("KITTY_WINDOW_ID") != "" || strings.Contains(term, "kitty"):
		return alertOSC99
	case env("TERM_PROGRAM") == "iTerm.app":
		return alertOSC9
	case env("TERM_PROGRAM") == "WezTerm", env("TERM_PROGRAM") == "ghostty",
		strings.HasPrefix(term, "foot"), strings.HasPrefix(term, "rxvt-unicode"), strings.HasPrefix(term, "xterm-ghostty"):
		return alertOSC777
	}
	return alertBell
}

func multiplexed(env func(string) string) bool {
	return env("TMUX") != "" || env("STY") != "" || strings.HasPrefix(env("TERM"), "screen") || strings.HasPrefix(env("TERM"), "tmux")
}

// Bounds of what is sent, in cells.
const (
	alertTitleMax = 40
	alertBodyMax  = 160
)

// sequence returns what is written to the terminal. Whatever title and body
// hold, no byte of them ends the sequence or begins another one.
func (k alert) sequence(title, body string, tmux, asciiOnly bool) string {
	title, body = alertText(title, alertTitleMax, asciiOnly), alertText(body, alertBodyMax, asciiOnly)
	const end = "\x1b\\"
	var s string
	switch k {
	case alertOSC9:
		s = "\x1b]9;" + title + ": " + body + end
	case alertOSC99:
		s = "\x1b]99;i=eventdeck:d=0:e=1;" + base64.StdEncoding.EncodeToString([]byte(title)) + end +
			"\x1b]99;i=eventdeck:p=body:e=1;" + base64.StdEncoding.EncodeToString([]byte(body)) + end
	case alertOSC777:
		s = "\x1b]777;notify;" + title + ";" + body + end
	default:
		return "\a"
	}
	if tmux {
		return "\x1bPtmux;" + strings.ReplaceAll(s, "\x1b", "\x1b\x1b") + end
	}
	return s
}

// alertText makes a text fit to stand inside a sequence: printable, clipped, and
// without the sign that parts its fields.
func alertText(s string, width int, asciiOnly bool) string {
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
