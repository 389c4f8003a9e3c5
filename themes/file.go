package themes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrFile says that a theme file cannot be used. The error names the file, the role and what to
// write instead.
var ErrFile = errors.New("theme file")

// Bounds of a directory of themes.
const (
	maxFile  = 64 << 10 // bytes
	maxFiles = 100
)

// file is a theme file:
//
//	{"base": "dark", "about": "mine", "roles": {"good": {"text": "#00ff00", "attributes": ["bold"]}}}
//
// A role in the file replaces the whole role of the base.
type file struct {
	Schema string               `json:"$schema"` // for editors
	Base   string               `json:"base"`
	About  string               `json:"about"`
	Roles  map[string]roleStyle `json:"roles"`
}

type roleStyle struct {
	Text       string   `json:"text"`
	Background string   `json:"background"`
	Attributes []string `json:"attributes"`
}

// ReadDir reads the operator's themes: every NAME.json in dir, sorted by name. It leaves out files
// that cannot be used, and returns the other themes beside an error that joins one [ErrFile] for
// each of these. A directory that does not exist has no themes.
func ReadDir(dir string) ([]Theme, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	var out []Theme
	var errs []error
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || e.IsDir() {
			continue
		}
		if len(out)+len(errs) == maxFiles {
			errs = append(errs, fmt.Errorf("%w: %s has more than %d; the rest is left out", ErrFile, dir, maxFiles))
			break
		}
		t, err := readFile(filepath.Join(dir, e.Name()), name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, t)
	}
	return out, errors.Join(errs...)
}

func readFile(path, name string) (Theme, error) {
	// A pipe would wait for a writer, and a device never ends.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return Theme{}, fmt.Errorf("%w %s: it is no regular file; take it out of the directory", ErrFile, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return Theme{}, fmt.Errorf("%w: %w", ErrFile, err)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return Theme{}, fmt.Errorf("%w: %w", ErrFile, err)
	}
	if len(raw) > maxFile {
		return Theme{}, fmt.Errorf("%w %s: longer than %d bytes", ErrFile, path, maxFile)
	}
	t, err := Parse(name, raw)
	if err != nil {
		return Theme{}, fmt.Errorf("%w %s: %w", ErrFile, path, err)
	}
	return t, nil
}

// Parse reads a theme. Its errors name the role and what to write instead.
func Parse(name string, raw []byte) (Theme, error) {
	if _, taken := Named(name); taken {
		return Theme{}, fmt.Errorf("%q is the name of a theme of the program; rename the file", name)
	}
	var f file
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return Theme{}, fmt.Errorf("not a theme: %w; it has the members base, about and roles, and a role has text, background and attributes", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Theme{}, errors.New("text follows the theme's closing brace; remove it")
	}
	t, ok := Named(f.Base)
	if !ok {
		return Theme{}, fmt.Errorf("base is %q; name one of %s", f.Base, strings.Join(Names(), ", "))
	}
	t.Name, t.About = name, f.About
	for _, role := range sortedKeys(f.Roles) {
		r := slices.Index(roleNames[:], role)
		if r < 0 {
			return Theme{}, fmt.Errorf("there is no role %q; the roles are %s", role, strings.Join(roleNames[:], ", "))
		}
		l, err := f.Roles[role].look()
		if err != nil {
			return Theme{}, fmt.Errorf("role %s: %w", role, err)
		}
		t.looks[r] = l
	}
	t.render()
	return t, t.check()
}

func (s roleStyle) look() (look, error) {
	var l look
	for _, c := range []struct {
		member, value string
		to            *colour
	}{{"text", s.Text, &l.text}, {"background", s.Background, &l.back}} {
		if c.value == "" {
			continue
		}
		v, ok := parseColour(c.value)
		if !ok {
			return l, fmt.Errorf("%s is %q; write #rrggbb, default, or one of %s", c.member, c.value, strings.Join(basicNames, ", "))
		}
		*c.to = v
	}
	for _, name := range s.Attributes {
		i := 0
		for i < len(attrNames) && attrNames[i].name != name {
			i++
		}
		if i == len(attrNames) {
			return l, fmt.Errorf("there is no attribute %q; the attributes are bold, faint, italic, underline and reverse", name)
		}
		l.attrs |= 1 << i
	}
	return l, nil
}

// check refuses a theme that would hide what an operator must see.
func (t *Theme) check() error {
	for _, r := range telling {
		if t.looks[r].on(ManyColours) == t.looks[Plain].on(ManyColours) {
			return fmt.Errorf("role %v looks like plain text; give it another colour or an attribute", r)
		}
	}
	if t.looks[Mark].attrs&underline == 0 || t.looks[SpanMark].attrs&underline == 0 {
		return errors.New("roles mark and span-mark stand for text that was hidden; give them the attribute underline")
	}
	return nil
}

func sortedKeys(m map[string]roleStyle) []string {
	return slices.Sorted(maps.Keys(m))
}
