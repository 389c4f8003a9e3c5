package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// fields returns functions that open a screen with the focus in a field.
func fields() map[string]func(t *testing.T) *app {
	onIncident := func(keys ...string) func(t *testing.T) *app {
		return func(t *testing.T) *app {
			a := open(t, incident(), 160, 45)
			press(t, a, keys...)
			return a
		}
	}
	return map[string]func(t *testing.T) *app{
		"the palette":       onIncident(":"),
		"help":              onIncident("?", "/"),
		"the filter":        onIncident("/"),
		"the search":        onIncident("2", "\\"),
		"a mark":            onIncident("2", "m", "n"),
		"the list of marks": onIncident("2", "m", "n", "enter", "'"),
		"a file":            onIncident("2", "w"),
		"rows of a table":   onIncident("4", "/"),
		"lines of a log":    onIncident("5", "/"),
		"a report":          onIncident("2", "E"),
		"a pipe":            onIncident("2", "|"),
		"the views":         onIncident("p"),
		"a view":            onIncident("p", "ctrl+s"),
		"a reason to deny": func(t *testing.T) *app {
			a, _ := openReact(t, reacting(), 160, 45)
			press(t, a, "ctrl+x")
			return a
		},
		"an argument": func(t *testing.T) *app {
			a, _ := openedForm(t, orders(), 160, 45)
			return a
		},
		"a new server": func(t *testing.T) *app {
			a := newcomer(t, newFake(), 160, 45, "")
			press(t, a, "A")
			return a
		},
	}
}

// All fields type, edit and paste text in the same way.
func TestFieldsEditInTheSameWay(t *testing.T) {
	for name, opened := range fields() {
		t.Run(name, func(t *testing.T) { editEverywhere(t, opened(t)) })
	}
}

// editEverywhere tests editing in the field with the focus.
func editEverywhere(t *testing.T, a *app) {
	for _, x := range []struct{ keys, has, hasNot string }{
		{"one space two space three", "one two three", ""},
		{"ctrl+w", "one two", "three"},
		{"ctrl+z", "one two three", ""},
		{"ctrl+w ctrl+_", "one two three", ""},
		{"ctrl+left ctrl+left X", "one Xtwo three", ""},
		{"alt+right Y", "one XtwoY three", ""},
		{"ctrl+k", "one XtwoY", "three"},
		{"ctrl+z ctrl+z", "one Xtwo three", ""},
		{"end ctrl+u", "", "one"},
		{"🇩🇪 ж\u0301 世 backspace", "🇩🇪ж\u0301", "世"},
		{"backspace", "🇩🇪", "ж"},
		{"left right backspace z", "z", "🇩"},
	} {
		for _, k := range strings.Fields(x.keys) {
			press(t, a, typedKeys(k)...)
			exact(t, a)
		}
		if line := cursorLine(t, a); !strings.Contains(line, x.has) || x.hasNot != "" && strings.Contains(line, x.hasNot) {
			t.Errorf("after %s: %q, without %q, is not in %q", x.keys, x.has, x.hasNot, line)
		}
	}
	press(t, a, "ctrl+u")
	settle(a, a.update(tea.PasteMsg{Content: "p\rq\r\nr\ns\x1b[2J\u202e\x00\x07\u200bt\u009bu"}))
	exact(t, a)
	if line := cursorLine(t, a); !strings.Contains(line, "p q r s[2Jtu") {
		t.Errorf("what was pasted stands as %q", line)
	}
}

// typedKeys returns the keys of a word: a key by its name, or the letters one by one.
func typedKeys(word string) []string {
	if _, ok := named[word]; ok || strings.HasPrefix(word, "ctrl+") || len([]rune(word)) < 2 || word > "~" {
		return []string{word}
	}
	return typed(word)
}

// cursorLine returns the line of the screen with the cursor.
func cursorLine(t *testing.T, a *app) string {
	t.Helper()
	v := a.View()
	if v.Cursor == nil {
		t.Fatalf("no field has the cursor:\n%s", screenOf(a))
	}
	return strings.Split(screenOf(a), "\n")[v.Cursor.Y]
}
