package dialect

import (
	"encoding/json"
	"errors"
	"fmt"

	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// ErrNoPreview: the dialect has no preview of the request.
var ErrNoPreview = errors.New("no preview")

// Preview returns the request that MCP Events sends for a request of package wire.
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
func (e *events) Preview(request any) (method string, params json.RawMessage, err error) {
	method, params, err = Preview(request)
	if err != nil {
		return "", nil, err
	}
	params, err = e.spelled(params, argumentsIn(request)).MarshalJSON()
	return method, params, err
}

// Preview asks the dialect that owns the type. Error: [ErrNoPreview].
func (m *merged) Preview(request any) (method string, params json.RawMessage, err error) {
	d := m.owner(nameIn(request))
	p, ok := d.(Previewer)
	if !ok {
		return "", nil, fmt.Errorf("%w: %s cannot show its requests", ErrNoPreview, d.Name())
	}
	return p.Preview(request)
}

func argumentsIn(request any) json.RawMessage {
	switch r := request.(type) {
	case wire.PollRequest:
		return r.Arguments
	case wire.StreamRequest:
		return r.Arguments
	case wire.SubscribeRequest:
		return r.Arguments
	}
	return nil
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
