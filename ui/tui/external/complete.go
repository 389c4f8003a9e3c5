package external

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/widget"
)

// Bounds of completion.
const (
	namesRead  = 10_000 // names read of one directory
	namesShown = 30
)

// CompletePath makes tab complete the path in a prompt. Directories are read in the background.
func (x *Programs) CompletePath(p *widget.Prompt) {
	p.Tab = func() tea.Cmd {
		text := p.Field.Text()
		return x.screen.Do(func(context.Context) tea.Msg {
			dir, begun := filepath.Split(text)
			names, err := namesIn(x.Home(dir), begun)
			return widget.Then(func() tea.Cmd {
				if p.Field.Text() == text { // the operator typed nothing meanwhile
					complete(p, begun, names, err)
				}
				return nil
			})
		})
	}
}

// complete extends the text of a prompt to the common beginning of all names, and lists the names
// if there are several.
func complete(p *widget.Prompt, begun string, names []string, err error) {
	p.Problem = ""
	switch {
	case err != nil:
		p.Problem = err.Error()
		return
	case len(names) == 0:
		p.Offers = "no file has a name that begins like this"
		return
	}
	if rest := common(names)[len(begun):]; rest != "" {
		p.Field.SetColumn(utf8.RuneCountInString(p.Field.Text()))
		p.Insert(rest)
	}
	if len(names) > 1 {
		p.Offers = strings.Join(names[:min(len(names), namesShown)], "   ")
	}
}

// namesIn returns the names in a directory that begin with a text, sorted; directories end in a
// slash. It leaves out hidden names unless the text begins with a dot, and names that cannot be
// typed.
func namesIn(dir, begun string) (names []string, err error) {
	f, err := os.Open(cmp.Or(dir, "."))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	entries, err := f.ReadDir(namesRead)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, begun) || begun == "" && strings.HasPrefix(name, ".") || !typable(name) {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() { // also behind a link
			name += string(filepath.Separator)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// typable reports whether a field can show a name unchanged.
func typable(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) })
}

// common returns the common beginning of sorted names, of which there is at least one.
func common(names []string) string {
	first, last := names[0], names[len(names)-1] // these differ most
	n := 0
	for n < min(len(first), len(last)) && first[n] == last[n] {
		n++
	}
	for n < len(first) && n > 0 && !utf8.RuneStart(first[n]) {
		n--
	}
	return first[:n]
}
