// Package rules reads and writes rules.json, the operator's file of rules (contracts.md,
// Reactions). A file with mistakes is refused as a whole; each mistake comes with its place and
// with what to write instead.
//
// The package runs no command, opens no connection and arms no rule.
package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/internal/jsonfile"
	"eventdeck/host/react"
)

// ErrFile: the rules cannot be read, or they have mistakes: see [Faulty].
var ErrFile = errors.New("rules file")

// Bounds of the file.
const (
	maxRules = 200
	// maxMistakes is how many mistakes are reported at once.
	maxMistakes = 50
)

// Known is what rules are checked against. Members that are nil are not checked.
type Known struct {
	Servers []string                         // names of all servers
	Types   func(server string) []event.Type // types that a server lists
	Env     func(name string) (string, bool) // environment variables, as [os.LookupEnv]
}

// Mistake is one mistake in the file.
type Mistake struct {
	Where string // file:line:column
	What  string // what is wrong
	Write string // what to write instead
}

// String returns the mistake as `rules check` prints it.
func (m Mistake) String() string {
	if m.Write == "" {
		return m.Where + ": " + m.What
	}
	return m.Where + ": " + m.What + "; write: " + m.Write
}

// Faulty is the error for a file with mistakes, in the order of the file. It is an [ErrFile].
type Faulty struct{ Mistakes []Mistake }

// Error returns a line for each mistake.
func (f *Faulty) Error() string {
	lines := make([]string, len(f.Mistakes))
	for i, m := range f.Mistakes {
		lines[i] = m.String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns ErrFile.
func (f *Faulty) Unwrap() error { return ErrFile }

// Load reads the rules at path. Without a file there are none. Relative times in filters are
// refused, as they would be resolved only once.
//
// Errors: [ErrFile]; mistakes in the file are a [*Faulty].
func Load(path string, known Known) (react.File, error) {
	raw, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return react.File{Path: path, Limits: defaultAll()}, nil
	case err != nil:
		return react.File{}, err
	}
	return Parse(path, raw, known)
}

func read(path string) ([]byte, error) {
	raw, err := jsonfile.ReadOwn(path, react.MaxFile, false)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	return raw, nil
}

// Parse parses the content of rules.json.
//
// Error: [*Faulty].
func Parse(path string, raw []byte, known Known) (react.File, error) {
	p := &parser{Text: jsonfile.New(path, raw, ErrFile), known: known, now: time.Unix(0, 0).UTC()}
	f := p.file()
	if len(p.mistakes) > 0 {
		return react.File{}, &Faulty{p.inOrder()}
	}
	return f, nil
}
