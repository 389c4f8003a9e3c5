package palette_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/config"
	"eventdeck/themes"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
)

// deck is a table that records which actions ran and what it told.
type deck struct {
	palette.Table
	did    []string
	screen tuitest.Screen
	pane   layout.Pane

	needs string // the size that the screen would need
}

func newDeck(readOnly bool) *deck {
	d := &deck{pane: layout.Stream}
	d.Table = palette.Table{
		Focus: func() layout.Pane { return d.pane }, EmptyTable: func() bool { return false }, Unseen: func() string { return d.needs },
		Screen: &d.screen, Pressed: func(string, string) {}, ReadOnly: readOnly,
	}
	did := func(id string) func() tea.Cmd {
		return palette.Act(func() { d.did = append(d.did, id) })
	}
	d.Actions = slices.Concat(
		palette.Grouped("Program",
			palette.Action{ID: "palette", Title: "commands", Keys: []string{":"}, Hint: "commands", Run: did("palette")},
			palette.Action{ID: "help", Title: "what works", Keys: []string{"?"}, Hint: "help", Run: did("help")},
			palette.Action{ID: "quit", Title: "leave", Keys: []string{"q"}, Hint: "quit", Run: did("quit")}),
		palette.Grouped("Stream",
			palette.Action{ID: "end", Title: "end it", Keys: []string{"D"}, Hint: "end", Dangerous: true, Run: did("end")},
			palette.Action{ID: "copy", Title: "copy the text", Keys: []string{"y p"}, Menu: "copy", Hint: "text", Run: did("copy")},
			palette.Action{ID: "fold", Title: "fold", Keys: []string{"h"}, Panes: []layout.Pane{layout.Tree}, Run: did("fold")},
			palette.Action{ID: "open", Title: "open", Keys: []string{"o"}, Needs: palette.Event, When: func() bool { return false }, Run: did("open")}))
	d.Commands = []palette.ActionCommand{
		{Name: "goto", Usage: "TIME", Title: "go there", Run: func(words []string) (tea.Cmd, error) {
			if len(words) != 1 {
				return nil, d.Usage("goto")
			}
			d.did = append(d.did, "goto "+words[0])
			return nil, nil
		}, Complete: func([]string) []string { return []string{"now", "a day"} }},
		{Name: "drop", Dangerous: true, Run: func([]string) (tea.Cmd, error) { return nil, nil }},
	}
	return d
}

func TestKeysRunActions(t *testing.T) {
	d := newDeck(false)
	for _, k := range []string{"D", "y", "p", "y", "esc", "q"} {
		d.Press(k)
	}
	if got := strings.Join(d.did, " "); got != "end copy quit" {
		t.Errorf("done is %q", got)
	}
}

// A sequence ends at the first key that it does not know, which then means itself; its own first key
// does what it does with enter.
func TestSequencesEndAtAnUnknownKey(t *testing.T) {
	for keys, want := range map[string]string{
		"m enter D": "mark end", "m n D": "note end", "m D": "mark end", "m esc D": "end", "m y p": "mark copy",
		"y D": "end", "y y p": "copy", "m x D": "mark end", "m m": "mark", "y q": "quit",
	} {
		d := newDeck(false)
		d.Actions = append(d.Actions, palette.Grouped("Marks",
			palette.Action{ID: "mark", Title: "mark it", Keys: []string{"m enter"}, Run: palette.Act(func() { d.did = append(d.did, "mark") })},
			palette.Action{ID: "note", Title: "note", Keys: []string{"m n"}, Run: palette.Act(func() { d.did = append(d.did, "note") })})...)
		for _, k := range strings.Fields(keys) {
			d.Press(k)
		}
		if got := strings.Join(d.did, " "); got != want {
			t.Errorf("%s did %q, not %q", keys, got, want)
		}
		n, awaits := d.AwaitSecond()
		if awaits != (keys == "m m") {
			t.Errorf("after %s a second key is awaited: %v", keys, awaits)
		}
		if _, again := d.AwaitSecond(); awaits && (again || d.AloneAfter(n-1) != nil || d.Chord == "") {
			t.Error("it is awaited twice, or an earlier time ends the sequence")
		}
	}
}

func TestUnusedKeySaysWhy(t *testing.T) {
	for key, want := range map[string]string{
		"x": "x does nothing here; ? lists what works",
		"h": "h works in servers (fold); ? lists",
		"o": "o needs an event: choose one in :stream",
	} {
		d := newDeck(false)
		d.Press(key)
		if !strings.HasPrefix(d.screen.Told, want) || d.did != nil {
			t.Errorf("%s did %v and told %q", key, d.did, d.screen.Told)
		}
	}
	d := newDeck(true)
	if d.Press("D"); !strings.Contains(d.screen.Told, "only reads") || d.did != nil {
		t.Errorf("told is %q", d.screen.Told)
	}
	if d.Perform(d.Find("end")); !errors.Is(d.screen.Failed, palette.ErrReadOnly) || d.did != nil {
		t.Errorf("failed: %v", d.screen.Failed)
	}
	d = newDeck(false)
	d.needs = "40x10"
	if d.Press("D"); d.screen.Told != "end it needs a screen of 40x10" || d.did != nil {
		t.Errorf("where it cannot be seen it did %v and told %q", d.did, d.screen.Told)
	}
}

func TestTypedLinesAreExecuted(t *testing.T) {
	d := newDeck(false)
	for line, want := range map[string]error{
		"":           nil,
		"goto now":   nil,
		"end":        nil,
		"goto":       palette.ErrUsage,
		`goto "`:     palette.ErrUsage,
		"gato":       palette.ErrCommand,
		"help me":    palette.ErrUsage,
		"copy 'now'": palette.ErrUsage,
	} {
		if _, err := d.Execute(line); !errors.Is(err, want) {
			t.Errorf("%q: %v", line, err)
		}
	}
	if _, err := d.Execute("gato"); !strings.Contains(err.Error(), `did you mean "goto"?`) {
		t.Error(err)
	}
	if _, err := d.Execute("open"); err == nil || !strings.Contains(err.Error(), "needs an event") {
		t.Error(err)
	}
	if _, err := newDeck(true).Execute("drop"); !errors.Is(err, palette.ErrReadOnly) {
		t.Error(err)
	}
	if got := d.Completions("goto A"); !slices.Equal(got, []string{`goto "a day"`}) {
		t.Errorf("completed to %q", got)
	}
	if got := d.Completions("got"); got != nil {
		t.Errorf("a name is completed to %q", got)
	}
}

func TestOperatorKeysReplaceDefaults(t *testing.T) {
	d := newDeck(false)
	problems := palette.Bind(d.Actions, []config.KeyBinding{
		{Action: "fold", Keys: []string{"shift+d", ""}, Where: "f:1"},
		{Action: "fould", Keys: []string{"f"}, Where: "f:2"},
	})
	if d.KeyOf("fold") != "D" || d.KeyOf("end") != ":end" {
		t.Errorf("fold has %q, end %q", d.KeyOf("fold"), d.KeyOf("end"))
	}
	all := strings.Join(problems, "\n")
	for _, want := range []string{"a key is missing", `did you mean "fold"?`, `f:1: D is the key of "fold", which takes it from "end" (built in)`} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not told in\n%s", want, all)
		}
	}
}

func TestKeyIsFoundByItsPosition(t *testing.T) {
	d := newDeck(false)
	key := tea.KeyPressMsg{Code: 'п', Text: "П", BaseCode: 'd', Mod: tea.ModShift}
	if got := d.Name(key); got != "D" {
		t.Errorf("the place is %q", got)
	}
	d.Find("end").Keys = []string{"П"}
	if got := d.Name(key); got != "П" {
		t.Errorf("the operator's letter is %q", got)
	}
}

func TestHintsFitTheLine(t *testing.T) {
	d := newDeck(false)
	theme := themes.For(true, themes.NoColours)
	for want, line := range map[string]string{
		" D end  y copy  : commands  ? help  q quit": d.Hints(&theme, 80, nil),
		" : commands  ? help  q quit":                d.Hints(&theme, 30, nil),
		" D end  : commands  ? help  q quit":         d.Hints(&theme, 35, nil),
		" esc back":                                  d.Hints(&theme, 80, []string{"esc", "back"}),
	} {
		if got := strings.TrimRight(tuitest.Plain([]string{line}), " "); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	d.Press("y")
	if got := strings.TrimRight(tuitest.Plain([]string{d.Hints(&theme, 80, nil)}), " "); got != " p text  esc back" {
		t.Errorf("after the first of two keys: %q", got)
	}
}
