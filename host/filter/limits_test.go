package filter

import (
	"strings"
	"testing"
)

// Filters below, at and above the bounds of their size and of their levels.
func TestFiltersAreBounded(t *testing.T) {
	for n, fits := range map[int]bool{maxText - 1: true, maxText: true, maxText + 1: false} {
		if _, err := Parse(strings.Repeat("a", n), noon); fits != (err == nil) || !fits && !strings.Contains(err.Error(), "it may have 4096 bytes") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for n, fits := range map[int]bool{maxDepth - 1: true, maxDepth: true, maxDepth + 1: false} {
		for _, text := range []string{strings.Repeat("(", n) + "a" + strings.Repeat(")", n), strings.Repeat("!", n) + "a"} {
			if _, err := Parse(text, noon); fits != (err == nil) || !fits && !strings.Contains(err.Error(), "nested too deep") {
				t.Errorf("%d levels, %.3q: %v", n, text, err)
			}
		}
	}
}
