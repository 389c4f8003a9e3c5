package react

import (
	"math"
	"math/bits"
)

// Cost returns what tokens cost, in micro-dollars, rounded up; it ends at the largest
// number. A price that is not known (nil), and usage that is negative, are 0.
func (p *Price) Cost(u Usage) int64 {
	if p == nil {
		return 0
	}
	return Sum(each(p.In, u.In), each(p.Out, u.Out))
}

// each returns price times tokens over a million, rounded up.
func each(price, tokens int64) int64 {
	if price <= 0 || tokens <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(price), uint64(tokens))
	const million = 1_000_000
	if hi >= million {
		return math.MaxInt64
	}
	cost, rest := bits.Div64(hi, lo, million)
	if cost >= math.MaxInt64 {
		return math.MaxInt64
	}
	if rest > 0 {
		cost++
	}
	return int64(cost)
}

// WorstCost returns what one run of the rule costs at most, in micro-dollars: as many calls
// as it may make, of as many tokens as it may use, up to what it may spend. What an agent
// costs is not known here: 0.
func (r *Rule) WorstCost() int64 {
	var m Model
	calls := int64(1)
	switch {
	case r.Do.Task != nil:
		if m = r.Do.Task.Model; len(r.Do.Task.Tools) > 0 {
			calls = MaxSteps
		}
	case r.Do.Choice != nil:
		m = r.Do.Choice.Model
	default:
		return 0
	}
	// Of all tokens the dearer ones first: no more can be written than the answers hold.
	out := min(calls*int64(m.Output), int64(r.Limits.Tokens))
	if m.Price != nil && m.Price.Out < m.Price.In {
		out = 0
	}
	worst := m.Price.Cost(Usage{In: int64(r.Limits.Tokens) - out, Out: out})
	if r.Limits.Spend > 0 {
		worst = min(worst, r.Limits.Spend)
	}
	return worst
}
