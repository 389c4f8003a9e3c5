package dialect

import (
	"fmt"

	"eventdeck/host/trust"
)

// Bounds of the reasons for skipped types.
const (
	maxSkippedWhy   = 10
	maxSkippedWidth = 300 // cells of one reason
)

// SkippedTypes reports the descriptors of a list that are not among its types: malformed
// ones, and those whose name another dialect owns.
type SkippedTypes struct {
	Count int
	Why   []string // of the first few, safe to print
}

// tell keeps the reason for a skipped type. It does not count the type.
func (s *SkippedTypes) tell(format string, args ...any) {
	if len(s.Why) < maxSkippedWhy {
		s.Why = append(s.Why, trust.Line(trust.Untrusted(fmt.Sprintf(format, args...))).Clip(maxSkippedWidth).Plain())
	}
}

// join adds the skipped types of another list.
func (s *SkippedTypes) join(o SkippedTypes) {
	s.Count += o.Count
	s.Why = append(s.Why, o.Why[:min(len(o.Why), maxSkippedWhy-len(s.Why))]...)
}
