package event

import (
	"fmt"
	"math"
	"testing"
)

// A number belongs to the generation that it was given in, and is known up to the last one there.
func TestPositionsBelongToGenerations(t *testing.T) {
	var g Generations
	g = g.Next("a", 0).Next("b", 10).Next("c", 10).Next("d", 15)
	for seq, want := range map[uint64]string{0: "a", 10: "a", 11: "c", 15: "c", 16: "d", math.MaxUint64: "d"} {
		if got := g.Of(seq); got != want {
			t.Errorf("%d belongs to %s, not %s", seq, got, want)
		}
	}
	for _, c := range []struct {
		id   string
		seq  uint64
		want bool
	}{{"a", 10, true}, {"a", 11, false}, {"c", 15, true}, {"c", 16, false}, {"d", 20, true}, {"d", 21, false}, {"x", 0, false}, {"", 0, false}} {
		if got := g.Has(c.id, c.seq, 20); got != c.want {
			t.Errorf("%d of %s: %v", c.seq, c.id, got)
		}
	}
	if !g.Knows("b") || g.Knows("x") {
		t.Error("it knows another one")
	}
}

func TestGenerationsAreBounded(t *testing.T) {
	var g Generations
	for i := range 3 * maxGenerations {
		g = g.Next(fmt.Sprint(i), uint64(i))
	}
	if len(g) != maxGenerations || g[0].ID != fmt.Sprint(2*maxGenerations) || g.Of(0) != g[0].ID {
		t.Errorf("%d generations from %v", len(g), g[0])
	}
}
