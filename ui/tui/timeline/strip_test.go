package timeline_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/event"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/timeline"
)

type noMarks struct{}

func (noMarks) Find(seq uint64) (event.Mark, bool) { return event.Mark{}, seq == 3 }

// The strip fills its rows at any width and position, and marks the chosen row.
func TestStripFillsItsRows(t *testing.T) {
	start := time.Date(2026, 3, 14, 14, 3, 5, 0, time.UTC)
	none := themes.For(true, themes.NoColours)
	env := &cells.Env{Theme: none, Glyphs: &cells.UnicodeGlyphs, Now: func() time.Time { return start.Add(100 * time.Second) }, Times: cells.TimeUTC}
	get := func(seq uint64) (event.Record, error) {
		r := event.Record{Seq: seq, Kind: event.KindEvent, ReceivedAt: start.Add(time.Duration(seq) * time.Second), Data: fmt.Appendf(nil, `{"severity":%q}`, []string{"info", "warning", "error", "critical"}[seq%4])}
		if seq == 50 {
			r.Kind, r.Gap = event.KindGap, &event.Gap{From: r.ReceivedAt.Add(-5 * time.Second), To: r.ReceivedAt}
		}
		return r, nil
	}
	var seqs []uint64
	for i := range uint64(90) {
		seqs = append(seqs, i+1)
	}
	s, screen := timeline.NewStrip(env), &tuitest.Screen{}
	for gen, at := range []uint64{90, 1, 45} {
		rows := timeline.Rows{Gen: gen, Loaded: true, Begins: true, Seqs: seqs, Top: max(at, 6) - 5, Bottom: min(at+5, 90), At: at, Follow: gen == 0, Marked: noMarks{}}
		for cmd := s.Work(screen, rows, get); cmd != nil; cmd = s.Work(screen, rows, get) {
			tuitest.Run(cmd)
		}
		for w := 1; w < 200; w += 7 {
			lines := s.Draw(w, rows)
			if len(lines) != timeline.StripRows {
				t.Fatalf("%d rows", len(lines))
			}
			for _, l := range lines {
				if ansi.StringWidth(l) != w {
					t.Fatalf("%d cells, want %d: %q", ansi.StringWidth(l), w, ansi.Strip(l))
				}
			}
			if axis := ansi.Strip(lines[1]); w > 60 && !strings.Contains(axis, "▴") {
				t.Errorf("at %d, %d cells: the chosen row is not told: %q", at, w, axis)
			}
		}
		if text := ansi.Strip(strings.Join(s.Draw(180, rows), "")); gen != 1 && (!strings.Contains(text, "◆") || !strings.Contains(text, "╌") || !strings.Contains(text, "C") || !strings.Contains(text, "E") || !strings.Contains(text, "W")) {
			t.Errorf("no mark, no gap, or how bad it was is told by colours alone: %q", text)
		}
	}
}
