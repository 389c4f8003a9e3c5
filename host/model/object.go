package model

import (
	"encoding/json"
	"fmt"
	"strconv"

	"eventdeck/host/trust/strict"
)

// object is a JSON object of a provider, by the exact names of its members. Members that are null
// count as absent.
type object map[string]json.RawMessage

// read parses an object strictly: no duplicate names at any level, no trailing data.
//
// Error: [ErrAnswer].
func read(raw []byte) (object, error) {
	members, err := strict.ParseObject(raw, limits)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	o := make(object, len(members))
	for _, m := range members {
		if string(m.Value) != "null" {
			o[m.Key.Raw()] = m.Value
		}
	}
	return o, nil
}

// tokens returns a member that is a number of tokens: 0 if it is absent, -1 if it is invalid.
func (o object) tokens(name string) int64 {
	value, ok := o[name]
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// reading reads members of objects. It keeps the first error, an [ErrAnswer]; after that it
// returns zero values.
type reading struct{ err error }

// text returns a member that is a string, "" if it is absent.
func (r *reading) text(o object, name string) string {
	value, ok := o[name]
	if !ok || r.err != nil {
		return ""
	}
	text, ok := strict.Member{Value: value}.Text()
	if !ok {
		r.err = fmt.Errorf("%w: its member %q is no text", ErrAnswer, name)
	}
	return text.Raw()
}

// object returns a member that is an object, an empty one if it is absent.
func (r *reading) object(o object, name string) (member object) {
	if value, ok := o[name]; ok && r.err == nil {
		member, r.err = read(value)
	}
	return member
}

// list returns a member that is a list, an empty one if it is absent.
func (r *reading) list(o object, name string) (all []json.RawMessage) {
	value, ok := o[name]
	if !ok || r.err != nil {
		return nil
	}
	if err := json.Unmarshal(value, &all); err != nil {
		r.err = fmt.Errorf("%w: its member %q is no list", ErrAnswer, name)
	}
	return all
}

// index returns a member that is a small number; ok is false if it is absent.
func (r *reading) index(o object, name string) (n int, ok bool) {
	value, ok := o[name]
	if !ok || r.err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(string(value))
	if err != nil || n < 0 {
		r.err = fmt.Errorf("%w: its member %q is no index", ErrAnswer, name)
		return 0, false
	}
	return n, true
}
