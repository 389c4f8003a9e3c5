// Has the table of actions with their keys and of typed commands. Hints, help, the
// palette and the page of keys in the docs are made from it.

package palette

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// ErrReadOnly says that an action or a command changes something, on a read-only screen.
var ErrReadOnly = errors.New("this screen only reads (--read-only)")

// Action is something that the operator can do.
type Action struct {
	ID    string
	Title string
	Group string   // heading in help and docs
	Keys  []string // a space separates the two keys of a sequence; none: unbound
	Hint  string   // label on the hints line; "": not on the hints line
	// HintNow returns the hint where it depends on the selection; nil: Hint.
	HintNow func() string
	Twin    string        // id of the opposite action: one hint has the keys of both; "" for none
	Menu    string        // for a sequence: the label of its first key on the hints line
	Panes   []layout.Pane // where it works; none means everywhere
	// Dangerous actions change what servers or the store hold. A read-only screen neither
	// shows nor runs them.
	Dangerous bool
	When      func() bool // whether it works now; nil: always
	Needs     string      // the selection that is missing where When is false
	// Instead names the selection in place of Needs, such as "a gap"; nil or "": nothing.
	Instead func() string
	Lacks   string // why the action does not work, where no selection would help
	Also    string // more words under which the palette finds it
	// Passing actions work for a short time and take precedence over others with their keys.
	Passing bool
	// KeyOnly actions are run by their key only, where it is shown: not from the palette, help,
	// or a typed name.
	KeyOnly bool
	Run     func() tea.Cmd
}

// Selections that actions need.
const (
	Subscription = "a subscription"
	Event        = "an event"
	Server       = "a configured server"
	Type         = "an event type"
)

// Act makes an action's Run from a function that returns no command.
func Act(fn func()) func() tea.Cmd {
	return func() tea.Cmd { fn(); return nil }
}

// Grouped sets the group of actions.
func Grouped(name string, rows ...Action) []Action {
	for i := range rows {
		rows[i].Group = name
	}
	return rows
}

// ByGroup returns the actions with those of one group together.
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

// Key returns the key that hints show, "" if the action has none.
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

// hint returns the label of an action on the hints line.
func (x *Action) hint() string {
	if x.HintNow != nil {
		return x.HintNow()
	}
	return x.Hint
}

// in reports whether the action works in a pane.
func (x *Action) in(p layout.Pane) bool { return len(x.Panes) == 0 || slices.Contains(x.Panes, p) }

// overlaps reports whether two actions work in the same pane.
func (x *Action) overlaps(y *Action) bool {
	return !x.Passing && !y.Passing && (len(x.Panes) == 0 || slices.ContainsFunc(x.Panes, y.in))
}

// hasKey reports whether a key is one of the action's keys, or begins one of its sequences.
func (x *Action) hasKey(key string) bool {
	return slices.ContainsFunc(x.Keys, func(k string) bool { return k == key || strings.HasPrefix(k, key+" ") })
}

// Table has all actions and commands. It is for the event loop.
type Table struct {
	Actions  []Action
	Commands []ActionCommand
	ReadOnly bool   // dangerous actions and commands are neither shown nor run
	Chord    string // the pressed first key of a sequence, "" if there is none

	Screen     widget.Screen
	Focus      func() layout.Pane // the pane with the focus
	EmptyTable func() bool        // whether a table without rows is shown
	// Unseen returns the screen size that dangerous actions need, "" if the screen is large enough.
	Unseen  func() string
	Pressed func(key, title string) // called for each action that a key runs

	hints   cells.Canvas
	pressed int // the number of keys so far
	awaited int // the value of pressed for which AwaitSecond has reported true
}

// Works reports whether an action works here and now.
func (t *Table) Works(x *Action) bool {
	if x.Dangerous && t.ReadOnly || !x.in(t.Focus()) {
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

// KeyOf returns the operator's key of an action, for texts that name it. For an action without a
// key it returns what to type in the palette.
func (t *Table) KeyOf(id string) string {
	if x := t.Find(id); x != nil && x.Key() != "" {
		return x.Key()
	}
	if x := t.Find(id); x != nil && x.KeyOnly {
		return "the key of " + id
	}
	return ":" + id
}

// Perform runs an action if it works. It tells the operator if the screen is read-only, or too
// small to show what changes.
func (t *Table) Perform(x *Action) tea.Cmd {
	needs := ""
	if x.Dangerous {
		needs = t.Unseen()
	}
	switch {
	case x.Dangerous && t.ReadOnly:
		t.Screen.Fail(x.Title, ErrReadOnly)
	case needs != "":
		t.Screen.Tell(x.Title + " needs a screen of " + needs)
	case t.Works(x):
		return x.Run()
	}
	return nil
}

// Press runs the action of a key, or remembers the first key of a sequence. A sequence ends at a key
// that it does not know, which then means itself. Press tells the operator why a key does nothing.
func (t *Table) Press(key string) tea.Cmd {
	first := t.Chord
	t.pressed++
	if first != "" {
		both := first + " " + key
		switch known := slices.ContainsFunc(t.Actions, func(x Action) bool { return x.hasKey(both) }); {
		case key == "esc":
			t.Chord = ""
			return nil
		case !known:
			return tea.Batch(t.Alone(), t.Press(key))
		}
		t.Chord, key = "", both
	}
	for i := range t.Actions {
		x := &t.Actions[i]
		for _, k := range x.Keys {
			if k == key && t.Works(x) {
				t.Pressed(key, x.Title)
				return t.Perform(x)
			}
			if strings.HasPrefix(k, key+" ") && t.Works(x) {
				t.Chord = key
			}
		}
	}
	if t.Chord == "" {
		t.explain(key, first)
	}
	return nil
}

// Alone ends a sequence after its first key: that does what it does with enter, if anything.
func (t *Table) Alone() tea.Cmd {
	x, key := t.alone(), t.Chord
	t.Chord = ""
	if x == nil {
		return nil
	}
	t.Pressed(key, x.Title)
	return t.Perform(x)
}

// AwaitSecond reports, once for each sequence that was begun, whether its first key means something
// alone. If so, the caller passes n to [Table.AloneAfter] after some time.
func (t *Table) AwaitSecond() (n int, ok bool) {
	if t.awaited == t.pressed || t.alone() == nil {
		return 0, false
	}
	t.awaited = t.pressed
	return t.pressed, true
}

// AloneAfter is [Table.Alone] unless a key was pressed since.
func (t *Table) AloneAfter(n int) tea.Cmd {
	if n != t.pressed {
		return nil
	}
	return t.Alone()
}

// alone returns the action of the first key of the sequence that was begun, nil if it has none.
func (t *Table) alone() *Action {
	i := slices.IndexFunc(t.Actions, func(x Action) bool { return slices.Contains(x.Keys, t.Chord+" enter") && t.Works(&x) })
	if i < 0 || t.Chord == "" {
		return nil
	}
	return &t.Actions[i]
}

// explain tells the operator why a key does nothing. first is the key pressed before it in a
// sequence, "" for none.
func (t *Table) explain(key, first string) {
	var x *Action
	for i := range t.Actions {
		if t.Actions[i].hasKey(key) {
			x = &t.Actions[i]
			if t.ReadOnly && x.Dangerous {
				t.Screen.Tell(key + " does nothing: " + ErrReadOnly.Error())
				return
			}
			if x.in(t.Focus()) {
				break // the pane is not the reason
			}
		}
	}
	help := "; " + t.KeyOf("help") + " lists what works"
	switch {
	case x == nil && (first != "" || len(key) == 1):
		t.Screen.Tell(cells.Sanitize(key).Plain() + " does nothing here" + help)
	case x == nil:
	case !x.in(t.Focus()):
		t.Screen.Tell(key + " works in " + x.Places() + " (" + x.Title + ")" + help)
	case t.EmptyTable():
		t.Screen.Tell(key + " (" + x.Title + ") needs a row, and the table is empty")
	case x.Lacks != "":
		t.Screen.Tell(key + " (" + x.Title + ") does nothing here: " + x.Lacks)
	case x.Needs != "":
		t.Screen.Tell(t.needs(x, key))
	default:
		t.Screen.Tell(key + " has nothing to act on (" + x.Title + ")" + help)
	}
}

// Elsewhere tells what a key that a dialog does not use does in the stream; way says how to get
// there.
func (t *Table) Elsewhere(key, way string) {
	for i := range t.Actions {
		if x := &t.Actions[i]; x.in(layout.Stream) && x.hasKey(key) {
			t.Screen.Tell(key + " works in the stream: " + way + " (" + x.Title + ")")
			return
		}
	}
	t.Screen.Tell(cells.Sanitize(key).Plain() + " does nothing here")
}

// needs says what to select for an action; name is its key or id.
func (t *Table) needs(x *Action, name string) string {
	if x.Instead != nil {
		if row := x.Instead(); row != "" {
			return "this row is " + row + "; " + name + " needs " + x.Needs
		}
	}
	return name + " needs " + x.Needs + ": choose one in " + t.KeyOf(selectedIn(x.Needs))
}

// selectedIn returns the id of the action that moves to the pane where a thing is selected.
func selectedIn(needs string) string {
	if needs == Event {
		return "stream"
	}
	return "tree"
}

// Name returns the name under which the table looks for a key. If no action has the key and the
// terminal reports its position, it is the key at that position of a US keyboard, for layouts
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

// bound reports whether an action has a key.
func (t *Table) bound(key string) bool {
	if t.Chord != "" {
		key = t.Chord + " " + key
	}
	return slices.ContainsFunc(t.Actions, func(x Action) bool { return x.hasKey(key) })
}
