package dialect

import (
	"fmt"

	"eventdeck/host/trust"
)

// Bounds of what is told of skipped types.
const (
	maxSkippedWhy   = 10
	maxSkippedWidth = 300 // cells of one reason
)

// SkippedTypes tells of the descriptors of a list that are not among its types: they make
// no sense, or have a name that is another dialect's.
type SkippedTypes struct {
	Count int
	Why   []string // of the first few, safe to print
}

// tell keeps why one was skipped. It does not count it.
func (s *SkippedTypes) tell(format string, args ...any) {
	if len(s.Why) < maxSkippedWhy {
		s.Why = append(s.Why, trust.Line(trust.Untrusted(fmt.Sprintf(format, args...))).Clip(maxSkippedWidth).Plain())
	}
}

// join takes what another list skips.
func (s *SkippedTypes) join(o SkippedTypes) {
	s.Count += o.Count
	s.Why = append(s.Why, o.Why[:min(len(o.Why), maxSkippedWhy-len(s.Why))]...)
}
