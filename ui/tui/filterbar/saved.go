package filterbar

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/memo"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/words"
)

// errNoFilter says that there is none to save or to turn off.
var errNoFilter = errors.New("there is no filter")

// commandWords begin the lines of the command that are no name.
var commandWords = []string{"save", "delete", "set", "off", "on"}

// Load reads the saved filters. It asks the host: it is called before the program runs.
func (b *Bar) Load() {
	b.saved = map[string]string{}
	b.Gen++
	if text := b.env.Memo.Kept(memo.Filters); text != "" {
		if err := json.Unmarshal([]byte(text), &b.saved); err != nil {
			b.env.Fail("the saved filters cannot be read", err)
		}
	}
}

// Names are those of the saved filters, sorted.
func (b *Bar) Names() []string { return slices.Sorted(maps.Keys(b.saved)) }

// Saved is the filter of a name, "" if there is none.
func (b *Bar) Saved(name string) string { return b.saved[name] }

// Name is the name under which the present filter is saved, "" if it is not.
func (b *Bar) Name() string {
	for _, name := range b.Names() {
		if b.saved[name] == b.env.Stream.Query.Text {
			return name
		}
	}
	return ""
}

// Use applies a saved filter. Errors: [event.ErrNotFound], that it is no filter any more.
func (b *Bar) Use(name string) error {
	text, ok := b.saved[name]
	if !ok {
		return fmt.Errorf("%w: no filter is saved as %q", event.ErrNotFound, name)
	}
	if err := b.set(text); err != nil {
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

// Run runs the words of the command. Errors: [words.ErrUsage], those of [Bar.Use], that
// there is no filter.
func (b *Bar) Run(typed []string) (tea.Cmd, error) {
	if len(typed) == 0 {
		return b.Open(), nil
	}
	rest := strings.Join(typed[1:], " ")
	switch typed[0] {
	case "save":
		return b.save(rest)
	case "delete":
		if _, ok := b.saved[rest]; !ok {
			return nil, fmt.Errorf("%w: no filter is saved as %q", event.ErrNotFound, rest)
		}
		delete(b.saved, rest)
		return b.keep("filter " + rest + " is no longer saved")
	case "off", "on":
		q := b.env.Stream.Query
		if q.Text == "" {
			return nil, errNoFilter
		}
		if q.Off != (typed[0] == "off") {
			b.Toggle()
		}
		return nil, nil
	case "set":
		return nil, b.set(rest)
	}
	return nil, b.Use(strings.Join(typed, " "))
}

func (b *Bar) save(name string) (tea.Cmd, error) {
	text := b.env.Stream.Query.Text
	switch {
	case name == "":
		return nil, fmt.Errorf("%w: filter save NAME", words.ErrUsage)
	case slices.Contains(commandWords, name):
		return nil, fmt.Errorf("%w: %q is a word of the command itself; take another name", words.ErrUsage, name)
	case text == "":
		return nil, fmt.Errorf("%w to save", errNoFilter)
	}
	b.saved[name] = text
	return b.keep("filter saved as " + name)
}

func (b *Bar) keep(done string) (tea.Cmd, error) {
	b.Gen++
	text, err := json.Marshal(b.saved)
	if err != nil {
		return nil, fmt.Errorf("cannot save the filters: %w", err)
	}
	return b.env.Memo.Keep(memo.Filters, string(text), done), nil
}

// Complete returns what the last word of the command may be.
func (b *Bar) Complete(typed []string) []string {
	if len(typed) == 1 {
		return append(b.Names(), commandWords...)
	}
	if len(typed) > 1 && typed[0] == "delete" {
		return b.Names()
	}
	return nil
}
