// Package schema reads the JSON Schemas with which servers describe arguments and
// payloads: the fields of a form, where a value fails and why in plain words, what is
// secret, an object to begin with. A schema is the server's: its size, its depth and
// the work on it are bounded, and one that cannot be used checks nothing.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"

	"eventdeck/host/internal/jsontext"
)

// Bounds of a schema that is used. To read one costs its size times its depth, and a
// schema is the server's.
const (
	maxSchemaBytes = 256 << 10
	maxSchemaDepth = 64      // levels of JSON
	maxSchemaWork  = 2 << 20 // bytes times levels
)

// ErrSchema: a schema is not used: its type has a form of JSON, and nothing is
// checked against it here. The server still checks what it is sent.
var ErrSchema = errors.New("the schema is not used")

// Check reports whether the host uses a schema, as far as its size and depth
// decide that.
//
// Error: [ErrSchema].
func Check(raw json.RawMessage) error {
	const instead = "arguments are given as JSON, and the server checks them"
	if len(raw) > maxSchemaBytes {
		return fmt.Errorf("%w: it has %d bytes, at most %d are read; %s", ErrSchema, len(raw), maxSchemaBytes, instead)
	}
	switch depth := jsontext.Depth(raw); {
	case depth > maxSchemaDepth:
		return fmt.Errorf("%w: it has %d levels, at most %d are read; %s", ErrSchema, depth, maxSchemaDepth, instead)
	case depth*len(raw) > maxSchemaWork:
		return fmt.Errorf("%w: it has %d bytes on %d levels, which takes too long to read; %s", ErrSchema, len(raw), depth, instead)
	}
	return nil
}
