package dialect

import (
	"fmt"

	"eventdeck/host/trust"
)

// Bounds of what is told of hidden types.
const (
	maxHiddenWhy   = 10
	maxHiddenWidth = 300 // cells of one reason
)

// Hidden tells of the descriptors of a list that are not among its types: they make
// no sense, or have a name that is another dialect's.
type Hidden struct {
	Count int
	Why   []string // of the first few, safe to print
}

// tell keeps why one was hidden. It does not count it.
func (h *Hidden) tell(format string, args ...any) {
	if len(h.Why) < maxHiddenWhy {
		h.Why = append(h.Why, trust.Line(trust.Untrusted(fmt.Sprintf(format, args...))).Clip(maxHiddenWidth).Plain())
	}
}

// join takes what another list hides.
func (h *Hidden) join(o Hidden) {
	h.Count += o.Count
	h.Why = append(h.Why, o.Why[:min(len(o.Why), maxHiddenWhy-len(h.Why))]...)
}
