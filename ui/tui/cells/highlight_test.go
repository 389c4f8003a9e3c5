package cells_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// A match is highlighted anywhere in a line, also across several JSON tokens.
func TestMatchesRunOverSegments(t *testing.T) {
	dark := themes.For(true, themes.ManyColours)
	line := trust.JSON([]byte(`{"name":"`+strings.Repeat("long ", 20)+`needle","severity":"critical"}`), 0)
	for text, want := range map[string]string{`needle`: "needle", `"severity": "crit`: `"severity": "crit`, `l","`: ""} {
		found := ""
		for _, l := range line {
			var c cells.Canvas
			c.Begin(&dark, 160)
			c.Found = text
			c.Safe(themes.Plain, l)
			c.End()
			row := c.Top()
			if plain := ansi.Strip(row); strings.TrimRight(plain, " ") != l.Plain() {
				t.Errorf("%q became %q", l.Plain(), plain)
			}
			for _, part := range strings.Split(row, dark.On(themes.SpanOn))[1:] {
				until, _, _ := strings.Cut(part, "\x1b")
				found += until
			}
		}
		if found != want {
			t.Errorf("%q: %q is highlighted", text, found)
		}
	}
}

func TestCutWideCharactersBecomeBlanks(t *testing.T) {
	for _, x := range []struct {
		from, to int
		want     string
	}{{0, 3, "a日"}, {0, 2, "a "}, {2, 5, " 本"}, {2, 4, "  "}, {5, 9, "b   "}, {3, 5, "本"}} {
		if got := cells.Between("a日本b", x.from, x.to); got != x.want {
			t.Errorf("%d to %d: %q, want %q", x.from, x.to, got, x.want)
		}
	}
}
