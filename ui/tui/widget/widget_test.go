package widget_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/widget"
)

// typed returns the key of a name.
func typed(name string) tea.KeyPressMsg { return tuitest.Keys(name)[0] }

func TestFieldEditsWordsAndCharacters(t *testing.T) {
	for _, c := range []struct {
		several    bool
		text, want string
		keys       string
	}{
		{text: "one two three", keys: "ctrl+w", want: "one two "},
		{text: "one two three", keys: "ctrl+left ctrl+left X", want: "one Xtwo three"},
		{text: "one two", keys: "home ctrl+right ctrl+k", want: "one"},
		{text: "one two", keys: "ctrl+left ctrl+u", want: "two"},
		{text: "one two", keys: "home alt+d", want: " two"},
		{text: "one", keys: "ctrl+w ctrl+z", want: "one"},
		{text: "", keys: "a b c ctrl+z", want: ""},
		{text: "one", keys: "backspace backspace ctrl+z ctrl+z ctrl+z", want: "one"},
		{text: "e\u0301a\u0308", keys: "backspace", want: "e\u0301"},
		{text: "x👩‍👩‍👧", keys: "backspace", want: "x"},
		{text: "👩‍👩‍👧x", keys: "home right y", want: "👩‍👩‍👧yx"},
		{text: "👩‍👩‍👧x", keys: "home delete", want: "x"},
		{text: "a\nb", keys: "enter", want: "a b"},
		{several: true, text: "a\nb", keys: "enter c", want: "a\nb\nc"},
		{several: true, text: "ab\ncd", keys: "up home right enter", want: "a\nb\ncd"},
		{several: true, text: "ab\ncd", keys: "home backspace", want: "abcd"},
		{several: true, text: "ab\ncd", keys: "up end delete", want: "abcd"},
		{several: true, text: "ab\ncd", keys: "home left X right Y", want: "abX\nYcd"},
		{several: true, text: "ab\ncd", keys: "home backspace ctrl+z Z", want: "ab\nZcd"},
		{several: true, text: "🇩🇪x\nab", keys: "left up y", want: "y🇩🇪x\nab"},
		{text: "ab", keys: "shift+backspace", want: "a"},
		{text: "ab", keys: "backspace ctrl+_", want: "ab"},
		{text: "ab", keys: "backspace ctrl+shift+-", want: "ab"},
		{text: "a\rb\r\nc", keys: "", want: "a b c"},
		{several: true, text: "a\rb\r\nc", keys: "", want: "a\nb\nc"},
		{text: "a\x1b[31m\u202eb\tc", keys: "", want: "a[31mb c"},
	} {
		f := widget.Field{Multiline: c.several}
		f.Set(c.text)
		for _, k := range strings.Fields(c.keys) {
			f.Key(typed(k))
		}
		if got := f.Text(); got != c.want {
			t.Errorf("%q, then %s: %q, want %q", c.text, c.keys, got, c.want)
		}
	}
}

func TestKeyReportsChanges(t *testing.T) {
	var f widget.Field
	for _, k := range []string{"left", "home", "enter", "up", "backspace", "delete", "ctrl+k", "ctrl+z", "tab"} {
		if f.Key(typed(k)) {
			t.Errorf("%s changed an empty field", k)
		}
	}
	if !f.Key(typed("x")) || !f.Key(typed("backspace")) {
		t.Error("a change is not told")
	}
}

func TestCursorIsAtTheEndOfTheText(t *testing.T) {
	none := themes.For(true, themes.NoColours)
	for text, want := range map[string]int{"": 3, "ab": 5, "日本": 7, "a very long line that does not fit": 9} {
		var f widget.Field
		f.Set(text)
		var c cells.Canvas
		c.Begin(&none, 10)
		c.Put(themes.Plain, " : ")
		f.DrawLine(&c, 0, true)
		c.End()
		if c.Cursor != (cells.Point{X: want}) {
			t.Errorf("%q: the cursor is at %v, want %d", text, c.Cursor, want)
		}
		if row := ansi.Strip(c.Top()); !strings.HasSuffix(strings.TrimRight(row, " "), text[max(0, len(text)-3):]) {
			t.Errorf("%q: the end is out of sight: %q", text, row)
		}
	}
}

// A paste that does not fit is cut, and the field says so until the next key.
func TestLongPasteIsCutWithAWord(t *testing.T) {
	none := themes.For(true, themes.NoColours)
	shown := func(f *widget.Field) string {
		var c cells.Canvas
		c.Begin(&none, 60)
		f.DrawLine(&c, f.Row(), true)
		c.End()
		if c.Cursor.X < 0 || c.Cursor.X >= 60 {
			t.Errorf("the cursor is at %v", c.Cursor)
		}
		return ansi.Strip(c.Top())
	}
	for several, most := range map[bool]int{false: 8 << 10, true: 64 << 10} {
		f := widget.Field{Multiline: several}
		f.Set("<>")
		f.Key(typed("left"))
		f.Insert(strings.Repeat("日本語", 1<<20/9))
		text := f.Text()
		if len(text) > most || len(text) < most-2 || !strings.HasPrefix(text, "<日") || !strings.HasSuffix(text, "語>") && !strings.HasSuffix(text, "本>") && !strings.HasSuffix(text, "日>") {
			t.Errorf("%d bytes are kept, %q to %q", len(text), text[:9], text[len(text)-9:])
		}
		if row := shown(&f); !strings.Contains(row, "did not fit") || !strings.Contains(row, "日") {
			t.Errorf("nothing is said: %q", row)
		}
		f.Key(typed("日"))
		f.Key(typed("end"))
		if row := shown(&f); strings.Contains(row, "did not fit") || f.Text() != text {
			t.Errorf("after a key: %q, %d bytes", row, len(f.Text()))
		}
		f.Key(typed("ctrl+z"))
		if f.Text() != "<>" {
			t.Errorf("undo leaves %d bytes", len(f.Text()))
		}
	}
}

// What is hidden left of the field is marked, and the cursor stays in sight.
func TestLongLineIsMarkedWhereItIsCut(t *testing.T) {
	none := themes.For(true, themes.NoColours)
	for _, text := range []string{strings.Repeat("abcdefgh ", 99), strings.Repeat("👩‍👩‍👧", 99), strings.Repeat("क्षि", 99), strings.Repeat("a\u200d", 99)} {
		var f widget.Field
		f.Set(text)
		for range 5 {
			var c cells.Canvas
			c.Begin(&none, 20)
			f.DrawLine(&c, 0, true)
			c.End()
			if row := ansi.Strip(c.Top()); c.Cursor.X < 1 || c.Cursor.X > 19 || ansi.StringWidth(row) != 20 || !strings.HasPrefix(row, "…") {
				t.Errorf("%.20q: %q, cursor %v", text, row, c.Cursor)
			}
			f.Key(typed("left"))
		}
	}
}

func TestMaskedFieldShowsNoCharacter(t *testing.T) {
	f := widget.Field{Mask: func(line string) string { return strings.Repeat("*", len([]rune(line))) }}
	f.Set("hunter2")
	f.Key(typed("left"))
	none := themes.For(true, themes.NoColours)
	var c cells.Canvas
	c.Begin(&none, 20)
	f.DrawLine(&c, 0, true)
	c.End()
	if row := strings.TrimSpace(ansi.Strip(c.Top())); row != "*******" || c.Cursor.X != 6 {
		t.Errorf("%q, cursor %v", row, c.Cursor)
	}
}

func TestConfirmRunsTheChoiceAfterItHasClosed(t *testing.T) {
	s := &tuitest.Screen{}
	ran, gone := 0, 0
	d := &widget.Confirm{Screen: s, Head: "Quit", Choices: []widget.Choice{{Key: "y", Title: "yes", Run: func() tea.Cmd {
		if ran++; s.Dialog != nil {
			t.Error("it is still open")
		}
		return nil
	}}}, Cancelled: func() { gone++ }}
	s.Show(d)
	d.Key(typed("x"))
	if d.Key(typed("y")); ran != 1 || gone != 0 {
		t.Errorf("ran %d times, left %d times", ran, gone)
	}
	s.Show(d)
	if d.Key(typed("esc")); s.Dialog != nil || ran != 1 || gone != 1 {
		t.Errorf("after esc: %v is open, ran %d times, left %d times", s.Dialog, ran, gone)
	}
}

func TestPromptStaysOpenOnAProblem(t *testing.T) {
	p := &widget.Prompt{Label: "/", Past: []string{"earlier"}}
	p.Done = func(text string) tea.Cmd {
		if text != "good" {
			p.Problem = "not good"
		}
		return nil
	}
	for _, k := range []string{"b", "a", "d", "enter"} {
		if _, open := p.Key(typed(k)); !open {
			t.Fatalf("closed by %s", k)
		}
	}
	p.Key(typed("up"))
	if p.Field.Text() != "earlier" {
		t.Errorf("up shows %q", p.Field.Text())
	}
	if p.Key(typed("down")); p.Field.Text() != "bad" {
		t.Errorf("down loses what was typed: %q", p.Field.Text())
	}
	p.Field.Set("good")
	if _, open := p.Key(typed("enter")); open {
		t.Error("it stays open")
	}
}

func TestTypingReplacesSelectedText(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string
	}{{[]string{"x", "y"}, "xy"}, {[]string{"backspace"}, "ol"}, {[]string{"left", "x"}, "olxd"}, {[]string{"end", "x"}, "oldx"}, {[]string{"x", "ctrl+z"}, "old"}, {nil, "old"}} {
		var f widget.Field
		f.Set("old")
		f.Select()
		for _, k := range c.keys {
			f.Key(typed(k))
		}
		if f.Text() != c.want {
			t.Errorf("%v: %q, not %q", c.keys, f.Text(), c.want)
		}
	}
	var f widget.Field
	f.Set("old")
	f.Select()
	if f.Insert("new"); f.Text() != "new" {
		t.Errorf("pasted: %q", f.Text())
	}
}

func TestPickerFindsByStartsOfWords(t *testing.T) {
	var all []widget.Pick
	for _, text := range []string{"unsubscribe", "subscribe to a type", "describe"} {
		all = append(all, widget.Pick{Text: cells.Sanitize(text), Find: widget.Findable(text)})
	}
	p := widget.NewPicker(all)
	for _, k := range []string{"s", "u", "b"} {
		p.Key(typed(k))
	}
	if x := p.Chosen(); x == nil || x.Text.Plain() != "subscribe to a type" {
		t.Errorf("%+v", x)
	}
	p.Insert("zzz")
	if p.Chosen() != nil {
		t.Error("nothing has this text")
	}
}

func TestHistoryHasEachLineOnce(t *testing.T) {
	past := widget.Remember(widget.Remember(widget.Remember(nil, "a"), "b"), "a")
	if strings.Join(past, " ") != "a b" {
		t.Errorf("%q", past)
	}
}
