package sim

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Random is a source of random numbers for many goroutines.
type Random struct {
	mu   sync.Mutex
	rand *rand.Rand
}

// NewRandom returns the numbers of a seed. Each part of a world has its own stream, so that
// more draws in one part do not change the others.
func NewRandom(seed, stream uint64) *Random {
	return &Random{rand: rand.New(rand.NewPCG(seed, stream))}
}

// Chance is true with probability p.
func (r *Random) Chance(p float64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rand.Float64() < p
}

// N returns a number from 0 to n-1; n is at least 1.
func (r *Random) N(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rand.IntN(n)
}

// Between returns a duration from a to b.
func (r *Random) Between(a, b time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return a + time.Duration(r.rand.Int64N(int64(b-a)+1))
}
