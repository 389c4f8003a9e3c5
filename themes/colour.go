package themes

import (
	"slices"
	"strconv"
	"strings"
)

// colour is the colour of text or background: the terminal's default (zero), one of its sixteen
// colours, or red, green and blue. A colour of a built-in theme also has its replacements on
// terminals of 256 and of sixteen colours.
type colour uint64

const (
	fromTerminal colour = 1 << 24
	fromRGB      colour = 2 << 24
)

func rgb(c uint32) colour { return fromRGB | colour(c&0xffffff) }

// tint returns a colour with its replacements: one of 256, from 16 on, and one of sixteen.
func tint(c uint32, of256, of16 int) colour {
	return rgb(c) | colour(of256)<<32 | colour(of16+1)<<40
}

// of256 returns the replacement of a tint among 256 colours, 0 if there is none.
func (c colour) of256() int { return int(c >> 32 & 255) }

// of16 returns the replacement of a tint among sixteen colours, -1 if there is none.
func (c colour) of16() int { return int(c>>40&255) - 1 }

// basic returns one of the terminal's sixteen colours, 0 to 15.
func basic(n int) colour { return fromTerminal | colour(n) }

// basicNames are the names of the sixteen colours in theme files.
var basicNames = []string{
	"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
	"bright-black", "bright-red", "bright-green", "bright-yellow", "bright-blue", "bright-magenta", "bright-cyan", "bright-white",
}

// params returns the SGR parameters of the colour as text or as background, for a colour depth.
func (c colour) params(background bool, d Depth) string {
	n := int(c & 0xffffff)
	switch {
	case c == 0:
		return ""
	case d == SixteenColours && c.of16() >= 0:
		n = c.of16()
	case d == Colours256 && c.of256() > 0:
		if background {
			return "48;5;" + strconv.Itoa(c.of256())
		}
		return "38;5;" + strconv.Itoa(c.of256())
	case c&fromRGB != 0:
		first := "38;2;"
		if background {
			first = "48;2;"
		}
		return first + strconv.Itoa(n>>16) + ";" + strconv.Itoa(n>>8&255) + ";" + strconv.Itoa(n&255)
	}
	base := 30
	if n >= 8 {
		base = 90 - 8
	}
	if background {
		base += 10
	}
	return strconv.Itoa(base + n)
}

// parseColour reads "#rrggbb", the name of one of the sixteen, or "default".
func parseColour(s string) (colour, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "default" {
		return 0, true
	}
	if hex, ok := strings.CutPrefix(s, "#"); ok && len(hex) == 6 {
		n, err := strconv.ParseUint(hex, 16, 32)
		return rgb(uint32(n)), err == nil
	}
	n := slices.Index(basicNames, s)
	return basic(max(n, 0)), n >= 0
}

// attrs is a set of attributes of a cell.
type attrs uint8

const (
	bold attrs = 1 << iota
	faint
	italic
	underline
	reverse
)

// attrNames are the names of the attributes in theme files, and their SGR
// parameters.
var attrNames = []struct {
	name, param string
}{{"bold", "1"}, {"faint", "2"}, {"italic", "3"}, {"underline", "4"}, {"reverse", "7"}}

// look is the colours and attributes of a role.
type look struct {
	text, back colour
	attrs      attrs
}

// on returns the sequence that begins the look and ends the one before, for a colour depth.
func (l look) on(d Depth) string {
	params := []string{"0"}
	for i, a := range attrNames {
		if l.attrs&(1<<i) != 0 {
			params = append(params, a.param)
		}
	}
	for _, p := range []string{l.text.params(false, d), l.back.params(true, d)} {
		if p != "" {
			params = append(params, p)
		}
	}
	if len(params) == 1 {
		return Reset
	}
	return "\x1b[" + strings.Join(params, ";") + "m"
}
