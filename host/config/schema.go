package config

import "embed"

//go:embed schemas
var schemas embed.FS

// SchemaNames are the files that [Schema] describes.
var SchemaNames = []string{"servers", "settings", "theme"}

// Schema returns the JSON Schema (2020-12) of a file that operators write, for their editors; nil
// for a name that is not among [SchemaNames].
func Schema(name string) []byte {
	text, err := schemas.ReadFile("schemas/" + name + ".json")
	if err != nil {
		return nil
	}
	return text
}
