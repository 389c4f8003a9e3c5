package eventserver

import (
	"encoding/json"
	"slices"

	"eventdeck/host/wire"
)

// Sink sends the frames of a stream, each between Open and Close. Write blocks while the peer does
// not read.
type Sink struct {
	Write       func([]byte) error
	Open, Close string
}

// appendFrame appends a message as a frame.
func (s Sink) appendFrame(frames, message []byte) []byte {
	return slices.Concat(frames, []byte(s.Open), message, []byte(s.Close))
}

// AppendNote appends a notification for the request with the raw id, which is in _meta and, for the
// design sketch, in requestId too. It changes params.
func (s Sink) AppendNote(frames []byte, method string, params map[string]any, id json.RawMessage, p wire.Profile) []byte {
	params["_meta"] = map[string]any{wire.MetaSubscription: id}
	if p == wire.ProfileSketch {
		params["requestId"] = id
	}
	message, err := wire.EncodeNotification(method, params)
	if err != nil {
		panic("eventserver: a notification of the server's own cannot be encoded: " + err.Error())
	}
	return s.appendFrame(frames, message)
}

// ReadListen reads the params of subscriptions/listen. listChanged reports whether the client wants
// notifications when the list of types changes; acknowledged is the first notification of the
// response, which names the granted ones: none if the params are refused.
func ReadListen(params json.RawMessage) (listChanged bool, acknowledged map[string]any, f *Refusal) {
	var p struct {
		Notifications map[string]json.RawMessage `json:"notifications"`
	}
	f = Decode(params, &p)
	honoured := map[string]any{}
	if json.Unmarshal(p.Notifications["eventsListChanged"], &listChanged) == nil && listChanged {
		honoured["eventsListChanged"] = true
	}
	return listChanged, map[string]any{"notifications": honoured}, f
}
