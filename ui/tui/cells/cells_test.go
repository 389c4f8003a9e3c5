package cells_test

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

func TestRowsHaveExactlyTheirWidth(t *testing.T) {
	none := themes.For(true, themes.NoColours)
	for _, text := range []string{"", "short", "日本語日本語日本語", "e\u0301\u0301 combined", "a very long line that is clipped", "\x1b[31mred\x1b]0;owned\a", "👩‍👩‍👧 family"} {
		for _, width := range []int{1, 2, 7, 20} {
			var c cells.Canvas
			c.Begin(&none, width)
			c.Safe(themes.Plain, cells.Sanitize(text))
			c.End()
			c.Column(themes.Type, cells.Sanitize(text), width/2)
			c.Right(themes.Dim, "end")
			c.End()
			for i, row := range c.Rows(4, nil) {
				if got := ansi.StringWidth(row); got != width {
					t.Errorf("row %d of %q has %d cells, not %d: %q", i, text, got, width, row)
				}
				if strings.Contains(row, "\x1b]") || strings.Contains(row, "\a") {
					t.Errorf("%q acts on the terminal: %q", text, row)
				}
			}
		}
	}
}

func TestSearchMatchesAreHighlighted(t *testing.T) {
	dark := themes.For(true, themes.ManyColours)
	var c cells.Canvas
	c.Begin(&dark, 30)
	c.Found = "pool"
	c.Safe(themes.Plain, cells.Sanitize("the POOL is empty"))
	c.End()
	if row := c.Top(); !strings.Contains(row, dark.On(themes.SpanOn)+"POOL") {
		t.Errorf("not highlighted: %q", row)
	}
}

func TestNumbersInWords(t *testing.T) {
	for got, want := range map[string]string{
		cells.Count(0, "event"): "0 events", cells.Count(1, "event"): "1 event", cells.Count(1204, "event"): "1,204 events",
		cells.Count(1, "delivery"): "1 delivery", cells.Count(uint64(2), "delivery"): "2 deliveries", cells.Count(uint64(18_332), "gap"): "18,332 gaps",
		cells.Span(125 * time.Minute): "2 h 5 m", cells.Span(-time.Second): "0 s", cells.ShortSpan(2500 * time.Millisecond): "2.5 s",
		cells.Bytes(3 << 20): "3.0 MiB", cells.ShortBytes(2048): "2 KB", cells.Rate(0.4): "0.4/s", cells.Rate(12_000): "12,000/s", cells.RatePer(2.5, "min"): "2.5/min",
		cells.Commas("a", "", "b"): "a, b", cells.Sentence("it is gone"): "It is gone.", cells.Sentence(""): "", cells.WholeParts("one, two, three", ", ", 9): "one, two",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSparkDistinguishesZeroFromLow(t *testing.T) {
	if got := cells.ASCIIGlyphs.Spark([]uint32{0, 1, 100}); got != "._#" {
		t.Errorf("%q", got)
	}
}

func TestTimesFollowTheChosenView(t *testing.T) {
	now := time.Date(2026, 3, 14, 14, 5, 9, 0, time.UTC)
	e := cells.Env{Now: func() time.Time { return now }, Times: cells.TimeUTC}
	for view, want := range map[cells.TimeView]string{cells.TimeUTC: "14:05:04.000Z", cells.TimeRelative: "5 s ago", cells.TimeDelta: "+3.00s"} {
		e.Times = view
		if got := e.When(now.Add(-5*time.Second), now.Add(-8*time.Second), cells.StampTime); got != want {
			t.Errorf("%s: %q, want %q", cells.TimeViewNames[view], got, want)
		}
	}
}

func TestGlyphsSuitTheLocale(t *testing.T) {
	for vars, want := range map[string]*cells.Glyphs{"": &cells.UnicodeGlyphs, "LANG=C": &cells.ASCIIGlyphs, "LANG=C LC_ALL=de_DE.UTF-8": &cells.UnicodeGlyphs, "LANG=de_DE.utf8 EVENTDECK_GLYPHS=ascii": &cells.ASCIIGlyphs} {
		env := func(name string) string {
			for _, v := range strings.Fields(vars) {
				if value, ok := strings.CutPrefix(v, name+"="); ok {
					return value
				}
			}
			return ""
		}
		if cells.ChooseGlyphs(env, "", "") != want {
			t.Errorf("%q", vars)
		}
	}
}

func TestPanningKeepsTokensWhole(t *testing.T) {
	line := trust.Line(trust.Untrusted("abcdefgh\u202etail"))
	got := cells.Pan(line, 3)
	if text := got.Plain(); !strings.HasPrefix(text, "…") || got.Width != ansi.StringWidth(text) || !strings.HasSuffix(text, "tail") {
		t.Errorf("%q is said to have %d cells", text, got.Width)
	}
}
