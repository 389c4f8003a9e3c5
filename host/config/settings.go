package config

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"eventdeck/host/internal/jsonfile"
)

// Settings are what the operator chose: keys of the screen, limits of the host, and
// members that other parts of the program read. The zero value is the settings of
// an operator who chose nothing.
type Settings struct {
	Path string       // as it was given, also where no file is; "" if none was given
	Keys []KeyBinding // in the order of the file

	text *parser
	top  []jsonfile.Member
}

// KeyBinding gives an action its keys. An empty list unbinds the action.
type KeyBinding struct {
	Action string
	Keys   []string // a sequence of two keys is separated by a space, such as "y i"
	Where  string   // file:line:column, for messages
}

// SettingsFile returns the default file of settings.
func (p Paths) SettingsFile() (string, error) {
	servers, err := p.ConfigFile()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(servers), "settings.json"), nil
}

// LoadSettings reads the settings at path. A missing file is not an error:
// settings are optional.
//
// Errors: [ErrFile].
func LoadSettings(path string) (*Settings, error) {
	raw, err := readOwn(path, false)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Settings{Path: path}, nil
	case err != nil:
		return nil, err
	}
	return ParseSettings(path, raw)
}

// ParseSettings reads the text of settings: an object whose member "keys" gives
// actions their keys. Other members are kept as they are: see [Settings.KeyPlace] and
// [Settings.Member].
//
// Errors: [ErrFile], with path, line and column.
func ParseSettings(path string, raw []byte) (*Settings, error) {
	p := newParser(path, raw)
	if err := p.Syntax("{}"); err != nil {
		return nil, err
	}
	top, err := p.Object(0, len(p.Plain), "the file")
	if err != nil {
		return nil, err
	}
	s := &Settings{Path: path, text: p, top: top}
	if err := p.unique(top, "%q", "remove"); err != nil {
		return nil, err
	}
	if keys, ok := jsonfile.Find(top, "keys"); ok {
		s.Keys, err = p.bindings(keys)
	}
	return s, err
}

// KeyPlace returns where a new store keeps its sealing key, by the member "key": "file",
// "keyring", or "" for whichever can be had.
//
// Error: [ErrFile], with path, line and column.
func (s *Settings) KeyPlace() (string, error) {
	m, ok := jsonfile.Find(s.top, "key")
	if !ok {
		return "", nil
	}
	var place string
	if err := json.Unmarshal(s.text.Plain[m.Start:m.End], &place); err != nil || place != "file" && place != "keyring" {
		return "", s.text.Errorf(m.Start, `"key" says where the sealing key of a new store is kept: "file" or "keyring"`)
	}
	return place, nil
}

// bindings reads the member "keys".
func (p *parser) bindings(keys jsonfile.Member) ([]KeyBinding, error) {
	members, err := p.Object(keys.Start, keys.End, `"keys"`)
	if err != nil {
		return nil, err
	}
	if err := p.unique(members, "action %q", "remove"); err != nil {
		return nil, err
	}
	var out []KeyBinding
	for _, m := range members {
		b := KeyBinding{Action: m.Key, Where: p.Where(m.At)}
		if err := json.Unmarshal(p.Plain[m.Start:m.End], &b.Keys); err != nil {
			return nil, p.Errorf(m.Start, `the keys of %q must be a list of strings, such as ["S", "y i"]; [] is no key`, m.Key)
		}
		out = append(out, b)
	}
	return out, nil
}

// Member returns a member of the file as it is there, and its place for
// messages; nil if there is none.
func (s *Settings) Member(name string) (value json.RawMessage, where string) {
	m, ok := jsonfile.Find(s.top, name)
	if !ok {
		return nil, ""
	}
	return s.text.Plain[m.Start:m.End], s.text.Where(m.At)
}
