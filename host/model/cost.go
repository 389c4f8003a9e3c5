package model

import (
	"math"
	"math/bits"

	"eventdeck/host/react"
)

// bytesPerToken is how many bytes a token has at least, on the whole: text in any script
// and JSON have more.
const bytesPerToken = 3

// Bound returns what a call with this body uses at most, and what that costs in
// micro-dollars: 0 for a model without a price.
func (c *Client) Bound(body []byte) (react.Usage, int64) {
	u := react.Usage{In: int64(len(body)+bytesPerToken-1) / bytesPerToken, Out: int64(c.model.Output), Estimated: true}
	return u, Cost(c.model.Price, u)
}

// Cost returns what tokens cost, in micro-dollars, rounded up; it ends at the largest
// number. A price that is not known, and usage that is negative, are 0.
func Cost(p *react.Price, u react.Usage) int64 {
	if p == nil {
		return 0
	}
	return Add(each(p.In, u.In), each(p.Out, u.Out))
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

// Add sums micro-dollars or tokens, which are not negative; it ends at the largest number.
func Add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// believable reports whether a call with a body of so many bytes can have used as much as
// the provider says. A provider counts words of its own around what was sent, and some
// let a model think beyond the cap.
func (c *Client) believable(u react.Usage, body int) bool {
	return u.In >= 0 && u.Out >= 0 && u.In <= int64(body)+10_000 && u.Out <= 4*int64(c.model.Output)+1_000
}
