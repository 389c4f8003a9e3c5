package config

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/BurntSushi/toml"
)

// Bounds of the TOML file of another client: the memory of the parser grows with the square of the
// depth.
const (
	maxTOML      = 1 << 20 // bytes
	maxTOMLDepth = 32      // parts of a key, and brackets in each other
)

// fromTOML returns the servers of a TOML file as JSON.
func fromTOML(raw []byte) ([]byte, error) {
	if line := tooDeep(raw); line > 0 {
		return nil, fmt.Errorf("line %d: it nests deeper than %d levels; correct it there", line, maxTOMLDepth)
	}
	var all struct {
		Servers map[string]any `toml:"mcp_servers"`
	}
	if err := toml.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"mcp_servers": all.Servers})
}

// tooDeep returns the line where a TOML file nests too deep, 0 for none. The file need not be
// valid: the parser checks that afterwards.
func tooDeep(raw []byte) (line int) {
	line = 1
	dots, brackets := 0, 0
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '#':
			if end := bytes.IndexByte(raw[i:], '\n'); end >= 0 {
				i += end - 1 // the loop reads the end of the line
			} else {
				return 0
			}
		case '"', '\'':
			size := tomlString(raw[i:], c)
			line += bytes.Count(raw[i:i+size], []byte("\n"))
			i += size - 1
		case '\n':
			line++
			dots = 0
		case '=', ',':
			dots = 0
		case '.':
			dots++
		case '[', '{':
			brackets++
		case ']', '}':
			brackets--
		}
		if dots >= maxTOMLDepth || brackets > maxTOMLDepth {
			return line
		}
	}
	return 0
}

// tomlString returns the length of the string at the beginning of raw, up to the end of the line or
// of the file if it is not closed.
func tomlString(raw []byte, quote byte) int {
	open := []byte{quote, quote, quote}
	long := bytes.HasPrefix(raw, open)
	if !long {
		open = open[:1]
	}
	for i := len(open); i < len(raw); i++ {
		switch {
		case raw[i] == '\\' && quote == '"':
			i++
		case raw[i] == '\n' && !long:
			return i
		case bytes.HasPrefix(raw[i:], open):
			return i + len(open)
		}
	}
	return len(raw)
}
