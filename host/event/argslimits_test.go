package event

import (
	"errors"
	"strings"
	"testing"

	"eventdeck/host/trust/strict"
)

// Arguments below, at and above the bounds of their size and depth.
func TestArgumentsAreBounded(t *testing.T) {
	const bytes, levels = 1 << 20, 1000
	for n, want := range map[int]error{bytes - 1: nil, bytes: nil, bytes + 1: strict.ErrSize} {
		if _, err := CanonicalArgs([]byte(`{"a":"` + strings.Repeat("x", n-8) + `"}`)); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for n, want := range map[int]error{levels - 1: nil, levels: nil, levels + 1: strict.ErrDepth} {
		if _, err := CanonicalArgs([]byte(`{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}`)); !errors.Is(err, want) {
			t.Errorf("%d levels: %v", n, err)
		}
	}
}
