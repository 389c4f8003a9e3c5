package event

import "math"

// Generation is a stretch of the log of a store. The sequence numbers of two generations never
// name the same records by accident: a store that was restored from a copy counts on in a new one.
type Generation struct {
	ID   string // 128 random bits, as 32 hexadecimal digits
	Last uint64 // its last sequence number; math.MaxUint64 for the newest, which continues
}

// Generations are those of a store, oldest first; there is at least one.
type Generations []Generation

// maxGenerations is how many generations a store remembers. Positions of older ones are unknown.
const maxGenerations = 100

// Of returns the id of the generation that a sequence number belongs to.
func (g Generations) Of(seq uint64) string {
	for _, in := range g {
		if seq <= in.Last {
			return in.ID
		}
	}
	return ""
}

// Knows reports whether there is a generation of the id.
func (g Generations) Knows(id string) bool { return g.Has(id, 0, 0) }

// Has reports whether a position means here what it meant where it was given: up to its sequence
// number the log is the same. last is the newest number of the store.
func (g Generations) Has(id string, seq, last uint64) bool {
	for _, in := range g {
		if in.ID == id {
			return seq <= min(in.Last, last)
		}
	}
	return false
}

// Next returns the generations of a store whose newest number is last, and in which the generation
// of the id begins.
func (g Generations) Next(id string, last uint64) Generations {
	next := append(Generations{}, g[max(0, len(g)-maxGenerations+1):]...)
	if len(next) > 0 {
		next[len(next)-1].Last = last
	}
	return append(next, Generation{id, math.MaxUint64})
}
