package trust_test

import (
	"strings"
	"testing"

	"eventdeck/host/trust"
)

func TestOutlineFolds(t *testing.T) {
	raw := []byte(`{"a":{"b":[1,2],"long":"` + strings.Repeat("} ] ", 30) + `"},"e":{},"c":[{"d":1}]}`)
	lines, folds := trust.Outline(raw, nil, 24)
	if len(folds) != 5 {
		t.Fatalf("%d folds: %v", len(folds), folds)
	}
	for _, f := range folds {
		first := strings.TrimSpace(lines[f.First].Plain())
		last := strings.TrimSpace(lines[f.Last].Plain())
		if !strings.ContainsAny(first[len(first)-1:], "{[") || !strings.ContainsAny(last[:1], "}]") || last[0] != first[len(first)-1]+2 {
			t.Errorf("fold from %q to %q", first, last)
		}
	}
	if outer := folds[len(folds)-1]; outer.First != 0 || outer.Last != len(lines)-1 {
		t.Errorf("the outermost fold is %v of %d lines", outer, len(lines))
	}
	if _, folds := trust.Outline([]byte(strings.Repeat("[", 200)+strings.Repeat("]", 200)), nil, 80); len(folds) > 64 {
		t.Errorf("%d folds in a deep payload", len(folds))
	}
	if _, folds := trust.Outline([]byte("{no json"), nil, 80); folds != nil {
		t.Error("text that is not JSON has folds")
	}
}
