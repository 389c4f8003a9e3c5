package model

import (
	"golang.org/x/text/unicode/norm"

	"eventdeck/host/react"
)

// ownTokens is how many input tokens a provider may add to a call: its own text about tools, and
// the marks around messages.
const ownTokens = 2_000

// Bound returns upper bounds of the usage of a call with this body and of its cost, in
// micro-dollars; the cost is 0 for a model without a price. A token stands for at least one byte
// of the tokenizer's input, which is the text or its compatibility form (NFKC). The body holds
// all of that text, and the limit of output tokens.
func (c *Client) Bound(body []byte) (react.Usage, int64) {
	read := max(len(body), len(norm.NFKC.Bytes(body)))
	u := react.Usage{In: int64(read) + ownTokens, Out: int64(c.model.Output), Estimated: true}
	return u, c.model.Price.Cost(u)
}

// believable reports whether the reported usage is possible, given the bound of the call. Some
// providers let a model think beyond the limit of output.
func believable(u, bound react.Usage) bool {
	return u.In >= 0 && u.Out >= 0 && u.In <= bound.In+10_000 && u.Out <= 4*bound.Out+1_000
}
