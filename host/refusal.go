package host

import (
	"errors"

	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Refusal is what a server's answer says of a request that it refused, in the server's words.
// Members that it left out are empty.
type Refusal struct {
	Name    RefusalName
	Message trust.Text
	Field   trust.Text // the argument that is meant
	Reason  trust.Text // why a callback address failed: connection_refused, timeout, …
	Limit   trust.Text // what is exhausted
	Feature trust.Text // what is not supported
}

// RefusalName is what a refusal means, whatever code the server gave it.
type RefusalName string

// The refusals that a frontend tells apart.
const (
	RefusedParams   = RefusalName(wire.InvalidParams)
	RefusedMode     = RefusalName(wire.Unsupported)
	RefusedRights   = RefusalName(wire.Forbidden)
	RefusedLimit    = RefusalName(wire.ResourceExhausted)
	RefusedCallback = RefusalName(wire.CallbackEndpointError)
	RefusedUnknown  = RefusalName(wire.NotFound)
)

// RefusalOf returns what a server said in err's chain. It reports false for an
// error that no server answered with.
func RefusalOf(err error) (Refusal, bool) {
	name := wire.NameFrom(err)
	if name == "" {
		return Refusal{}, false
	}
	r := Refusal{Name: RefusalName(name)}
	var e *wire.Error
	if errors.As(err, &e) {
		r.Message = e.Message
		r.Field, r.Reason, r.Limit, r.Feature = e.Detail("field"), e.Detail("reason"), e.Detail("limit"), e.Detail("feature")
	}
	return r, true
}
