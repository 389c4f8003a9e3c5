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
	// ErrTaken: a rule of that name is there already.
	ErrTaken = errors.New("name taken")
	// ErrUnknown: no rule of that name is there.
	ErrUnknown = errors.New("unknown rule")
)

// Add writes a rule into the file at path and makes it if it is not there. What else stands
// there stays, comments too; members that are the defaults are left out, and limits that are
// zero are the defaults. The file is
// replaced as a whole or not at all. The rule is not armed by that.
//
// Errors: [ErrTaken], [ErrFile]; a rule that would be a mistake is a [*Faulty].
func Add(path string, r react.Rule) error {
	return edit(path, func(raw []byte) ([]byte, error) { return added(path, raw, r) })
}

// edit replaces the text of a file.
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

// Written returns the member that [Add] would write, as it would stand in the file.
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

// added returns the text of a file with one rule more.
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

// Remove takes a rule out of the file at path. What else stands there stays as it is, to the
// byte; comments inside of the rule go with it. It undoes [Add].
//
// Errors: [ErrUnknown], [ErrFile].
func Remove(path, name string) error {
	return edit(path, func(raw []byte) ([]byte, error) { return remove(path, raw, name) })
}

// own returns the file that a path leads to, its permissions and what is in it: nothing, if
// it is not there.
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

// places is a text without mistakes, and where its rules are in it.
type places struct {
	*jsonfile.Text
	file  react.File
	top   []member
	list  member // "rules"; its key is "" where the file has none
	rules []member
}

// place finds the rules of a text without mistakes.
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

// insert returns the text with one rule more.
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

// remove returns the text with one rule less.
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

// checked makes sure that a text is read as it is meant.
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

// spelled returns a rule as it is written into a file.
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

// membersOf returns the members of JSON of our own.
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

// changed returns those limits that are not those of a rule with the defaults, nil if there are
// none.
func changed(limits json.RawMessage, defaults []valued) json.RawMessage {
	at := slices.IndexFunc(defaults, func(m valued) bool { return m.Key == "limits" })
	usual := membersOf(defaults[at].value)
	out := slices.DeleteFunc(membersOf(limits), func(m valued) bool { return slices.ContainsFunc(usual, m.same) })
	if len(out) == 0 {
		return nil
	}
	return object(out)
}

// object returns members as an object.
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
