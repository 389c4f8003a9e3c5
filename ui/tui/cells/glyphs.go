package cells

import (
	"strings"

	"charm.land/bubbles/v2/spinner"
)

// Glyphs are the symbols of the screen, each one cell wide.
type Glyphs struct {
	Open, Closed           string // of a tree node
	Live, Quiet, Busy, Bad string
	Paused, Ended, Leaf    string
	Rule, RuleOn, Divider  string
	Gutter, Cursor, Gap    string
	Path, Dot, More        string
	Chosen, Choice, Cannot string
	Masked                 string     // stands for one character that is not shown
	none                   string     // of a sparkline: zero
	Bars                   []string   // of a sparkline, lowest first
	Mark, Picked           string     // of rows of the stream
	Up, Down               string     // the order of a column
	Joints                 [3]string  // of the rows of one batch: first, middle, last
	Box                    [16]string // pieces of frames, by [Joint]
	Done, Left             rune       // of a progress bar
	Turning                spinner.Spinner
}

// UnicodeGlyphs are for terminals that support UTF-8.
var UnicodeGlyphs = Glyphs{
	Open: "▾", Closed: "▸", Live: "●", Quiet: "○", Busy: "◌", Bad: "✗", Paused: "‖", Ended: "■", Leaf: "·",
	Rule: "─", RuleOn: "━", Divider: "│", Gutter: "▌", Cursor: "▶", Gap: "╌",
	Path: "›", Dot: "·", More: "…", Chosen: "●", Choice: "○", Cannot: "×", Masked: "•",
	none: "·", Bars: []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	Mark: "◆", Picked: "▪", Done: '█', Left: '░', Turning: spinner.MiniDot,
	Up: "▴", Down: "▾", Joints: [3]string{"┌", "├", "└"},
	Box: [16]string{" ", "╵", "╷", "│", "╴", "╯", "╮", "┤", "╶", "╰", "╭", "├", "─", "┴", "┬", "┼"},
}

// ASCIIGlyphs are for all others.
var ASCIIGlyphs = Glyphs{
	Open: "v", Closed: ">", Live: "*", Quiet: "o", Busy: "~", Bad: "!", Paused: "=", Ended: "#", Leaf: "-",
	Rule: "-", RuleOn: "=", Divider: "|", Gutter: "|", Cursor: ">", Gap: "-",
	Path: ">", Dot: "-", More: "~", Chosen: "*", Choice: "o", Cannot: "x", Masked: "*",
	none: ".", Bars: []string{"_", ":", "-", "=", "+", "*", "%", "#"},
	Mark: "+", Picked: "@", Done: '#', Left: '-', Turning: spinner.Line,
	Up: "^", Down: "v", Joints: [3]string{"/", "|", "\\"},
	Box: [16]string{" ", "|", "|", "|", "-", "+", "+", "+", "-", "+", "+", "+", "-", "+", "+", "+"},
}

// Vertical is the [Joint] of a line that runs from top to bottom.
const Vertical = 3

// Joint returns the index into [Glyphs.Box] of the piece with lines to the given sides.
func Joint(up, down, left, right bool) (n int) {
	for i, on := range [...]bool{up, down, left, right} {
		if on {
			n |= 1 << i
		}
	}
	return n
}

// GlyphSets maps names to sets of glyphs.
var GlyphSets = map[string]*Glyphs{"unicode": &UnicodeGlyphs, "ascii": &ASCIIGlyphs}

// ChooseGlyphs returns the set that the flag, EVENTDECK_GLYPHS or the saved setting names, in this
// order. Without any of them the locale decides: Unicode, unless the first of LC_ALL, LC_CTYPE and
// LANG that is set does not name UTF-8.
func ChooseGlyphs(env func(string) string, flag, kept string) *Glyphs {
	for _, name := range []string{flag, env("EVENTDECK_GLYPHS"), kept} {
		if set, ok := GlyphSets[strings.ToLower(name)]; ok {
			return set
		}
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		v := strings.ToLower(env(name))
		if v == "" {
			continue
		}
		if strings.Contains(v, "utf-8") || strings.Contains(v, "utf8") {
			return &UnicodeGlyphs
		}
		return &ASCIIGlyphs
	}
	return &UnicodeGlyphs
}
