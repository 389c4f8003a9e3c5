package toolset

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"eventdeck/host/react"
)

// Named returns the tool with the [Name] that a model or an agent called; ok is false if there is
// none.
func Named(tools []react.Pinned, name string) (tool react.Pinned, ok bool) {
	for _, t := range tools {
		if Name(t.Server, t.Name) == name {
			return t, true
		}
	}
	return react.Pinned{}, false
}

// maxName is the longest name that all providers accept, in bytes.
const maxName = 64

// Name returns the name by which a model or an agent calls a tool of a server:
// [A-Za-z][A-Za-z0-9_-]{0,63}, which all providers accept. It is SERVER__TOOL if that is such a
// name and unambiguous; otherwise it ends with a hash of both.
func Name(server, tool string) string {
	name := server + "__" + tool
	plain := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (r == '_' || r == '-' || isLetter(byte(r)) || '0' <= r && r <= '9') {
			return r
		}
		return '_'
	}, name)
	if !isLetter(plain[0]) {
		plain = "t" + plain
	}
	if plain == name && len(name) <= maxName && strings.Count(name, "__") == 1 && !strings.Contains(name, "___") {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	return plain[:min(len(plain), maxName-9)] + "_" + hex.EncodeToString(sum[:4])
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
