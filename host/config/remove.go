package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"eventdeck/host/internal/jsonfile"
)

// Remove removes a server from the file at path. The rest of the file stays the same byte for byte:
// other members, comments, the order, a comma after the last member. Comments inside of the
// server's value are removed with it, and so is its line. The file is replaced as a whole or not at
// all; its permissions stay.
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
	return jsonfile.Replace(target, raw, text, info.Mode().Perm(), ErrFile)
}

// remove returns the text of a configuration without a server.
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
	top, err := p.Object(0, len(p.Plain), "the file")
	if err != nil {
		return nil, err
	}
	list, _ := jsonfile.Find(top, "mcpServers")
	servers, err := p.Object(list.Start, list.End, `"mcpServers"`)
	if err != nil {
		return nil, err
	}
	text := p.Cut(list, servers, i)
	after, err := Parse(path, text, nil)
	if err == nil && !sameServers(after.servers, slices.Delete(before.servers, i, i+1)) {
		err = fmt.Errorf("%w: %s", ErrFile, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %q cannot be removed without changing what else stands there; remove it by hand", err, name)
	}
	return text, nil
}

// sameServers reports whether two lists describe the same servers, at any place of a file.
func sameServers(a, b []entry) bool {
	return slices.EqualFunc(a, b, func(x, y entry) bool {
		faults := (x.fault == nil) == (y.fault == nil)
		x.where, y.where, x.fault, y.fault = "", "", nil, nil // they name lines
		return faults && reflect.DeepEqual(x, y)
	})
}
