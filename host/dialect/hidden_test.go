package dialect

import (
	"slices"
	"strings"
	"testing"
)

// However many are hidden, so many reasons of such a length are kept, and nothing in
// them acts on a terminal.
func TestReasonsOfHiddenTypesAreBounded(t *testing.T) {
	var a, b Hidden
	for i := range maxHiddenWhy - 2 {
		a.Count++
		a.tell("descriptor %d: \x1b[31m%s", i, strings.Repeat("x", 10_000))
	}
	for i := range 5 {
		b.Count++
		b.tell("other %d", i)
	}
	a.join(b)
	if a.Count != maxHiddenWhy+3 || len(a.Why) != maxHiddenWhy || !slices.Equal(a.Why[maxHiddenWhy-2:], []string{"other 0", "other 1"}) {
		t.Errorf("%d hidden, told %q", a.Count, a.Why)
	}
	if why := a.Why[0]; len(why) > 2*maxHiddenWidth || strings.Contains(why, "\x1b") || !strings.HasPrefix(why, "descriptor 0: ") {
		t.Errorf("told %q", why)
	}
	a.tell("one more")
	a.join(Hidden{Count: 1, Why: []string{"two more"}})
	if len(a.Why) != maxHiddenWhy {
		t.Errorf("%d reasons", len(a.Why))
	}
}
