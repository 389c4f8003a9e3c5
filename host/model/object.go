package model

import (
	"encoding/json"
	"fmt"
	"strconv"

	"eventdeck/host/trust/strict"
)

// object is a JSON object of a provider, by the exact names of its members. What is null is
// not there.
type object map[string]json.RawMessage

// read reads an object strictly: no name twice at any level, nothing behind it.
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

// text returns a member that is a string, "" if there is none.
//
// Error: [ErrAnswer].
func (o object) text(name string) (string, error) {
	value, ok := o[name]
	if !ok {
		return "", nil
	}
	text, ok := strict.Member{Value: value}.Text()
	if !ok {
		return "", fmt.Errorf("%w: its member %q is no text", ErrAnswer, name)
	}
	return text.Raw(), nil
}

// object returns a member that is an object, an empty one if there is none.
//
// Error: [ErrAnswer].
func (o object) object(name string) (object, error) {
	value, ok := o[name]
	if !ok {
		return nil, nil
	}
	return read(value)
}

// list returns a member that is a list, an empty one if there is none.
//
// Error: [ErrAnswer].
func (o object) list(name string) ([]json.RawMessage, error) {
	value, ok := o[name]
	if !ok {
		return nil, nil
	}
	var all []json.RawMessage
	if err := json.Unmarshal(value, &all); err != nil {
		return nil, fmt.Errorf("%w: its member %q is no list", ErrAnswer, name)
	}
	return all, nil
}

// tokens returns a member that is a number of tokens: 0 if there is none, and -1 for what
// is no number of tokens.
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

// index returns a member that is a small number; ok is false if there is none.
//
// Error: [ErrAnswer].
func (o object) index(name string) (n int, ok bool, err error) {
	value, ok := o[name]
	if !ok {
		return 0, false, nil
	}
	n, err = strconv.Atoi(string(value))
	if err != nil || n < 0 {
		return 0, false, fmt.Errorf("%w: its member %q is no index", ErrAnswer, name)
	}
	return n, true, nil
}
