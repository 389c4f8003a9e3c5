package evidence_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/event"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
)

func TestRowsShowTheMostSevereFlag(t *testing.T) {
	for want, raised := range map[string][]string{
		"":          {},
		" AI!":      {"inj.override", "inj.tool", event.FlagBadge},
		" AI! !ctl": {"inj.override", "term.csi", event.FlagBadge},
		" ~inj":     {"inj.tool"},
		" !ctl+2":   {"layout.long", "term.csi", "uni.invisible"},
		" !uni":     {"uni.tag"},
		" .long":    {"layout.long"},
		" .id":      {event.FlagIDLearned},
		" .uni":     {"uni.pua"},
		" .flag":    {"odd\x1b[31m"},
		" !json+1":  {"json.dup-key", "url.mismatch"},
	} {
		var c cells.Canvas
		none := themes.For(true, themes.NoColours)
		c.Begin(&none, 20)
		s := evidence.SignsOf(event.Record{Flags: raised})
		s.Draw(&c)
		c.End()
		if got := ansi.Strip(c.Top()); strings.TrimLeft(got, " ") != strings.TrimLeft(want, " ") || s.Width() != len(want) {
			t.Errorf("%v shows %q of width %d, want %q", raised, got, s.Width(), want)
		}
	}
}
