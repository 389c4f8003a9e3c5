package palette_test

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/widget"
)

func TestPaletteFindsAndRuns(t *testing.T) {
	ran := ""
	pick := func(kind, text string) widget.Pick {
		return widget.Pick{Kind: kind, Text: cells.Sanitize(text), Find: widget.Findable(text, kind), Run: func() tea.Cmd { ran = text; return nil }}
	}
	var line string
	typing := palette.Lines{
		Command: func(line string) *palette.Command {
			if strings.HasPrefix(line, "goto ") {
				return &palette.Command{Name: "goto", Usage: "14:05 | #SEQ", Title: "go to a moment"}
			}
			return nil
		},
		Complete: func(string) []string { return nil },
		Run: func(text string) (tea.Cmd, error) {
			if line = text; strings.HasSuffix(text, "nowhere") {
				return nil, errors.New("no such moment")
			}
			return nil, nil
		},
	}
	s := &tuitest.Screen{}
	open := func(line string) {
		palette.Open(tuitest.Env(), s, typing, []widget.Pick{pick("stream", "follow the newest"), pick("server", "pager")}, line)
	}
	open("")
	if text := s.Text(80, 12); !strings.Contains(text, "follow the newest") || !strings.Contains(text, "pager") {
		t.Errorf("found:\n%s", text)
	}
	s.Press("p", "a", "g", "enter")
	if ran != "pager" || s.Dialog != nil {
		t.Errorf("ran %q", ran)
	}
	open("goto #5")
	if text := s.Text(80, 12); !strings.Contains(text, "go to a moment") {
		t.Errorf("the command is not explained:\n%s", text)
	}
	s.Press("enter")
	if line != "goto #5" || s.Dialog != nil {
		t.Errorf("ran the line %q", line)
	}
	open("goto nowhere")
	s.Press("enter")
	if text := s.Text(80, 12); s.Dialog == nil || !strings.Contains(text, "no such moment") {
		t.Errorf("what is wrong is not told:\n%s", text)
	}
}

func TestHelpListsUnderHeadings(t *testing.T) {
	ran := ""
	row := func(group, id, title, key string) palette.Row {
		return palette.Row{ID: id, Title: title, Group: group, Keys: []string{key}, Run: func() tea.Cmd { ran = id; return nil }}
	}
	s := &tuitest.Screen{}
	palette.OpenHelp(tuitest.Env(), s, []palette.Row{row("Stream", "follow", "follow the newest", "f"), row("Stream", "filter", "filter by words", "/"), row("Panes", "zoom", "the whole screen", "z")})
	text := s.Text(88, 12)
	if strings.Count(text, "Stream") != 1 || !strings.Contains(text, "Panes") || !strings.Contains(text, "filter by words") {
		t.Errorf("listed:\n%s", text)
	}
	if strings.Contains(text, " of 3") || !strings.Contains(s.Text(88, 3), "1-2 of 3") {
		t.Errorf("the position in the list:\n%s", s.Text(88, 3))
	}
	s.Press("down", "down")
	if text := s.Text(88, 3); !strings.Contains(text, "2-3 of 3") {
		t.Errorf("at its end:\n%s", text)
	}
	s.Press("z", "o", "o", "enter")
	if ran != "zoom" {
		t.Errorf("ran %q", ran)
	}
}
