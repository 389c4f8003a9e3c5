package widget_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/widget"
)

// lines returns the rows that draw writes at a width of 40 cells, without trailing blanks.
func lines(draw func(c *cells.Canvas)) []string {
	var c cells.Canvas
	env := tuitest.Env()
	c.Begin(&env.Theme, 40)
	draw(&c)
	var out []string
	for _, row := range strings.Split(tuitest.Plain(c.All()), "\n") {
		out = append(out, strings.TrimRight(row, " "))
	}
	return out
}

// A question says what each key and esc do; long texts are wrapped.
func TestConfirmShowsWhatEachKeyDoes(t *testing.T) {
	d := &widget.Confirm{Head: "End", Lines: []string{"The subscription ends, and what it has stored stays where it is."}, Choices: []widget.Choice{{Key: "y", Title: "end it"}}}
	w, h := d.Size(44, 20)
	if got := d.Rows(w); w != 40 || got != 5 || h != got+1 {
		t.Errorf("%d cells, %d of %d rows", w, got, h)
	}
	want := []string{" The subscription ends, and what it", " has stored stays where it is.", "", " y     end it", " esc   go back, nothing happens"}
	if got := lines(func(c *cells.Canvas) { d.Draw(c, 5) }); !slices.Equal(got, want) {
		t.Errorf("it draws %q", got)
	}
	if got := d.Hints(); !slices.Equal(got, []string{"y", "choose", "esc", "back"}) {
		t.Errorf("its hints are %q", got)
	}
	d.Choices = append(d.Choices, widget.Choice{Key: "esc", Title: "keep it"})
	if got := lines(func(c *cells.Canvas) { d.Draw(c, 5) }); got[len(got)-1] != " esc   keep it" {
		t.Errorf("with a choice for esc: %q", got)
	}
}

func TestNumberedRowsAreChosenByDigitOrEnter(t *testing.T) {
	for keys, want := range map[string]int{"2": 1, "down down up enter": 1, "j j j enter": 2, "9 enter": 0, "esc": -1} {
		took := -1
		s := &tuitest.Screen{}
		d := &widget.Numbered{Screen: s, Glyphs: &cells.UnicodeGlyphs, Head: "Which?", Says: "follows it", Take: func(i int) tea.Cmd { took = i; return nil }}
		for i := range 3 {
			d.Rows = append(d.Rows, widget.Row{Name: cells.Sanitize(fmt.Sprintf(".id%d", i)), Value: cells.Sanitize(fmt.Sprintf("INC-%d", i))})
		}
		s.Show(d)
		if text := s.Text(40, 6); !strings.Contains(text, "follows it") || !strings.Contains(text, "3 .id2  INC-2") {
			t.Fatalf("it shows\n%s", text)
		}
		if s.Press(strings.Fields(keys)...); took != want || s.Dialog != nil {
			t.Errorf("%s takes %d, not %d; shown is %v", keys, took, want, s.Dialog)
		}
	}
}

func TestTextBoxScrollsAndCloses(t *testing.T) {
	s := &tuitest.Screen{}
	d := &widget.TextBox{Screen: s, Head: "Settings"}
	for i := range 9 {
		d.Lines = append(d.Lines, fmt.Sprintf("line %d", i))
	}
	s.Show(d)
	for _, c := range []struct{ key, first string }{{"", "line 0"}, {"j", "line 1"}, {"k", "line 0"}, {"space", "line 2"}, {"G", "line 5"}, {"pgup", "line 3"}, {"home", "line 0"}} {
		if c.key != "" {
			s.Press(c.key)
		}
		if text := s.Text(40, 4); !strings.HasPrefix(text, c.first) {
			t.Errorf("after %q:\n%s", c.key, text)
		}
	}
	if s.Press("enter"); s.Dialog != nil {
		t.Error("it stays open")
	}
}

// A picker lists the matches of its field, shows the position in a long list, and keeps the typed
// text when the list changes.
func TestPickerListsMovesAndRefills(t *testing.T) {
	picks := func(n int) (all []widget.Pick) {
		for i := range n {
			text := fmt.Sprintf("view %02d", i)
			all = append(all, widget.Pick{Text: cells.Sanitize(text), Find: text})
		}
		return all
	}
	p := widget.NewPicker(picks(20))
	draw := func(c *cells.Canvas) {
		p.DrawField(c, "/", 4)
		p.DrawList(&cells.UnicodeGlyphs, c, 4, func(c *cells.Canvas, x *widget.Pick) { c.Safe(0, x.Text) })
	}
	for _, c := range []struct{ keys, where, chosen string }{
		{"", "1-4 of 20", "view 00"}, {"down down up", "1-4 of 20", "view 01"}, {"pgdown pgdown", "3-6 of 20", "view 05"}, {"pgup", "3-6 of 20", "view 03"},
	} {
		for _, k := range strings.Fields(c.keys) {
			p.Key(typed(k))
		}
		got := strings.Join(lines(draw), "\n")
		if !strings.Contains(got, c.where) || !strings.Contains(got, "▶"+c.chosen) || p.Chosen().Text.Plain() != c.chosen {
			t.Errorf("after %q %q is chosen:\n%s", c.keys, p.Chosen().Text.Plain(), got)
		}
	}
	p.Insert("view 05")
	p.Refill(picks(12))
	if len(p.Found) != 1 || p.Field.Text() != "view 05" {
		t.Errorf("%q finds %v", p.Field.Text(), p.Found)
	}
}

// Below its text a prompt shows help, or what is wrong. Long messages are wrapped, and a mark shows
// that the last line is cut.
func TestPromptShowsOneMessage(t *testing.T) {
	changed, tabbed, gone := "", 0, 0
	p := &widget.Prompt{Label: "filter:", Says: "enter keeps it", Change: func(text string) { changed = text }, Tab: func() tea.Cmd { tabbed++; return nil }, Cancelled: func() { gone++ }}
	says := func() string { return strings.Join(lines(p.Draw)[1:], "|") }
	if got := says(); got != " enter keeps it" {
		t.Errorf("at first %q", got)
	}
	p.Offers = "sev: server:"
	if got := says(); got != " sev: server:" {
		t.Errorf("completions %q", got)
	}
	p.Insert("sev:")
	if got := says(); changed != "sev:" || got != " enter keeps it" {
		t.Errorf("pasted %q, it says %q", changed, got)
	}
	p.Warning = "taken as a word"
	p.Problem = strings.Repeat("there is no such severity, ", 9)
	if got := strings.Split(says(), "|"); len(got) != 3 || !strings.HasSuffix(got[2], trust.CutMark) {
		t.Errorf("a long problem is %q", got)
	}
	if _, open := p.Key(typed("tab")); tabbed != 1 || !open {
		t.Errorf("tab completes %d times", tabbed)
	}
	if _, open := p.Key(typed("esc")); gone != 1 || open {
		t.Errorf("esc leaves it %d times", gone)
	}
}

func TestLessonsNameKeys(t *testing.T) {
	got := lines(func(c *cells.Canvas) {
		widget.DrawLessons(c, "No servers yet.", []widget.Lesson{{Key: "A", Text: "add a server"}, {Key: "d", Text: "try demo servers"}})
	})
	if want := []string{"  No servers yet.", "", "  A    add a server", "  d    try demo servers"}; !slices.Equal(got, want) {
		t.Errorf("it draws %q", got)
	}
}

func TestMultilineFieldKnowsItsCursor(t *testing.T) {
	f := widget.Field{Multiline: true}
	f.Set("one\ntwo\nthree")
	if f.Row() != 2 || f.Column() != 5 || f.AtTop() || !f.AtBottom() {
		t.Errorf("at first row %d, column %d", f.Row(), f.Column())
	}
	f.SetColumn(1)
	f.Key(typed("up"))
	if f.Key(typed("up")); f.Row() != 0 || f.Column() != 1 || !f.AtTop() || f.AtBottom() {
		t.Errorf("after up row %d, column %d", f.Row(), f.Column())
	}
}
