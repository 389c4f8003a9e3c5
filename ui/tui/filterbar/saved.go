package filterbar

import (
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/query"
)

// errNoFilter: there is no filter to save or to turn off.
var errNoFilter = errors.New("there is no filter")

// commandWords are the subcommands, which cannot be names of filters.
var commandWords = []string{"save", "delete", "set", "off", "on"}

// Load reads the saved filters from the host. It is called before the program runs.
func (b *Bar) Load() { b.saved.Load() }

// Gen grows with every change of the saved filters.
func (b *Bar) Gen() int { return b.saved.Gen }

// Names returns the names of the saved filters, sorted.
func (b *Bar) Names() []string { return b.saved.Names() }

// Saved returns the filter with a name, "" if there is none.
func (b *Bar) Saved(name string) string {
	text, _ := b.saved.Get(name)
	return text
}

// Name returns the name of the present filter, "" if it is not saved.
func (b *Bar) Name() string {
	for _, name := range b.Names() {
		if b.Saved(name) == b.env.Stream.Query.Text {
			return name
		}
	}
	return ""
}

// Use applies a saved filter. Errors: [event.ErrNotFound], or that its text is no longer a filter.
func (b *Bar) Use(name string) error {
	text, err := b.saved.Get(name)
	if err == nil {
		err = b.set(text)
	}
	if err != nil {
		return err
	}
	b.env.EnterStream()
	return nil
}

func (b *Bar) set(text string) error {
	q, err := query.New(b.env.Stream.Query.Node, text, b.env.Clock())
	if err == nil {
		b.env.Stream.Show(q)
	}
	return err
}

// Run runs the command with typed words. Errors: [words.ErrUsage], those of [Bar.Use], or that there
// is no filter.
func (b *Bar) Run(typed []string) (tea.Cmd, error) {
	if len(typed) == 0 {
		return b.Open(), nil
	}
	rest := strings.Join(typed[1:], " ")
	switch typed[0] {
	case "save":
		return b.save(rest)
	case "delete":
		return b.saved.Delete(rest)
	case "off", "on":
		q := b.env.Stream.Query
		if q.Text == "" {
			return nil, errNoFilter
		}
		if off := typed[0] == "off"; q.Off != off {
			b.setOff(off)
		}
		return nil, nil
	case "set":
		return nil, b.set(rest)
	}
	return nil, b.Use(strings.Join(typed, " "))
}

func (b *Bar) save(name string) (tea.Cmd, error) {
	text := b.env.Stream.Query.Text
	if text == "" && name != "" {
		return nil, fmt.Errorf("%w to save", errNoFilter)
	}
	return b.saved.Save(name, text)
}

// Complete returns candidates for the last word of the command.
func (b *Bar) Complete(typed []string) []string {
	if len(typed) == 1 {
		return append(b.Names(), commandWords...)
	}
	if len(typed) > 1 && typed[0] == "delete" {
		return b.Names()
	}
	return nil
}
