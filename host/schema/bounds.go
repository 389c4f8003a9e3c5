// Package schema reads the JSON Schemas with which servers describe arguments and
// payloads. It returns the fields of a form, the places where a value fails with the reason
// in plain words, the secret values, and a skeleton of arguments. Schemas are untrusted:
// their size, their depth and the work on them are bounded, and a schema that cannot be used
// checks nothing.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"

	"eventdeck/host/internal/jsontext"
)

// Bounds of a schema that is used. Reading one costs its size times its depth.
const (
	maxSchemaBytes = 256 << 10
	maxSchemaDepth = 64      // levels of JSON
	maxSchemaWork  = 2 << 20 // bytes times levels
)

// ErrSchema: a schema is not used. Its arguments are entered as JSON and only the server
// checks them.
var ErrSchema = errors.New("the schema is not used")

// Check checks the size and the depth of a schema.
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
