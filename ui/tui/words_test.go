package tui

import (
	"strings"
	"testing"
)

// Counts of one are in the singular, in the numbers of the run too.
func TestCountsOfOne(t *testing.T) {
	h := incident()
	h.stats.Refusals, h.stats.Duplicates, h.stats.Store.Commits = 1, 1, 1
	a := open(t, h, 120, 40)
	press(t, a, "S")
	s := screenOf(a)
	for _, want := range []string{"1 delivery refused", "1 duplicate dropped", "1 commit"} {
		if !strings.Contains(s, want) || strings.Contains(s, want+"s ") {
			t.Errorf("%q is missing:\n%s", want, s)
		}
	}
}
