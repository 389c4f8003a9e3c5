// Package wire holds the messages of MCP Events, and of the JSON-RPC below it,
// as Go types. It decodes liberally, as deployed servers need it, and encodes
// strictly, as the proposals say.
//
// The package is a leaf: no I/O.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"eventdeck/host/trust"
)

// ErrMalformed is the root of every failure to decode a message.
var ErrMalformed = errors.New("malformed message")

// ID is a JSON-RPC id in comparable form: the text of a string, the digits of a number. The
// id "18" and the id 18 are the same ID.
type ID string

// Message is one JSON-RPC message whose payload is not decoded yet. Absent members are nil.
type Message struct {
	ID     ID   // empty if absent or null
	HasID  bool // it has an id other than null
	RawID  json.RawMessage
	Method string // a protocol constant; compare only, never print
	Params json.RawMessage
	Result json.RawMessage
	Error  *Error
}

// IsResponse reports whether the message answers a request.
func (m Message) IsResponse() bool { return m.Method == "" && (m.Result != nil || m.Error != nil) }

// IsNotification reports whether the message is a notification, which has no response.
func (m Message) IsNotification() bool { return m.Method != "" && !m.HasID }

type rawMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// DecodeMessages reads one frame: a message, or a batch of them (2025-03-26). The byte
// slices of the messages are copies. A malformed element of a batch is skipped alone.
//
// Error: [ErrMalformed], also together with well-formed messages of a batch.
func DecodeMessages(frame []byte) ([]Message, error) {
	frame = bytes.TrimSpace(bytes.TrimPrefix(frame, []byte("\xef\xbb\xbf")))
	if len(frame) > 0 && frame[0] == '[' {
		var batch []json.RawMessage
		if err := json.Unmarshal(frame, &batch); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		out := make([]Message, 0, len(batch))
		var bad error
		for _, raw := range batch {
			m, err := decodeMessage(raw)
			if err != nil {
				bad = err
				continue
			}
			out = append(out, m)
		}
		return out, bad
	}
	m, err := decodeMessage(frame)
	if err != nil {
		return nil, err
	}
	return []Message{m}, nil
}

func decodeMessage(raw []byte) (Message, error) {
	r, ok := readEnvelope(raw)
	if ok {
		r.ID, r.Params = bytes.Clone(r.ID), bytes.Clone(r.Params)
		r.Result, r.Error = bytes.Clone(r.Result), bytes.Clone(r.Error)
	} else {
		var unusual rawMessage
		if err := json.Unmarshal(raw, &unusual); err != nil {
			return Message{}, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		r = unusual
	}
	m := Message{Method: r.Method, Params: r.Params, RawID: r.ID}
	if len(r.ID) > 0 && string(r.ID) != "null" {
		m.ID, m.HasID = CanonicalID(r.ID), true
	}
	if len(r.Error) > 0 && string(r.Error) != "null" {
		e := decodeError(r.Error)
		m.Error = &e
	} else if len(r.Result) > 0 {
		m.Result = r.Result
	}
	if m.Method == "" && m.Result == nil && m.Error == nil {
		return Message{}, fmt.Errorf("%w: neither method nor result nor error", ErrMalformed)
	}
	return m, nil
}

// CanonicalID returns the comparable form of the JSON text of an id.
func CanonicalID(raw json.RawMessage) ID {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return ID(s)
	}
	return ID(strings.TrimSpace(string(raw)))
}

// EncodeRequest returns the frame of a request. The id must be the digits of a number,
// which every server accepts; params must be the JSON text of an object.
func EncodeRequest(id ID, method string, params json.RawMessage) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}

// EncodeNotification returns the frame of a notification.
func EncodeNotification(method string, params any) ([]byte, error) {
	return Marshal(struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", method, params})
}

// EncodeResult returns the frame of the response to the request with the raw id.
func EncodeResult(id json.RawMessage, result any) ([]byte, error) {
	return Marshal(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{"2.0", orNull(id), result})
}

// EncodeError returns the frame of the error response to the request with the raw id.
func EncodeError(id json.RawMessage, code int, message string, data any) ([]byte, error) {
	type body struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}
	return Marshal(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   body            `json:"error"`
	}{"2.0", orNull(id), body{code, message, data}})
}

func orNull(id json.RawMessage) json.RawMessage {
	if len(id) == 0 {
		return json.RawMessage("null")
	}
	return id
}

// Marshal is [json.Marshal] without HTML escapes.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func decodeError(raw json.RawMessage) Error {
	m, err := decodeMembers("the error", raw)
	if err != nil {
		// An error that is a text: keep the text, the code is unknown.
		var words trust.Text
		if json.Unmarshal(raw, &words) != nil {
			words = trust.Untrusted(string(raw))
		}
		return Error{Message: words}
	}
	e := Error{Message: m.text("message")}
	if code, err := strconv.ParseFloat(strings.Trim(string(m["code"]), `" `), 64); err == nil && math.Abs(code) < 1<<31 {
		e.Code = int(code)
	}
	if data := m["data"]; string(data) != "null" {
		e.Data = data
	}
	return e
}
