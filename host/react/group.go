package react

import (
	"unicode/utf8"

	"eventdeck/host/event"
	"eventdeck/host/filter"
)

// KeyBytes is how long a [Key] is at most, in bytes: a server decides what is in it.
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
	// As JSON, in which keys are stored, what is no UTF-8 would not come back as it was.
	if len(text) > KeyBytes || !utf8.Valid(text) {
		return Key("sha256:" + Digest(text))
	}
	return Key(text)
}
