package themes

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// colour is what a cell's text or background has: the zero colour is the
// terminal's own, the others are one of its sixteen, or red, green and blue.
type colour uint32

const (
	fromTerminal colour = 1 << 24
	fromRGB      colour = 2 << 24
)

func rgb(c uint32) colour { return fromRGB | colour(c&0xffffff) }

// basic is one of the terminal's sixteen colours, 0 to 15.
func basic(n int) colour { return fromTerminal | colour(n) }

// basicNames are the names of the sixteen colours in theme files.
var basicNames = []string{
	"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
	"bright-black", "bright-red", "bright-green", "bright-yellow", "bright-blue", "bright-magenta", "bright-cyan", "bright-white",
}

// params returns the SGR parameters of the colour as text or as background.
func (c colour) params(background bool) string {
	n := int(c & 0xffffff)
	switch {
	case c == 0:
		return ""
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

// luminance is the relative luminance of WCAG 2.2, 0 for black to 1 for white.
func (c colour) luminance() float64 {
	part := func(v colour) float64 {
		x := float64(v&255) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*part(c>>16) + 0.7152*part(c>>8) + 0.0722*part(c)
}

// contrast is the contrast ratio of WCAG 2.2 between two RGB colours, 1 to 21.
func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	if x < y {
		x, y = y, x
	}
	return (x + 0.05) / (y + 0.05)
}

// attrs are attributes that a cell can have beside its colours.
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

// look is what a role is made of.
type look struct {
	text, back colour
	attrs      attrs
}

// on returns the sequence that begins the look and undoes the one before.
func (l look) on() string {
	params := []string{"0"}
	for i, a := range attrNames {
		if l.attrs&(1<<i) != 0 {
			params = append(params, a.param)
		}
	}
	for _, p := range []string{l.text.params(false), l.back.params(true)} {
		if p != "" {
			params = append(params, p)
		}
	}
	if len(params) == 1 {
		return Reset
	}
	return "\x1b[" + strings.Join(params, ";") + "m"
}
