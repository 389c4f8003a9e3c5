package rules

import _ "embed"

//go:embed schema.json
var schemaText []byte

// Schema returns the JSON Schema of the file. It must not be changed.
func Schema() []byte { return schemaText }
