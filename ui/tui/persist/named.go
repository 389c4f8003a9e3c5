package persist

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/words"
)

// NameMax bounds a name, in bytes.
const NameMax = 80

// Named is a collection of values of one kind that the operator saved under names. It is for the
// event loop.
type Named[T any] struct {
	Gen      int // changes with every change of the values
	settings *Settings
	key      string
	kind     string
	reserved []string
	saved    map[string]T
}

// NewNamed returns an empty collection of a kind, such as "filter", that is stored under a key of
// the settings. Reserved words cannot be names: they are subcommands of the typed command.
func NewNamed[T any](s *Settings, key, kind string, reserved ...string) Named[T] {
	return Named[T]{settings: s, key: key, kind: kind, reserved: reserved, saved: map[string]T{}}
}

// Load reads the saved values from the host. It is called before the program runs.
func (n *Named[T]) Load() {
	n.saved = map[string]T{}
	n.Gen++
	n.settings.GetJSON(n.key, &n.saved)
	if n.saved == nil { // the setting is the JSON null
		n.saved = map[string]T{}
	}
}

// Names returns the names, sorted.
func (n *Named[T]) Names() []string { return slices.Sorted(maps.Keys(n.saved)) }

// Get returns the value of a name. Error: [event.ErrNotFound].
func (n *Named[T]) Get(name string) (T, error) {
	v, ok := n.saved[name]
	if !ok {
		return v, fmt.Errorf("%w: no %s is saved as %q", event.ErrNotFound, n.kind, name)
	}
	return v, nil
}

// Save saves a value under a name, and replaces a value of that name. Error: [words.ErrUsage].
func (n *Named[T]) Save(name string, v T) (tea.Cmd, error) {
	if err := n.check(name); err != nil {
		return nil, err
	}
	n.saved[name] = v
	return n.keep(n.kind + " saved as " + name)
}

// Rename gives a value another name, which must be free. Errors: [event.ErrNotFound],
// [words.ErrUsage].
func (n *Named[T]) Rename(from, to string) (tea.Cmd, error) {
	v, err := n.Get(from)
	if err == nil {
		err = n.check(to)
	}
	if err != nil {
		return nil, err
	}
	if _, taken := n.saved[to]; taken && from != to {
		return nil, fmt.Errorf("%w: another %s is saved as %q", words.ErrUsage, n.kind, to)
	}
	delete(n.saved, from)
	n.saved[to] = v
	return n.keep(n.kind + " " + from + " is " + to + " now")
}

// Delete removes a value. Error: [event.ErrNotFound].
func (n *Named[T]) Delete(name string) (tea.Cmd, error) {
	if _, err := n.Get(name); err != nil {
		return nil, err
	}
	delete(n.saved, name)
	return n.keep(n.kind + " " + name + " is no longer saved")
}

func (n *Named[T]) check(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: %s save NAME", words.ErrUsage, n.kind)
	case len(name) > NameMax:
		return fmt.Errorf("%w: a name has at most %d bytes", words.ErrUsage, NameMax)
	case slices.Contains(n.reserved, name):
		return fmt.Errorf("%w: %q is a subcommand; choose another name", words.ErrUsage, name)
	}
	return nil
}

func (n *Named[T]) keep(done string) (tea.Cmd, error) {
	n.Gen++
	text, err := json.Marshal(n.saved)
	if err != nil {
		return nil, fmt.Errorf("cannot save the %ss: %w", n.kind, err)
	}
	return n.settings.Set(n.key, string(text), done), nil
}
