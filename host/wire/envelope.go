package wire

import (
	"bytes"
	"encoding/json"

	"eventdeck/host/internal/jsontext"
)

// readEnvelope reads the members of a JSON-RPC message without encoding/json, which
// reads every byte of an event twice. It takes what servers write: a valid object
// whose member names are exact and stand once, nothing behind it. ok is false for
// everything else, also where encoding/json would find sense in it.
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
				return r, false // encoding/json may take it for one of the above
			}
		}
		if seen&bit != 0 {
			return r, false
		}
		seen |= bit
	}
	return r, s.Complete()
}

// ordinary reports whether a name is none of an envelope in other letters.
func ordinary(name []byte) bool {
	for _, known := range [...]string{"id", "params", "result", "error", "method"} {
		if bytes.EqualFold(name, []byte(known)) {
			return false
		}
	}
	return true
}

// methodName returns the name of a method. That which nearly every message has is
// not allocated again.
func methodName(name []byte) string {
	if string(name) == NoteEvent {
		return NoteEvent
	}
	return string(name)
}

// readMembers reads the members of an object as encoding/json reads them into a map,
// with values that are parts of raw. ok is false for what is unusual, as in
// readEnvelope.
func readMembers(raw []byte) (m members, ok bool) {
	m = members{}
	s := jsontext.SkimObject(raw)
	for s.Next() {
		m[string(s.Name)] = s.Value
	}
	return m, s.Complete()
}

// readList reads the values of an array; they are parts of raw. ok is as in
// readEnvelope.
func readList(raw []byte) (list []json.RawMessage, ok bool) {
	list = []json.RawMessage{}
	s := jsontext.SkimArray(raw)
	for s.Next() {
		list = append(list, s.Value)
	}
	return list, s.Complete()
}
