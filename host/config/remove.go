package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
)

// Remove takes a server out of the file at path. What else stands there stays as
// it is, to the byte: other members, comments, the order, a comma behind the last
// member. Comments inside of the server's own value go with it, and so does its
// line. The file is replaced as a whole or not at all; its permissions stay.
//
// Errors: [ErrUnknown], [ErrFile].
func Remove(path, name string) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	raw, err := readOwn(target, false)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	text, err := remove(path, raw, name)
	if err != nil {
		return err
	}
	return replace(target, raw, text, info.Mode().Perm())
}

// remove returns the text of a configuration with one server less.
func remove(path string, raw []byte, name string) ([]byte, error) {
	before, err := Parse(path, raw, nil)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(before.servers, func(e entry) bool { return e.name == name })
	if i < 0 {
		return nil, fmt.Errorf("%w %q: %s does not list it", ErrUnknown, name, path)
	}
	p := newParser(path, raw)
	body := raw[len(raw)-len(p.raw):]
	top, err := p.object(0, len(p.raw), "the file")
	if err != nil {
		return nil, err
	}
	list, _ := find(top, "mcpServers")
	servers, err := p.object(list.start, list.end, `"mcpServers"`)
	if err != nil {
		return nil, err
	}
	text := slices.Concat(raw[:len(raw)-len(body)], cut(body, list, servers, i))
	after, err := Parse(path, text, nil)
	if err == nil && !sameServers(after.servers, slices.Delete(before.servers, i, i+1)) {
		err = fmt.Errorf("%w: %s", ErrFile, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %q cannot be removed without changing what else stands there; remove it by hand", err, name)
	}
	return text, nil
}

// sameServers tells whether two lists describe the same servers, wherever in a
// file they stand.
func sameServers(a, b []entry) bool {
	return slices.EqualFunc(a, b, func(x, y entry) bool {
		x.where, y.where = "", ""
		return reflect.DeepEqual(x, y)
	})
}

// cut takes a member out of the value of another, with the comma that nothing
// needs any more.
func cut(raw []byte, object member, members []member, i int) []byte {
	m, brace := members[i], object.end-1
	start, next, last := object.start+1, brace, i == len(members)-1
	if i > 0 {
		start = members[i-1].end
	}
	if !last {
		next = members[i+1].at
	}
	from, to := m.at, m.end
	comma := trailingComma(raw, to, next)
	switch {
	case comma >= 0 && isBlanks(raw[to:comma]):
		to, comma = comma+1, -1
	case comma < 0 && i > 0:
		comma = trailingComma(raw, start, from)
	}
	from, to = room(raw, from, to, last)
	// What is left between the neighbours.
	left := slices.Concat(raw[start:from], raw[to:next])
	switch {
	case comma >= to:
		left = slices.Delete(left, comma-to+from-start, comma-to+from-start+1)
	case comma >= 0:
		left = slices.Delete(left, comma-start, comma-start+1)
	}
	if last {
		left = closed(left, i == 0, bytes.IndexByte(raw[object.start:start], '\n') < 0)
	}
	return slices.Concat(raw[:start], left, raw[next:])
}

// closed is what is left before the brace when the last member is gone: nothing in
// an empty object, and no line end of its own in one that is on the line of its brace.
func closed(left []byte, empty, oneLine bool) []byte {
	eol := bytes.LastIndexByte(left, '\n')
	switch {
	case empty && isBlanks(left):
		return nil
	case !empty && oneLine && bytes.Count(left, []byte("\n")) == 1 && isBlanks(left[eol:]) && !bytes.Contains(left, []byte("//")):
		return left[:eol]
	}
	return left
}

// room widens what is taken away by the blanks that were only there for it: the
// whole line, or those on one side.
func room(raw []byte, from, to int, last bool) (int, int) {
	left, right := from, to
	for isSpace(raw[left-1]) {
		left--
	}
	for isSpace(raw[right]) {
		right++
	}
	begins := raw[left-1] == '\n'
	ends := bytes.HasPrefix(raw[right:], []byte("\n")) || bytes.HasPrefix(raw[right:], []byte("\r\n"))
	switch {
	case begins && ends:
		left--
		if raw[left-1] == '\r' && raw[right] == '\r' {
			left--
		}
		return left, right
	case begins, !last && !ends:
		return from, right
	}
	return left, to
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func isBlanks(text []byte) bool { return len(bytes.Trim(text, " \t\r\n")) == 0 }
