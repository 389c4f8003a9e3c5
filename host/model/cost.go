package model

import (
	"golang.org/x/text/unicode/norm"

	"eventdeck/host/react"
)

// ownTokens is how many tokens a provider may read with a call besides what it was sent: its
// own words about tools, and the marks around messages.
const ownTokens = 2_000

// Bound returns what a call with this body uses at most, and what that costs in
// micro-dollars: 0 for a model without a price. A token stands for at least one byte of what
// a tokenizer reads, which is the text or its compatibility form (NFKC). The body spells out
// all of it, and the provider is told how much it may write.
func (c *Client) Bound(body []byte) (react.Usage, int64) {
	read := max(len(body), len(norm.NFKC.Bytes(body)))
	u := react.Usage{In: int64(read) + ownTokens, Out: int64(c.model.Output), Estimated: true}
	return u, c.model.Price.Cost(u)
}

// believable reports whether a call of a bound can have used as much as the provider says.
// Some let a model think beyond the cap.
func believable(u, bound react.Usage) bool {
	return u.In >= 0 && u.Out >= 0 && u.In <= bound.In+10_000 && u.Out <= 4*bound.Out+1_000
}
