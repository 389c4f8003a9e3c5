package filterbar

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/persist"
)

// NameMax bounds a name, in bytes.
const NameMax = 80

// Load reads the saved views from the host. It is called before the program runs.
func (v *Views) Load() {
	v.saved = map[string]View{}
	v.Gen++
	v.env.Persist.GetJSON(persist.Views, &v.saved)
	if v.saved == nil { // the setting is the JSON null
		v.saved = map[string]View{}
	}
}

// Names returns the names, sorted.
func (v *Views) Names() []string { return slices.Sorted(maps.Keys(v.saved)) }

// Get returns the view of a name. Error: [event.ErrNotFound].
func (v *Views) Get(name string) (View, error) {
	view, ok := v.saved[name]
	if !ok {
		return view, fmt.Errorf("%w: no view is saved as %q", event.ErrNotFound, name)
	}
	return view, nil
}

// Rename gives a view another name, which must be free. Errors: [event.ErrNotFound],
// [evidence.ErrUsage].
func (v *Views) Rename(from, to string) (tea.Cmd, error) {
	view, err := v.Get(from)
	if err == nil {
		err = check(to)
	}
	if err != nil {
		return nil, err
	}
	if _, taken := v.saved[to]; taken && from != to {
		return nil, fmt.Errorf("%w: another view is saved as %q", evidence.ErrUsage, to)
	}
	delete(v.saved, from)
	v.saved[to] = view
	return v.keep("view " + from + " is " + to + " now")
}

// Delete removes a view. Error: [event.ErrNotFound].
func (v *Views) Delete(name string) (tea.Cmd, error) {
	if _, err := v.Get(name); err != nil {
		return nil, err
	}
	delete(v.saved, name)
	return v.keep("view " + name + " is no longer saved")
}

// saveCurrent saves the current view under a name, and replaces a view of that name.
func (v *Views) saveCurrent(name string) (tea.Cmd, error) {
	if err := check(name); err != nil {
		return nil, err
	}
	v.saved[name] = v.env.View()
	return v.keep("view saved as " + name)
}

func check(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: view save NAME", evidence.ErrUsage)
	case len(name) > NameMax:
		return fmt.Errorf("%w: a name has at most %d bytes", evidence.ErrUsage, NameMax)
	case slices.Contains(commandWords, name):
		return fmt.Errorf("%w: %q is a subcommand; choose another name", evidence.ErrUsage, name)
	}
	return nil
}

func (v *Views) keep(done string) (tea.Cmd, error) {
	v.Gen++
	text, err := json.Marshal(v.saved)
	if err != nil {
		return nil, fmt.Errorf("cannot save the views: %w", err)
	}
	return v.env.Persist.Set(persist.Views, string(text), done), nil
}
