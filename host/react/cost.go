package react

import (
	"math"
	"math/bits"
)

// Cost returns the cost of tokens in micro-dollars, rounded up, and saturates at the largest
// number. An unknown price (nil) and negative usage count as 0.
func (p *Price) Cost(u Usage) int64 {
	if p == nil {
		return 0
	}
	return Sum(each(p.In, u.In), each(p.Out, u.Out))
}

// each returns price * tokens / 1,000,000, rounded up.
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

// WorstCost returns the upper bound of the cost of one run of the rule, in micro-dollars: the
// most calls with the most tokens, up to the spend limit. The cost of an agent is unknown: 0.
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
	// The more expensive kind of token first; output is limited by the length of answers.
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
