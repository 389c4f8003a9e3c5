package dialect

import (
	"encoding/json"
	"errors"
	"fmt"

	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// ErrNoPreview: the dialect cannot tell what it would send.
var ErrNoPreview = errors.New("no preview")

// Preview returns what MCP Events sends for a request of package wire.
//
// Error: [ErrNoPreview] for another value.
func Preview(request any) (method string, params json.RawMessage, err error) {
	m, ok := request.(json.Marshaler)
	switch request.(type) {
	case wire.PollRequest:
		method = wire.MethodPoll
	case wire.StreamRequest:
		method = wire.MethodStream
	case wire.SubscribeRequest:
		method = wire.MethodSubscribe
	default:
		ok = false
	}
	if !ok {
		return "", nil, fmt.Errorf("%w of a %T", ErrNoPreview, request)
	}
	params, err = m.MarshalJSON()
	return method, params, err
}

// Preview implements [Previewer].
func (e events) Preview(request any) (method string, params json.RawMessage, err error) {
	return Preview(request)
}

// Preview asks the dialect that owns the type. Error: [ErrNoPreview].
func (m *merged) Preview(request any) (method string, params json.RawMessage, err error) {
	d := m.owner(nameIn(request))
	p, ok := d.(Previewer)
	if !ok {
		return "", nil, fmt.Errorf("%w: %s does not tell beforehand what it sends", ErrNoPreview, d.Name())
	}
	return p.Preview(request)
}

func nameIn(request any) trust.Text {
	switch r := request.(type) {
	case wire.PollRequest:
		return r.Name
	case wire.StreamRequest:
		return r.Name
	case wire.SubscribeRequest:
		return r.Name
	}
	return trust.Text{}
}
