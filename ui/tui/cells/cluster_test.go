package cells

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// The fast path for frames and bars measures as the renderer does, whatever follows.
func TestBoxCharactersAreMeasuredLikeTheRenderer(t *testing.T) {
	for r := rune(0x24F0); r < 0x2600; r++ {
		for _, behind := range []string{"", "x", "─", " ", "\u0301", "\uFE0F", "\u200D─", "日", "\u20E3"} {
			s := string(r) + behind
			g, want := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
			if n, w := cluster(s); n != len(g) || w != want {
				t.Errorf("%U before %q: %d bytes, %d cells; want %d, %d", r, behind, n, w, len(g), want)
			}
		}
	}
}

func TestFillStopsAtTheEndOfTheRow(t *testing.T) {
	for n, want := range map[int]int{-1: 0, 0: 0, 1: 1, 64: 64, 65: 65, 200: 150} {
		c := Canvas{Room: 150}
		if c.Fill(n); len(c.buf) != want || c.Room != 150-want {
			t.Errorf("%d: %d bytes, room for %d", n, len(c.buf), c.Room)
		}
	}
}
