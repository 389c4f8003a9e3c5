package model

import "eventdeck/host/react"

// bytesPerToken is how many bytes a token has at least, on the whole: text in any script
// and JSON have more.
const bytesPerToken = 3

// Bound returns what a call with this body uses at most, and what that costs in
// micro-dollars: 0 for a model without a price.
func (c *Client) Bound(body []byte) (react.Usage, int64) {
	u := react.Usage{In: int64(len(body)+bytesPerToken-1) / bytesPerToken, Out: int64(c.model.Output), Estimated: true}
	return u, c.model.Price.Cost(u)
}

// believable reports whether a call with a body of so many bytes can have used as much as
// the provider says. A provider counts words of its own around what was sent, and some
// let a model think beyond the cap.
func (c *Client) believable(u react.Usage, body int) bool {
	return u.In >= 0 && u.Out >= 0 && u.In <= int64(body)+10_000 && u.Out <= 4*int64(c.model.Output)+1_000
}
