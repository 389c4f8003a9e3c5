package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ErrTaken: a server of that name is configured already.
var ErrTaken = errors.New("name taken")

// Add writes servers into the file at path and makes it if it is not there. What
// else stands in the file stays: other members, comments, the layout. The file
// is replaced as a whole or not at all, and afterwards only its owner may read
// it, because headers and variables may be secrets.
//
// Errors: [ErrDraft], [ErrTaken], [ErrFile].
func Add(path string, drafts ...Draft) error {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		target = path
	} else if err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	raw, err := readOwn(target, false)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text := bytes.TrimPrefix(raw, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{\n  \"mcpServers\": {}\n}\n")
	}
	for _, d := range drafts {
		if text, err = insert(path, text, d); err != nil {
			return err
		}
	}
	return replace(target, raw, text, 0o600)
}

// insert returns the text of a configuration with one server more.
func insert(path string, raw []byte, d Draft) ([]byte, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	p := parser{path: path, raw: plain(raw, false)}
	if err := p.syntax(`{"mcpServers": {}}`); err != nil {
		return nil, err
	}
	top, err := p.object(0, len(raw), "the file")
	if err != nil {
		return nil, err
	}
	list, ok := find(top, "mcpServers")
	if !ok {
		value := []byte("{\n    " + string(spell(d.Name)) + ": ")
		value = append(d.appendJSON(value, "    "), "\n  }"...)
		return verified(path, p.insert(raw, p.skip(0), len(raw), top, "mcpServers", value, "  "), d)
	}
	servers, err := p.object(list.start, list.end, `"mcpServers"`)
	if err != nil {
		return nil, err
	}
	if _, taken := find(servers, d.Name); taken {
		return nil, fmt.Errorf("%w: %s has a server %q already; choose another name", ErrTaken, path, d.Name)
	}
	indent := p.indent(list.at) + "  "
	if len(servers) > 0 {
		if own := p.indent(servers[len(servers)-1].at); own != "" {
			indent = own
		}
	}
	return verified(path, p.insert(raw, list.start, list.end, servers, d.Name, d.appendJSON(nil, indent), indent), d)
}

// insert puts a member behind the others of the object between two offsets. A
// comment behind the last member stays with it.
func (p parser) insert(raw []byte, start, end int, have []member, name string, value []byte, indent string) []byte {
	member := append(append([]byte("\n"+indent), spell(name)...), ": "...)
	member = append(member, value...)
	if len(have) == 0 {
		at := start + bytes.IndexByte(p.raw[start:end], '{') + 1
		if len(bytes.TrimSpace(p.raw[at:])) > 0 && !bytes.HasPrefix(bytes.TrimLeft(raw[at:], " \t"), []byte("\n")) {
			member = append(member, "\n"+p.indent(start)...)
		}
		return slices.Concat(raw[:at], member, raw[at:])
	}
	last := have[len(have)-1].end
	flat := plain(raw, true)
	brace := last + bytes.IndexByte(flat[last:], '}')
	at := brace
	if eol := bytes.IndexByte(flat[last:brace], '\n'); eol >= 0 {
		at = last + eol
	} else {
		member = append(member, "\n"+p.indent(start)...)
	}
	if comma := trailingComma(raw, last, brace); comma >= 0 {
		at = max(at, comma+1)
		return slices.Concat(raw[:at], member, []byte(","), raw[at:])
	}
	return slices.Concat(raw[:last], []byte(","), raw[last:at], member, raw[at:])
}

// trailingComma returns the offset of a comma between two offsets that is in no
// comment, or -1.
func trailingComma(raw []byte, from, to int) int {
	for i := from; i < to; i++ {
		switch {
		case raw[i] == '/' && i+1 < to:
			i = commentEnd(raw, i) - 1
		case raw[i] == ',':
			return i
		}
	}
	return -1
}

// indent returns the blanks with which the line of an offset begins.
func (p parser) indent(at int) string {
	line := p.raw[bytes.LastIndexByte(p.raw[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// verified makes sure that what would be written is read as it is meant.
func verified(path string, text []byte, d Draft) ([]byte, error) {
	f, err := Parse(path, text, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %q cannot be added without changing what stands there; add it by hand", err, d.Name)
	}
	for _, have := range f.Drafts() {
		if have.Name == d.Name && have.same(d) {
			return text, nil
		}
	}
	return nil, fmt.Errorf("%w: %s: %q cannot be added without changing what stands there; add it by hand", ErrFile, path, d.Name)
}

// Drafts returns the servers as they stand in the file.
func (f *File) Drafts() []Draft {
	drafts := make([]Draft, 0, len(f.servers))
	for _, e := range f.servers {
		drafts = append(drafts, Draft{
			Name: e.name, Command: e.command, Args: e.args, Dir: e.dir, URL: e.url,
			Env: exported(e.env), Headers: exported(e.headers),
			Transport: e.transport, CAFile: e.caFile,
		})
	}
	return drafts
}

func exported(from []pair) []Pair {
	var out []Pair
	for _, p := range from {
		out = append(out, newPair(p.key, p.value))
	}
	return out
}

// replace writes a file beside the old one and puts it in its place, unless the
// old one is no longer what was read.
func replace(path string, read, text []byte, mode fs.FileMode) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w: %s is left as it was: %w", ErrFile, path, errors.Join(err, os.Remove(temp.Name())))
		}
	}()
	if mode != 0o600 {
		err = temp.Chmod(mode)
	}
	if err == nil {
		_, err = temp.Write(text)
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	now, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, read) {
		return errors.New("another program has changed it meanwhile; try again")
	}
	return os.Rename(temp.Name(), path)
}
