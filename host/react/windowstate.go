package react

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// watchState is a [Watch] as it is stored.
type watchState struct {
	Last   time.Time    `json:"last"`
	Over   uint64       `json:"over,omitempty"`
	Groups []groupState `json:"groups,omitempty"`
}

// groupState is a stored group. A mark is its sequence number, its number of members, and the
// times of its first and last member in nanoseconds before watchState.Last.
type groupState struct {
	Key   Key        `json:"key,omitempty"`
	Fired bool       `json:"fired,omitempty"`
	Marks [][4]int64 `json:"marks,omitempty"`
}

// errWindow: the stored state of a window is invalid.
var errWindow = errors.New("state of a window")

// MarshalJSON encodes the state.
func (w *Watch) MarshalJSON() ([]byte, error) {
	s := watchState{Last: w.last.UTC(), Over: w.over}
	for key, g := range w.groups {
		state := groupState{Key: key, Fired: g.fired}
		for _, m := range g.marks {
			state.Marks = append(state.Marks, [4]int64{int64(m.seq), int64(m.n), int64(w.last.Sub(m.first)), int64(w.last.Sub(m.last))})
		}
		s.Groups = append(s.Groups, state)
	}
	slices.SortFunc(s.Groups, func(a, b groupState) int { return strings.Compare(string(a.Key), string(b.Key)) })
	return json.Marshal(s)
}

// UnmarshalJSON restores a stored state into a new watch ([NewWatch]) of the same rule. An
// absence counts from the next time that the subscription is alive.
func (w *Watch) UnmarshalJSON(raw []byte) error {
	var s watchState
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("%w: %w", errWindow, err)
	}
	if len(s.Groups) > WindowKeys {
		return fmt.Errorf("%w: %d groups", errWindow, len(s.Groups))
	}
	groups := make(map[Key]*watched, len(s.Groups))
	for _, state := range s.Groups {
		g := &watched{fired: state.Fired, since: s.Last}
		for _, m := range state.Marks {
			if m[0] < 0 || m[1] < 1 || m[3] < 0 || m[2] < m[3] || len(g.marks) > exactCount {
				return fmt.Errorf("%w: mark %v", errWindow, m)
			}
			g.marks = append(g.marks, mark{seq: uint64(m[0]), n: int(m[1]), first: s.Last.Add(-time.Duration(m[2])), last: s.Last.Add(-time.Duration(m[3]))})
			g.count += int(m[1])
		}
		groups[state.Key] = g
	}
	w.last, w.over, w.alive, w.sweep = s.Last, s.Over, false, time.Time{}
	for key, g := range groups {
		w.groups[key] = g
	}
	return nil
}
