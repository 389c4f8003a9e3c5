package cells

import (
	"strings"

	"charm.land/bubbles/v2/spinner"
)

// Glyphs are the signs of the screen, each one cell wide.
type Glyphs struct {
	Open, Closed           string // of a tree node
	Live, Quiet, Busy, Bad string
	Paused, Ended, Leaf    string
	Rule, RuleOn, Divider  string
	Gutter, Cursor, Gap    string
	Path, Dot, More        string
	Chosen, Choice, Cannot string
	Masked                 string     // stands for one character that is not shown
	none                   string     // of a spark: nothing
	Bars                   []string   // of a spark, lowest first
	Mark, Picked           string     // of rows of the stream
	Up, Down               string     // the order of a column
	Joints                 [3]string  // of rows that came as one: the first, one amidst, the last
	Box                    [16]string // pieces of frames, by [Joint]
	Done, Left             rune       // of a bar
	Turning                spinner.Spinner
}

// UnicodeGlyphs are for terminals that take UTF-8.
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

// Joint returns the index into [Glyphs.Box] of the piece that connects to these sides.
func Joint(up, down, left, right bool) (n int) {
	for i, on := range [...]bool{up, down, left, right} {
		if on {
			n |= 1 << i
		}
	}
	return n
}

// GlyphSets are the sets by their names.
var GlyphSets = map[string]*Glyphs{"unicode": &UnicodeGlyphs, "ascii": &ASCIIGlyphs}

// ChooseGlyphs returns the set that is named first by the flag, by EVENTDECK_GLYPHS or by the
// saved setting. Else the locale decides: Unicode, unless the first of LC_ALL, LC_CTYPE and LANG
// that is set names no UTF-8.
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
