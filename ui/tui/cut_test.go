package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/query"
)

// A question that is cut off takes no answer; the screen says the size that it needs.
func TestCutQuestionIsNotAnswered(t *testing.T) {
	for _, size := range [][2]int{{20, 3}, {39, 9}, {40, 10}, {12, 1}} {
		h := incident()
		a := open(t, h, 120, 40)
		press(t, a, "1", "j", "j", "j", "j", "j", "D")
		if a.dialog == nil {
			t.Fatal("nothing is asked")
		}
		a.tree.At = query.Node{}
		a.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		exact(t, a)
		if s := strings.Join(strings.Fields(screenOf(a)), " "); size[0] >= 20 && !strings.Contains(s, "needs") {
			t.Errorf("at %v it does not say what it needs:\n%s", size, s)
		}
		if press(t, a, "y"); len(h.ended) != 0 {
			t.Errorf("at %v it ended a subscription that was not shown", size)
		}
		if press(t, a, "esc"); a.dialog != nil {
			t.Errorf("at %v esc does not close the question", size)
		}
	}
}

// On a screen without panes, keys that would change something only say which size they need.
func TestTinyScreenChangesNothing(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	press(t, a, "1", "j", "j", "j", "j")
	a.Update(tea.WindowSizeMsg{Width: 20, Height: 3})
	for _, key := range []string{"D", "y", "P", "u", "M", "enter"} {
		press(t, a, key)
	}
	if len(h.ended)+len(h.paused)+len(h.did) != 0 || a.dialog != nil {
		t.Errorf("ended %v, paused %v, did %v", h.ended, h.paused, h.did)
	}
	press(t, a, "D")
	if s := screenOf(a); !strings.Contains(s, "unsubscribe needs") {
		t.Errorf("it is not told:\n%s", s)
	}
	exact(t, a)
	press(t, a, "|", "x", "enter")
	if s := screenOf(a); !strings.Contains(s, "needs") {
		t.Errorf("a line that cannot be seen is taken:\n%s", s)
	}
}
