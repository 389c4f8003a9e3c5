package react

import (
	"unicode/utf8"

	"eventdeck/host/event"
	"eventdeck/host/filter"
)

// KeyBytes is the largest length of a [Key], in bytes: its content comes from a server.
const KeyBytes = 1024

// group returns the values of a record at paths as a key.
func group(paths []*filter.Path, r *event.Record) Key {
	if len(paths) == 0 {
		return ""
	}
	var text []byte
	for i, p := range paths {
		if i > 0 {
			text = append(text, ',')
		}
		if value, ok := p.JSON(r.Data); ok {
			text = append(text, value...)
		} else {
			text = append(text, NoValue...)
		}
	}
	// Keys are stored as JSON, which does not preserve bytes that are not UTF-8.
	if len(text) > KeyBytes || !utf8.Valid(text) {
		return Key("sha256:" + Digest(text))
	}
	return Key(text)
}
