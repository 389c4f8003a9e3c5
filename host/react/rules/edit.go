package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"eventdeck/host/internal/jsonfile"
	"eventdeck/host/react"
)

var (
	// ErrTaken: the file has a rule of that name already.
	ErrTaken = errors.New("name taken")
	// ErrUnknown: the file has no rule of that name.
	ErrUnknown = errors.New("unknown rule")
)

// Add adds a rule to the file at path, which it creates if needed. The rest of the file stays,
// comments included. Members with their default values are left out; Limits of the zero value
// stand for the defaults. The file is replaced atomically. The rule is not armed.
//
// Errors: [ErrTaken], [ErrFile]; a [*Faulty] for an invalid rule.
func Add(path string, r react.Rule) error {
	return edit(path, func(raw []byte) ([]byte, error) { return added(path, raw, r) })
}

// edit replaces the content of a file.
func edit(path string, change func(raw []byte) ([]byte, error)) error {
	target, mode, raw, err := own(path)
	if err != nil {
		return err
	}
	text, err := change(raw)
	if err != nil {
		return err
	}
	return jsonfile.Replace(target, raw, text, mode, ErrFile)
}

// Written returns the member as [Add] would write it into the file.
//
// Errors: those of Add.
func Written(path string, r react.Rule) (string, error) {
	_, _, raw, err := own(path)
	if err != nil {
		return "", err
	}
	text, err := added(path, raw, r)
	if err != nil {
		return "", err
	}
	p, err := place(path, text)
	if err != nil {
		return "", err
	}
	m, _ := jsonfile.Find(p.rules, r.Name)
	return string(text[m.At:m.End]), nil
}

// added returns the content of a file with a further rule.
func added(path string, raw []byte, r react.Rule) ([]byte, error) {
	if r.Limits == (react.Limits{}) {
		r.Limits = defaultRule(r.Do)
	}
	text := raw
	if len(bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\ufeff")))) == 0 {
		text = []byte("{\n  \"rules\": {}\n}\n")
	}
	return insert(path, text, r)
}

// Remove removes a rule from the file at path, with comments inside of the rule. The rest of the
// file stays the same, byte for byte. It undoes [Add].
//
// Errors: [ErrUnknown], [ErrFile].
func Remove(path, name string) error {
	return edit(path, func(raw []byte) ([]byte, error) { return remove(path, raw, name) })
}

// own returns the target of a path's links, with its permissions and content; the content is nil
// if the file does not exist.
func own(path string) (target string, mode fs.FileMode, raw []byte, err error) {
	target, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, 0o600, nil, nil
	}
	if err != nil {
		return "", 0, nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	info, err := os.Stat(target)
	if err != nil {
		return "", 0, nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	raw, err = read(target)
	return target, info.Mode().Perm(), raw, err
}

// places is a valid file with the places of its rules.
type places struct {
	*jsonfile.Text
	file  react.File
	top   []member
	list  member // "rules"; its key is "" if the file has none
	rules []member
}

// place finds the rules in a valid file.
func place(path string, raw []byte) (p places, err error) {
	if p.file, err = Parse(path, raw, Known{}); err != nil {
		return p, err
	}
	p.Text = jsonfile.New(path, raw, ErrFile)
	if p.top, err = p.Object(0, len(p.Plain), "the file"); err != nil {
		return p, err
	}
	if m, ok := jsonfile.Find(p.top, "rules"); ok {
		p.list = m
		p.rules, err = p.Object(m.Start, m.End, `"rules"`)
	}
	return p, err
}

// insert returns the text with a further rule.
func insert(path string, raw []byte, r react.Rule) ([]byte, error) {
	p, err := place(path, raw)
	if err != nil {
		return nil, err
	}
	if _, taken := jsonfile.Find(p.rules, r.Name); taken {
		return nil, fmt.Errorf("%w: %s has a rule %q already; choose another name", ErrTaken, path, r.Name)
	}
	var text []byte
	if p.list.Key == "" {
		value := "{\n    " + quoted(r.Name) + ": " + string(spelled(r, "    ")) + "\n  }"
		text = p.Insert(p.Top(), p.top, "rules", []byte(value), "  ")
	} else {
		indent := p.Indent(p.list.At) + "  "
		if len(p.rules) > 0 {
			indent = p.Indent(p.rules[len(p.rules)-1].At)
		}
		text = p.Insert(p.list, p.rules, r.Name, spelled(r, indent), indent)
	}
	return checked(path, text, r.Name, append(p.file.Rules, r))
}

// remove returns the text without a rule.
func remove(path string, raw []byte, name string) ([]byte, error) {
	p, err := place(path, raw)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(p.rules, func(m member) bool { return m.Key == name })
	if i < 0 {
		return nil, fmt.Errorf("%w %q: %s does not have it", ErrUnknown, name, path)
	}
	return checked(path, p.Cut(p.list, p.rules, i), name, slices.Delete(p.file.Rules, i, i+1))
}

// checked makes sure that an edited text parses to the intended rules.
func checked(path string, text []byte, name string, want []react.Rule) ([]byte, error) {
	after, err := Parse(path, text, Known{})
	if err != nil {
		return nil, err
	}
	if !slices.EqualFunc(after.Rules, want, func(a, b react.Rule) bool { return bytes.Equal(a.Freeze(), b.Freeze()) }) {
		return nil, fmt.Errorf("%w: %s: rule %q cannot be written without changing what else stands there; do it by hand", ErrFile, path, name)
	}
	return text, nil
}

// spelled returns a rule as JSON for the file.
func spelled(r react.Rule, indent string) []byte {
	defaults := react.Rule{On: react.Source{}, Wait: defaultWait, Age: defaultAge, Mode: react.ModeAsk, Limits: defaultRule(r.Do)}
	have, usual := membersOf(r.Freeze()), membersOf(defaults.Freeze())
	var out []valued
	for _, m := range have {
		switch {
		case m.Key == "name", m.Key != "on" && m.Key != "mode" && m.Key != "limits" && slices.ContainsFunc(usual, m.same):
			continue
		case m.Key == "limits":
			if m.value = changed(m.value, usual); m.value == nil {
				continue
			}
		}
		out = append(out, m)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, object(out), indent, "  "); err != nil {
		panic(fmt.Sprintf("rule %q: %v", r.Name, err)) // its own JSON
	}
	return b.Bytes()
}

// valued is a member with its value.
type valued struct {
	member
	value json.RawMessage
}

func (v valued) same(o valued) bool { return v.Key == o.Key && bytes.Equal(v.value, o.value) }

// membersOf returns the members of a JSON object that this package encoded.
func membersOf(raw []byte) []valued {
	t := jsonfile.New("", raw, ErrFile)
	members, err := t.Object(0, len(raw), "")
	if err != nil {
		panic(err.Error())
	}
	out := make([]valued, len(members))
	for i, m := range members {
		out[i] = valued{m, t.Value(m)}
	}
	return out
}

// changed returns the limits that differ from the defaults; nil: none.
func changed(limits json.RawMessage, defaults []valued) json.RawMessage {
	at := slices.IndexFunc(defaults, func(m valued) bool { return m.Key == "limits" })
	usual := membersOf(defaults[at].value)
	out := slices.DeleteFunc(membersOf(limits), func(m valued) bool { return slices.ContainsFunc(usual, m.same) })
	if len(out) == 0 {
		return nil
	}
	return object(out)
}

// object returns a JSON object of members.
func object(members []valued) json.RawMessage {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, quoted(m.Key)...), ':'), m.value...)
	}
	return append(out, '}')
}
