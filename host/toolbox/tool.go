package toolbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
)

// listed is a tool of a list, or why it is left out.
type listed struct {
	def     react.ToolDef
	mirrors []mirror
	err     error
}

// readTool parses one tool.
func (b *Box) readTool(raw json.RawMessage) (t listed) {
	members, err := strict.ParseObject(raw, strict.Limits{Depth: maxDepth})
	if err != nil {
		t.err = err
		return t
	}
	by := map[string]json.RawMessage{}
	for _, m := range members {
		by[m.Key.Raw()] = m.Value
		text, ok := m.Text()
		switch m.Key.Raw() {
		case "name":
			if t.def.Name = text.Raw(); !ok || !goodName(t.def.Name) {
				t.err = errors.New("its name is invalid or too long")
			}
		case "description":
			if t.def.Description = text; !ok || text.Len() > maxDescription {
				t.err = errors.New("its description is invalid or too long")
			}
		}
	}
	if t.err != nil {
		return t
	}
	t.def.Schema = by["inputSchema"]
	switch {
	case t.def.Name == "":
		t.err = errors.New("it has no name")
	case len(t.def.Schema) == 0 || t.def.Schema[0] != '{':
		t.err = errors.New("its inputSchema is no object")
	case len(t.def.Schema) > maxSchema:
		t.err = fmt.Errorf("its inputSchema has more than %d bytes", maxSchema)
	}
	if t.err != nil {
		return t
	}
	t.mirrors, t.err = mirrorsOf(t.def.Schema)
	t.def.MayWrite = mayWrite(by["annotations"])
	t.def.Pin = pin(b.o.Address, by["name"], by["description"], by["inputSchema"], by["annotations"])
	return t
}

// goodName reports whether a name can stand in a rule and in a header: printable ASCII
// without blanks.
func goodName(name string) bool {
	for _, c := range []byte(name) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return len(name) <= maxName
}

// mayWrite reports whether the hints of a tool say that it changes something. Without hints it
// returns false: the operator classifies the tool.
func mayWrite(annotations json.RawMessage) bool {
	var hints struct {
		ReadOnly    *bool `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
	}
	if len(annotations) == 0 {
		return false
	}
	if json.Unmarshal(annotations, &hints) != nil {
		return true // invalid hints
	}
	return hints.ReadOnly != nil && !*hints.ReadOnly || hints.Destructive != nil && *hints.Destructive
}

// pin returns the SHA-256 of the address of the server and the members of a tool as received,
// each with its length before it.
func pin(address []string, members ...json.RawMessage) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d\n", len(address))
	for _, a := range address {
		fmt.Fprintf(h, "%d:%s\n", len(a), a)
	}
	for _, m := range members {
		fmt.Fprintf(h, "%d:%s\n", len(m), m)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// clip cuts a text to at most most bytes, at a character boundary, and returns how many bytes are
// missing.
func clip(text string, most int) (trust.Text, int) {
	if len(text) <= most {
		return trust.Untrusted(text), 0
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return trust.Untrusted(text[:end]), len(text) - end
}
