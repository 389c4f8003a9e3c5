package dialect

import (
	"slices"
	"strings"
	"testing"
)

// However many types are skipped, the reasons are bounded in number and length, and contain
// no control characters.
func TestReasonsOfHiddenTypesAreBounded(t *testing.T) {
	var a, b SkippedTypes
	for i := range maxSkippedWhy - 2 {
		a.Count++
		a.tell("descriptor %d: \x1b[31m%s", i, strings.Repeat("x", 10_000))
	}
	for i := range 5 {
		b.Count++
		b.tell("other %d", i)
	}
	a.join(b)
	if a.Count != maxSkippedWhy+3 || len(a.Why) != maxSkippedWhy || !slices.Equal(a.Why[maxSkippedWhy-2:], []string{"other 0", "other 1"}) {
		t.Errorf("%d skipped, told %q", a.Count, a.Why)
	}
	if why := a.Why[0]; len(why) > 2*maxSkippedWidth || strings.Contains(why, "\x1b") || !strings.HasPrefix(why, "descriptor 0: ") {
		t.Errorf("told %q", why)
	}
	a.tell("one more")
	a.join(SkippedTypes{Count: 1, Why: []string{"two more"}})
	if len(a.Why) != maxSkippedWhy {
		t.Errorf("%d reasons", len(a.Why))
	}
}
