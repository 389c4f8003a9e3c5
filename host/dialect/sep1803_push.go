package dialect

import (
	"context"
	"encoding/json"
	"fmt"

	"eventdeck/host/wire"
)

// Stream subscribes to one address.
func (r *resources) Stream(ctx context.Context, q wire.StreamRequest, sink func(wire.Note)) (Stream, error) {
	where, err := expand(q.Name.Raw(), q.Arguments)
	if err != nil {
		return nil, err
	}
	return r.addresses.open(ctx, where, newNoteStream(ctx, r.addresses.pulse, sink))
}

// Preview implements [Previewer].
func (r *resources) Preview(request any) (string, json.RawMessage, error) {
	var (
		where, method string
		params        any
		err           error
	)
	switch q := request.(type) {
	case wire.StreamRequest:
		where, err = expand(q.Name.Raw(), q.Arguments)
		method, params = r.addresses.subscribeRequest(where)
	case wire.SubscribeRequest:
		where, err = expand(q.Name.Raw(), q.Arguments)
		method, params = methodRegister, callback(where, q.URL)
	default:
		err = fmt.Errorf("%w of a %T in %s", ErrNoPreview, request, SEP1803)
	}
	if err != nil {
		return "", nil, err
	}
	raw, err := json.Marshal(params)
	return method, raw, err
}
