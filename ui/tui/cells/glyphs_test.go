package cells_test

import (
	"testing"

	"eventdeck/ui/tui/cells"
)

// Glyphs that can stand in the same place of a pane differ in both sets.
func TestGlyphsOfOnePlaceDiffer(t *testing.T) {
	for name, g := range cells.GlyphSets {
		for place, signs := range map[string][]string{
			"tree":   {g.Live, g.Quiet, g.Busy, g.Bad, g.Paused, g.Ended, g.Leaf, g.Picked, g.Open, g.Closed},
			"stream": {g.Mark, g.Picked, g.Cursor},
			"form":   {g.Chosen, g.Choice, g.Cannot},
		} {
			seen := map[string]bool{}
			for _, s := range signs {
				if seen[s] {
					t.Errorf("%s, %s: %q means two things", name, place, s)
				}
				seen[s] = true
			}
		}
	}
}
