package tui

import (
	"strings"
	"testing"
)

// One of a kind is told as one, in the numbers too.
func TestNumbersOfOne(t *testing.T) {
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
