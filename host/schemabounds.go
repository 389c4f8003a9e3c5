package host

import (
	"encoding/json"
	"errors"
	"fmt"
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

// CheckSchema tells whether the host uses a schema, as far as its size and depth
// decide that.
//
// Error: [ErrSchema].
func CheckSchema(raw json.RawMessage) error {
	const instead = "arguments are given as JSON, and the server checks them"
	if len(raw) > maxSchemaBytes {
		return fmt.Errorf("%w: it has %d bytes, at most %d are read; %s", ErrSchema, len(raw), maxSchemaBytes, instead)
	}
	switch depth := depthOf(raw); {
	case depth > maxSchemaDepth:
		return fmt.Errorf("%w: it has %d levels, at most %d are read; %s", ErrSchema, depth, maxSchemaDepth, instead)
	case depth*len(raw) > maxSchemaWork:
		return fmt.Errorf("%w: it has %d bytes on %d levels, which takes too long to read; %s", ErrSchema, len(raw), depth, instead)
	}
	return nil
}

// depthOf counts the levels of a JSON text.
func depthOf(raw []byte) int {
	depth, most, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			most = max(most, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return most
}
