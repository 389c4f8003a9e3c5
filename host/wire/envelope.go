package wire

import (
	"bytes"
	"encoding/json"

	"eventdeck/host/internal/jsontext"
)

// readEnvelope reads the members of a JSON-RPC message without encoding/json, which reads
// every byte of an event twice. It accepts what servers usually send: a valid object with
// exact, unique member names and nothing after it. ok is false for everything else, even if
// encoding/json could decode it.
//
// The results are parts of raw.
func readEnvelope(raw []byte) (r rawMessage, ok bool) {
	seen := 0
	s := jsontext.SkimObject(raw)
	for s.Next() {
		bit := 0
		switch string(s.Name) {
		case "id":
			r.ID, bit = s.Value, 1
		case "params":
			r.Params, bit = s.Value, 2
		case "result":
			r.Result, bit = s.Value, 4
		case "error":
			r.Error, bit = s.Value, 8
		case "method":
			method, plain := jsontext.PlainString(s.Value)
			if !plain {
				return r, false
			}
			r.Method, bit = methodName(method), 16
		default:
			if !ordinary(s.Name) {
				return r, false // encoding/json may match it with one of the above
			}
		}
		if seen&bit != 0 {
			return r, false
		}
		seen |= bit
	}
	return r, s.Complete()
}

// ordinary reports whether a name differs from those of an envelope in more than case.
func ordinary(name []byte) bool {
	for _, known := range [...]string{"id", "params", "result", "error", "method"} {
		if bytes.EqualFold(name, []byte(known)) {
			return false
		}
	}
	return true
}

// methodName returns the name of a method. It does not allocate for the most common one.
func methodName(name []byte) string {
	if string(name) == NoteEvent {
		return NoteEvent
	}
	return string(name)
}

// readMembers reads the members of an object like encoding/json into a map. The values are
// parts of raw. ok is false as in readEnvelope.
func readMembers(raw []byte) (m members, ok bool) {
	m = members{}
	s := jsontext.SkimObject(raw)
	for s.Next() {
		m[string(s.Name)] = s.Value
	}
	return m, s.Complete()
}

// readList reads the elements of an array. They are parts of raw. ok is false as in
// readEnvelope.
func readList(raw []byte) (list []json.RawMessage, ok bool) {
	list = []json.RawMessage{}
	s := jsontext.SkimArray(raw)
	for s.Next() {
		list = append(list, s.Value)
	}
	return list, s.Complete()
}
