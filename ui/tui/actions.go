package tui

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
)

// action is something the operator can do. Keys, hints, help, the palette and
// the page of keys in the docs come from the one table of actions.
type action struct {
	id    string
	title string
	group string   // heading in help and docs
	keys  []string // two keys in a row are parted by a blank; none: unbound
	hint  string   // short form for the hints line; "" is not hinted
	// hintNow is the hint where that depends on what is chosen; nil: hint.
	hintNow func(*app) string
	menu    string        // of two keys: what the first one leads to, for the hints line
	panes   []layout.Pane // where it works; none means everywhere
	// dangerous actions change what servers or the store hold. They are neither
	// shown nor run on a screen that only reads.
	dangerous bool
	when      func(*app) bool // nil: always
	needs     string          // what is missing where when is false
	also      string          // further words under which the palette finds it
	// passing actions work for a short while only, and have their keys before others.
	passing bool
	run     func(*app) tea.Cmd
}

// errReadOnly: what was asked for changes something.
var errReadOnly = errors.New("this screen only reads (--read-only)")

// works tells whether the action can be done here and now.
func (x *action) works(a *app) bool {
	if x.dangerous && a.readOnly || len(x.panes) > 0 && !slices.Contains(x.panes, a.focus) {
		return false
	}
	return x.when == nil || x.when(a)
}

// key is the key that hints name, "" if the action has none.
func (x *action) key() string {
	if len(x.keys) == 0 {
		return ""
	}
	return x.keys[0]
}

// word is the hint of an action that works.
func (x *action) word(a *app) string {
	if x.hintNow != nil {
		return x.hintNow(a)
	}
	return x.hint
}

// meets tells whether two actions want their keys in the same place.
func (x *action) meets(y *action) bool {
	return !x.passing && !y.passing && (len(x.panes) == 0 || len(y.panes) == 0 || slices.ContainsFunc(x.panes, func(p layout.Pane) bool { return slices.Contains(y.panes, p) }))
}

func act(fn func(*app)) func(*app) tea.Cmd {
	return func(a *app) tea.Cmd { fn(a); return nil }
}

// grouped gives actions their heading.
func grouped(name string, rows ...action) []action {
	for i := range rows {
		rows[i].group = name
	}
	return rows
}

// action returns an action by its id.
func (a *app) action(id string) *action {
	for i := range a.actions {
		if a.actions[i].id == id {
			return &a.actions[i]
		}
	}
	return nil
}

// KeyOf is the operator's key of an action, for texts that name it. Without a
// key the palette finds the action by its name.
func (a *app) KeyOf(id string) string {
	if x := a.action(id); x != nil && x.key() != "" {
		return x.key()
	}
	return ":" + id
}

// perform runs an action if it works.
func (a *app) perform(x *action) tea.Cmd {
	switch {
	case x.dangerous && a.readOnly:
		a.Fail(x.title, errReadOnly)
	case x.works(a):
		return x.run(a)
	}
	return nil
}

// press runs the action of a key, or remembers the first of two keys.
func (a *app) press(key string) tea.Cmd {
	first := a.chord
	a.chord = ""
	if first != "" {
		if key == "esc" {
			return nil
		}
		key = first + " " + key
	}
	for i := range a.actions {
		x := &a.actions[i]
		for _, k := range x.keys {
			if k == key && x.works(a) {
				a.audience.Pressed(key, x.title)
				return a.perform(x)
			}
			if strings.HasPrefix(k, key+" ") && x.works(a) {
				a.chord = key
			}
		}
	}
	if a.chord == "" {
		a.refuse(key, first)
	}
	return nil
}

// refuse says why a key does nothing. first is what was pressed before it, "" if
// it stands alone.
func (a *app) refuse(key, first string) {
	var x *action
	for i := range a.actions {
		if slices.ContainsFunc(a.actions[i].keys, func(k string) bool { return k == key || strings.HasPrefix(k, key+" ") }) {
			x = &a.actions[i]
			if a.readOnly && x.dangerous {
				a.Tell(key + " does nothing: " + errReadOnly.Error())
				return
			}
			if len(x.panes) == 0 || slices.Contains(x.panes, a.focus) {
				break // what its place is not is not the reason
			}
		}
	}
	help := "; " + a.KeyOf("help") + " lists what works"
	switch {
	case x == nil && (first != "" || len(key) == 1):
		a.Tell(cells.Sanitize(key).Plain() + " does nothing here" + help)
	case x == nil:
	case len(x.panes) > 0 && !slices.Contains(x.panes, a.focus):
		a.Tell(key + " (" + x.title + ") works in " + placeWords(x.panes) + help)
	case a.table() != nil && a.table().Rows() == 0:
		a.Tell(key + " (" + x.title + ") needs a row, and the table is empty")
	case x.needs != "":
		a.Tell(key + " needs " + x.needs + ": choose one in " + a.KeyOf(chosenIn(x.needs)))
	default:
		a.Tell(key + " has nothing to act on (" + x.title + ")" + help)
	}
}

// What actions need.
const (
	aSubscription = "a subscription"
	anEvent       = "an event"
	aServer       = "a configured server"
	aType         = "an event type"
)

// chosenIn is the action that leads to where a thing is chosen.
func chosenIn(needs string) string {
	if needs == anEvent {
		return "stream"
	}
	return "tree"
}

// placeWords names the places in which an action works.
func placeWords(panes []layout.Pane) string {
	if len(panes) == 0 {
		return "everywhere"
	}
	var words []string
	for _, p := range panes {
		words = append(words, map[layout.Pane]string{layout.Tree: "servers", layout.Stream: "stream", layout.Detail: "detail", layout.Subs: "subscriptions", layout.Log: "log"}[p])
	}
	return strings.Join(words, ", ")
}

// bound tells whether a key begins the keys of an action.
func (a *app) bound(key string) bool {
	if a.chord != "" {
		key = a.chord + " " + key
	}
	return slices.ContainsFunc(a.actions, func(x action) bool {
		return slices.ContainsFunc(x.keys, func(k string) bool { return k == key || strings.HasPrefix(k, key+" ") })
	})
}

// onOtherLayout names a key by its place on a PC keyboard, for layouts without
// Latin letters. Terminals tell the place if they can.
func onOtherLayout(k tea.KeyPressMsg) string {
	k.Code, k.BaseCode, k.Text = k.BaseCode, 0, ""
	if k.Mod == tea.ModShift {
		return strings.ToUpper(string(k.Code))
	}
	return k.Keystroke()
}
