package tui

import (
	"strings"

	"eventdeck/host/event"
	"eventdeck/themes"
)

// glyphs are the signs of the screen, each one cell wide.
type glyphs struct {
	open, closed           string // of a tree node
	live, quiet, busy, bad string
	paused, ended, leaf    string
	rule, ruleOn, divider  string
	gutter, cursor, gap    string
	path, dot, more        string
	chosen, choice, cannot string
	masked                 string    // stands for one character that is not shown
	none                   string    // of a spark: nothing
	bars                   []string  // of a spark, lowest first
	mark, picked           string    // of rows of the stream
	up, down               string    // the order of a column
	joints                 [3]string // of rows that came as one: the first, one amidst, the last
}

var unicodeGlyphs = glyphs{
	open: "▾", closed: "▸", live: "●", quiet: "○", busy: "◌", bad: "✗", paused: "‖", ended: "■", leaf: "·",
	rule: "─", ruleOn: "━", divider: "│", gutter: "▌", cursor: "▶", gap: "╌",
	path: "›", dot: "·", more: "…", chosen: "●", choice: "○", cannot: "×", masked: "•",
	none: "·", bars: []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	mark: "◆", picked: "▪",
	up: "▴", down: "▾", joints: [3]string{"┌", "├", "└"},
}

var asciiGlyphs = glyphs{
	open: "v", closed: ">", live: "*", quiet: "o", busy: "~", bad: "!", paused: "=", ended: "#", leaf: "-",
	rule: "-", ruleOn: "=", divider: "|", gutter: "|", cursor: ">", gap: "-",
	path: ">", dot: "-", more: "~", chosen: "*", choice: "o", cannot: "x", masked: "*",
	none: ".", bars: []string{"_", ":", "-", "=", "+", "*", "%", "#"},
	mark: "+", picked: "*",
	up: "^", down: "v", joints: [3]string{"/", "|", "\\"},
}

// glyphSets are the sets by their names.
var glyphSets = map[string]*glyphs{"unicode": &unicodeGlyphs, "ascii": &asciiGlyphs}

// glyphsFor chooses by the first that names a set: the command line,
// EVENTDECK_GLYPHS, what the operator kept. Else the locale decides: the first
// of LC_ALL, LC_CTYPE and LANG that is set says whether the terminal takes UTF-8.
// Systems without these variables are taken for able.
func glyphsFor(env func(string) string, flag, kept string) *glyphs {
	for _, name := range []string{flag, env("EVENTDECK_GLYPHS"), kept} {
		if set, ok := glyphSets[strings.ToLower(name)]; ok {
			return set
		}
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		v := strings.ToLower(env(name))
		if v == "" {
			continue
		}
		if strings.Contains(v, "utf-8") || strings.Contains(v, "utf8") {
			return &unicodeGlyphs
		}
		return &asciiGlyphs
	}
	return &unicodeGlyphs
}

// sign returns the glyph and the role of a subscription's state. The word of
// the state always stands beside it.
func (g *glyphs) sign(s event.State) (string, themes.Role) {
	switch s {
	case event.StateLive, event.StatePolling:
		return g.live, themes.Good
	case stateQuiet:
		return g.leaf, themes.Good
	case stateGap:
		return g.gap, themes.Warn
	case event.StateDraining, event.StateRefreshing, event.StateResumed, event.StateSwitched:
		return g.live, themes.Busy
	case event.StateStarting, event.StateVerifying:
		return g.busy, themes.Busy
	case event.StateStale, event.StateBackoff:
		return g.quiet, themes.Warn
	case event.StateSuspended, event.StateDenied:
		return g.bad, themes.Bad
	case event.StatePaused:
		return g.paused, themes.Dim
	case event.StateEnded:
		return g.ended, themes.Bad
	}
	return g.busy, themes.Dim
}
