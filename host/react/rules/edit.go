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
	target, mode, raw, err := own(path)
	if err != nil {
		return err
	}
	text, err := added(path, raw, r)
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
	_, _, _, _, list, err := place(path, text)
	if err != nil {
		return "", err
	}
	m, _ := jsonfile.Find(list, r.Name)
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
	target, mode, raw, err := own(path)
	if err != nil {
		return err
	}
	text, err := remove(path, raw, name)
	if err != nil {
		return err
	}
	return jsonfile.Replace(target, raw, text, mode, ErrFile)
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

// place finds the rules of a text without mistakes.
func place(path string, raw []byte) (t *jsonfile.Text, before react.File, top []member, list member, rules []member, err error) {
	if before, err = Parse(path, raw, Known{}); err != nil {
		return
	}
	t = jsonfile.New(path, raw, ErrFile)
	if top, err = t.Object(0, len(t.Plain), "the file"); err != nil {
		return
	}
	if m, ok := jsonfile.Find(top, "rules"); ok {
		list = m
		rules, err = t.Object(m.Start, m.End, `"rules"`)
	}
	return
}

// insert returns the text with one rule more.
func insert(path string, raw []byte, r react.Rule) ([]byte, error) {
	t, before, top, list, rules, err := place(path, raw)
	if err != nil {
		return nil, err
	}
	if _, taken := jsonfile.Find(rules, r.Name); taken {
		return nil, fmt.Errorf("%w: %s has a rule %q already; choose another name", ErrTaken, path, r.Name)
	}
	var text []byte
	if list.Key == "" {
		value := "{\n    " + quoted(r.Name) + ": " + string(spelled(r, "    ")) + "\n  }"
		text = t.Insert(t.Top(), top, "rules", []byte(value), "  ")
	} else {
		indent := t.Indent(list.At) + "  "
		if len(rules) > 0 {
			indent = t.Indent(rules[len(rules)-1].At)
		}
		text = t.Insert(list, rules, r.Name, spelled(r, indent), indent)
	}
	return checked(path, text, r.Name, append(before.Rules, r))
}

// remove returns the text with one rule less.
func remove(path string, raw []byte, name string) ([]byte, error) {
	t, before, _, list, rules, err := place(path, raw)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rules, func(m member) bool { return m.Key == name })
	if i < 0 {
		return nil, fmt.Errorf("%w %q: %s does not have it", ErrUnknown, name, path)
	}
	return checked(path, t.Cut(list, rules, i), name, slices.Delete(before.Rules, i, i+1))
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
	var out []byte
	for _, m := range have {
		switch {
		case m.Key == "name", m.Key != "on" && m.Key != "mode" && m.Key != "limits" && slices.ContainsFunc(usual, m.same):
			continue
		case m.Key == "limits":
			if m.value = changed(m.value, defaults); m.value == nil {
				continue
			}
		}
		if out = append(out, ','); len(out) == 1 {
			out[0] = '{'
		}
		out = append(append(append(out, quoted(m.Key)...), ':'), m.value...)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, append(out, '}'), indent, "  "); err != nil {
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

// changed returns those limits that are not the defaults, nil if there are none.
func changed(limits json.RawMessage, defaults react.Rule) json.RawMessage {
	var usual []valued
	for _, m := range membersOf(defaults.Freeze()) {
		if m.Key == "limits" {
			usual = membersOf(m.value)
		}
	}
	var out json.RawMessage
	for _, m := range membersOf(limits) {
		if slices.ContainsFunc(usual, m.same) {
			continue
		}
		if out = append(out, ','); len(out) == 1 {
			out[0] = '{'
		}
		out = append(append(append(out, quoted(m.Key)...), ':'), m.value...)
	}
	if out == nil {
		return nil
	}
	return append(out, '}')
}
