// Package eventserver has the parts that servers of MCP Events share: refusals, a client over
// stdio, requests and streams over HTTP, and webhook subscriptions and deliveries by the rules of
// SEP-3415. The demo servers use it, and so does the host as an MCP server.
package eventserver

import (
	"bytes"
	"encoding/json"

	"eventdeck/host/wire"
)

// Refusal is the error that answers a request.
type Refusal struct {
	Name    wire.Name
	Message string
	Data    map[string]any // nil: none
}

// Refuse returns a refusal.
func Refuse(name wire.Name, message string, data map[string]any) *Refusal {
	return &Refusal{Name: name, Message: message, Data: data}
}

// Code returns the error code in a profile.
func (f *Refusal) Code(p wire.Profile) int {
	common := map[wire.Name]int{
		wire.InvalidParams: wire.CodeInvalidParams, wire.MethodNotFound: wire.CodeMethodNotFound,
		wire.InvalidRequest: wire.CodeInvalidRequest, wire.UnsupportedVersion: wire.CodeUnsupportedVersion,
	}
	if code, ok := common[f.Name]; ok {
		return code
	}
	return p.Code(f.Name)
}

// Body returns the error object.
func (f *Refusal) Body(p wire.Profile) map[string]any {
	b := map[string]any{"code": f.Code(p), "message": f.Message}
	if f.Data != nil {
		b["data"] = f.Data
	}
	return b
}

// Frame returns the response to the request with the raw id.
func (f *Refusal) Frame(id json.RawMessage, p wire.Profile) ([]byte, error) {
	var data any
	if f.Data != nil {
		data = f.Data
	}
	return wire.EncodeError(id, f.Code(p), f.Message, data)
}

// BadParam refuses a parameter by its name.
func BadParam(field, message string) *Refusal {
	return Refuse(wire.InvalidParams, message, map[string]any{"field": field})
}

// BadMode refuses a delivery mode, and names the supported ones.
func BadMode(what, mode string, others []string) *Refusal {
	return Refuse(wire.Unsupported, what+" is not delivered by "+mode,
		map[string]any{"feature": "deliveryMode", "value": mode, "supported": others})
}

// TooMany refuses a request that exceeds a limit.
func TooMany(what, limit string, most int) *Refusal {
	return Refuse(wire.ResourceExhausted, "too many "+what, map[string]any{"limit": limit, "max": most})
}

// NoMethod refuses a method that the server does not have.
func NoMethod(method string) *Refusal {
	return Refuse(wire.MethodNotFound, "no such method", map[string]any{"method": method})
}

// Gone refuses an event type that does not exist any more, or ends its subscriptions.
func Gone(name string) *Refusal {
	return Refuse(wire.NotFound, "the event type is gone", map[string]any{"kind": "event", "name": name})
}

// Decode reads params into v; absent params are an empty object.
func Decode(params json.RawMessage, v any) *Refusal {
	if len(bytes.TrimSpace(params)) == 0 {
		return nil
	}
	if err := json.Unmarshal(params, v); err != nil {
		return BadParam("params", "params: "+err.Error())
	}
	return nil
}

// ReadCursor reads the cursor of a request. given is false if it is absent or null: then the client
// wants the events from now on.
func ReadCursor(raw json.RawMessage) (cursor string, given bool, f *Refusal) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", false, nil
	}
	if json.Unmarshal(raw, &cursor) != nil {
		return "", false, BadParam("cursor", "cursor must be a string or null")
	}
	return cursor, true, nil
}
