// Package action has the table of what the operator can do: actions with their keys, and
// commands that are typed. Hints, help, the palette and the page of keys in the docs come
// from it.
package action

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
)

// ErrReadOnly says that what was asked for changes something, on a screen that only reads.
var ErrReadOnly = errors.New("this screen only reads (--read-only)")

// Action is something that the operator can do.
type Action struct {
	ID    string
	Title string
	Group string   // heading in help and docs
	Keys  []string // two keys in a row are parted by a blank; none: unbound
	Hint  string   // short form for the hints line; "" is not hinted
	// HintNow is the hint where that depends on what is chosen; nil: Hint.
	HintNow func() string
	Twin    string        // id of the action that goes the other way: one hint names the keys of both; "" for none
	Menu    string        // of two keys: what the first one leads to, for the hints line
	Panes   []layout.Pane // where it works; none means everywhere
	// Dangerous actions change what servers or the store hold. They are neither
	// shown nor run on a screen that only reads.
	Dangerous bool
	When      func() bool // nil: always
	Needs     string      // what is missing where When is false
	// Instead is what is chosen in place of what it needs, such as "a gap"; nil or "": nothing.
	Instead func() string
	Lacks   string // why it cannot be done where nothing that is chosen would help
	Also    string // further words under which the palette finds it
	// Passing actions work for a short while only, and have their keys before others.
	Passing bool
	// KeyOnly actions are run by their key only, where they are shown: neither the
	// palette, nor help, nor a typed name runs them.
	KeyOnly bool
	Run     func() tea.Cmd
}

// What actions need.
const (
	Subscription = "a subscription"
	Event        = "an event"
	Server       = "a configured server"
	Type         = "an event type"
)

// Act returns the Run of an action for a function without a command.
func Act(fn func()) func() tea.Cmd {
	return func() tea.Cmd { fn(); return nil }
}

// Grouped sets the heading of actions.
func Grouped(name string, rows ...Action) []Action {
	for i := range rows {
		rows[i].Group = name
	}
	return rows
}

// ByGroup returns the actions with the same heading together.
func ByGroup(rows []Action) []*Action {
	var heads []string
	out := make([]*Action, len(rows))
	for i := range rows {
		if !slices.Contains(heads, rows[i].Group) {
			heads = append(heads, rows[i].Group)
		}
		out[i] = &rows[i]
	}
	slices.SortStableFunc(out, func(x, y *Action) int { return slices.Index(heads, x.Group) - slices.Index(heads, y.Group) })
	return out
}

// Key is the key that hints name, "" if the action has none.
func (x *Action) Key() string {
	if len(x.Keys) == 0 {
		return ""
	}
	return x.Keys[0]
}

// Places names the panes in which the action works.
func (x *Action) Places() string {
	if len(x.Panes) == 0 {
		return "everywhere"
	}
	names := [...]string{layout.Tree: "servers", layout.Stream: "stream", layout.Detail: "detail", layout.Subs: "subscriptions", layout.Log: "log", layout.React: "reactions"}
	var words []string
	for _, p := range x.Panes {
		words = append(words, names[p])
	}
	return strings.Join(words, ", ")
}

// hint is the short form of an action that works.
func (x *Action) hint() string {
	if x.HintNow != nil {
		return x.HintNow()
	}
	return x.Hint
}

// in reports whether the action is one of a pane.
func (x *Action) in(p layout.Pane) bool { return len(x.Panes) == 0 || slices.Contains(x.Panes, p) }

// meets reports whether two actions work in the same pane.
func (x *Action) meets(y *Action) bool {
	return !x.Passing && !y.Passing && (len(x.Panes) == 0 || slices.ContainsFunc(x.Panes, y.in))
}

// begunBy reports whether a key is one of the action's, or the first of two.
func (x *Action) begunBy(key string) bool {
	return slices.ContainsFunc(x.Keys, func(k string) bool { return k == key || strings.HasPrefix(k, key+" ") })
}

// Env is what a table needs.
type Env struct {
	Focus      func() layout.Pane // that has the focus
	EmptyTable func() bool        // reports whether a table without rows is shown
	// Unseen returns the size that the screen needs for actions that change something, "" if it has it.
	Unseen  func() string
	Tell    func(text string)
	Fail    func(what string, err error)
	Pressed func(key, title string) // is told of each action that a key runs
}

// Table has all actions and commands. It is for the event loop.
type Table struct {
	Actions  []Action
	Commands []Command
	ReadOnly bool   // dangerous ones are neither shown nor run
	Chord    string // the first key of an action that has two, "" if none was pressed
	env      Env
	hints    cells.Canvas
}

// New returns a table without actions and commands.
func New(env Env) Table { return Table{env: env} }

// Works reports whether an action can be done here and now.
func (t *Table) Works(x *Action) bool {
	if x.Dangerous && t.ReadOnly || !x.in(t.env.Focus()) {
		return false
	}
	return x.When == nil || x.When()
}

// Find returns an action by its id, nil if there is none.
func (t *Table) Find(id string) *Action {
	for i := range t.Actions {
		if t.Actions[i].ID == id {
			return &t.Actions[i]
		}
	}
	return nil
}

// KeyOf is the operator's key of an action, for texts that name it. Without a key the
// palette finds the action by its name.
func (t *Table) KeyOf(id string) string {
	if x := t.Find(id); x != nil && x.Key() != "" {
		return x.Key()
	}
	if x := t.Find(id); x != nil && x.KeyOnly {
		return "the key of " + id
	}
	return ":" + id
}

// Perform runs an action if it works, and tells where the screen only reads or is too small
// to show what is changed.
func (t *Table) Perform(x *Action) tea.Cmd {
	needs := ""
	if x.Dangerous {
		needs = t.env.Unseen()
	}
	switch {
	case x.Dangerous && t.ReadOnly:
		t.env.Fail(x.Title, ErrReadOnly)
	case needs != "":
		t.env.Tell(x.Title + " needs a screen of " + needs)
	case t.Works(x):
		return x.Run()
	}
	return nil
}

// Press runs the action of a key, or remembers the first of two keys. It tells why a key
// does nothing.
func (t *Table) Press(key string) tea.Cmd {
	first := t.Chord
	t.Chord = ""
	if first != "" {
		if key == "esc" {
			return nil
		}
		key = first + " " + key
	}
	for i := range t.Actions {
		x := &t.Actions[i]
		for _, k := range x.Keys {
			if k == key && t.Works(x) {
				t.env.Pressed(key, x.Title)
				return t.Perform(x)
			}
			if strings.HasPrefix(k, key+" ") && t.Works(x) {
				t.Chord = key
			}
		}
	}
	if t.Chord == "" {
		t.refuse(key, first)
	}
	return nil
}

// refuse says why a key does nothing. first is what was pressed before it, "" if
// it stands alone.
func (t *Table) refuse(key, first string) {
	var x *Action
	for i := range t.Actions {
		if t.Actions[i].begunBy(key) {
			x = &t.Actions[i]
			if t.ReadOnly && x.Dangerous {
				t.env.Tell(key + " does nothing: " + ErrReadOnly.Error())
				return
			}
			if x.in(t.env.Focus()) {
				break // what its place is not is not the reason
			}
		}
	}
	help := "; " + t.KeyOf("help") + " lists what works"
	switch {
	case x == nil && (first != "" || len(key) == 1):
		t.env.Tell(cells.Sanitize(key).Plain() + " does nothing here" + help)
	case x == nil:
	case !x.in(t.env.Focus()):
		t.env.Tell(key + " (" + x.Title + ") works in " + x.Places() + help)
	case t.env.EmptyTable():
		t.env.Tell(key + " (" + x.Title + ") needs a row, and the table is empty")
	case x.Lacks != "":
		t.env.Tell(key + " (" + x.Title + ") does nothing here: " + x.Lacks)
	case x.Needs != "":
		t.env.Tell(t.needs(x, key))
	default:
		t.env.Tell(key + " has nothing to act on (" + x.Title + ")" + help)
	}
}

// Elsewhere says of a key that a dialog has no use for what it does in the stream, and that way
// leads there.
func (t *Table) Elsewhere(key, way string) {
	for i := range t.Actions {
		if x := &t.Actions[i]; x.in(layout.Stream) && x.begunBy(key) {
			t.env.Tell(key + " works in the stream: " + way + " (" + x.Title + ")")
			return
		}
	}
	t.env.Tell(cells.Sanitize(key).Plain() + " does nothing here")
}

// needs says what must be chosen for an action, which is named by its key or id.
func (t *Table) needs(x *Action, name string) string {
	if x.Instead != nil {
		if row := x.Instead(); row != "" {
			return "this row is " + row + "; " + name + " needs " + x.Needs
		}
	}
	return name + " needs " + x.Needs + ": choose one in " + t.KeyOf(chosenIn(x.Needs))
}

// chosenIn is the action that leads to where a thing is chosen.
func chosenIn(needs string) string {
	if needs == Event {
		return "stream"
	}
	return "tree"
}

// Name is the name of a key as the table looks for it. Where no action has the key, and
// the terminal tells its place, it is the key of that place on a PC keyboard: for layouts
// without Latin letters.
func (t *Table) Name(k tea.KeyPressMsg) string {
	name := k.String()
	if k.BaseCode == 0 || k.BaseCode == k.Code || t.bound(name) {
		return name
	}
	k.Code, k.BaseCode, k.Text = k.BaseCode, 0, ""
	if k.Mod == tea.ModShift {
		return strings.ToUpper(string(k.Code))
	}
	return k.Keystroke()
}

// bound reports whether a key begins the keys of an action.
func (t *Table) bound(key string) bool {
	if t.Chord != "" {
		key = t.Chord + " " + key
	}
	return slices.ContainsFunc(t.Actions, func(x Action) bool { return x.begunBy(key) })
}
