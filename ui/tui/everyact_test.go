package tui

import (
	"strings"
	"testing"

	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// Each action runs by its typed id, or by a command of the same name.
func TestEveryActionHasACommand(t *testing.T) {
	for _, x := range open(t, incident(), 160, 45).actionRows() {
		if x.Passing || x.KeyOnly {
			continue
		}
		h := incident()
		a := open(t, h, 160, 45)
		places := x.Panes
		if len(places) == 0 {
			places = []layout.Pane{layout.Stream}
		}
		for _, p := range places {
			a.panes.Enter(p)
			y := a.actions.Find(x.ID)
			if y == nil || strings.ContainsAny(y.ID, " \t") {
				t.Fatalf("%q cannot be typed", x.ID)
			}
			if a.actions.Command(y.ID) != nil {
				continue // a command of its own has the name
			}
			if _, err := a.actions.Execute(y.ID); err != nil && a.actions.Works(y) {
				t.Errorf(":%s in pane %v: %v", y.ID, p, err)
			} else if err != nil && !strings.Contains(err.Error(), "does not work here") && !strings.Contains(err.Error(), "needs") {
				t.Errorf(":%s says %v", y.ID, err)
			}
		}
	}
}

// Common words find the action.
func TestActionsAreFoundByCommonWords(t *testing.T) {
	a := open(t, incident(), 160, 45)
	press(t, a, "2")
	for word, id := range map[string]string{
		"histogram": "timeline", "graph": "timeline", "severity": "filter", "bookmark": "mark", "health": "quiet",
		"clipboard": "copy", "metrics": "stats", "keyboard": "", "retry": "sub.refresh", "poll now": "sub.refresh",
	} {
		if id == "" {
			continue
		}
		found := false
		for _, p := range a.everything() {
			found = found || strings.Contains(p.Find, id+" ") && containsAll(p.Find, word)
		}
		if !found {
			t.Errorf("%q does not find %s", word, id)
		}
	}
}

// What people call things finds the right action first, wherever the focus is.
func TestWordsOfOperatorsFindTheRightActionFirst(t *testing.T) {
	for _, place := range [][]string{{"2"}, {"1", "j", "j", "j", "j"}} {
		a, _ := openReact(t, reacting(), 160, 45)
		press(t, a, place...)
		for word, id := range map[string]string{"mute": "type.hide", "hide": "type.hide", "noise": "type.hide", "follow": "follow"} {
			p := widget.NewPicker(a.everything())
			p.Insert(word)
			if x := p.Chosen(); x == nil || x.Text.Plain() != cells.Sanitize(a.actions.Find(id).Title).Plain() {
				t.Errorf("after %v %q finds %+v first", place, word, x)
			}
		}
	}
	a := open(t, incident(), 160, 45)
	press(t, a, "2")
	for word, id := range map[string]string{"customer": "value.filter", "acknowledge": "mark", "fold": "repeats", "level": "filter"} {
		p := widget.NewPicker(a.everything())
		p.Insert(word)
		if x := p.Chosen(); x == nil || x.Text.Plain() != cells.Sanitize(a.actions.Find(id).Title).Plain() {
			t.Errorf("%q finds %+v first", word, x)
		}
	}
}

// Help has keys: an action without one is in the palette alone.
func TestHelpHasNoEmptyKeys(t *testing.T) {
	for _, place := range [][]string{{"1"}, {"2"}, {"2", "enter"}, {"4"}, {"5"}, {"6"}} {
		a, _ := openReact(t, reacting(), 160, 45)
		press(t, a, append(place, "?")...)
		for _, row := range a.dialog.(*palette.Help).Rows {
			if len(row.Keys) == 0 {
				t.Errorf("after %v help lists %s, which has no key", place, row.ID)
			}
		}
	}
}

// In the tree the chosen type is hidden, and the stream shows the others of its server.
func TestTypesAreHiddenFromTheTree(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, "1", "j", "j", "j", "j")
	if at := a.tree.At; at.Type.Raw() != "incident.created" {
		t.Fatalf("chosen is %+v", at)
	}
	settle(a, must(t, a, "type.hide"))
	if q := a.stream.Query; q.Text != `!type:="incident.created"` || q.Node != (query.Node{Server: "pager"}) {
		t.Errorf("the stream shows %+v", q)
	}
}

func containsAll(text, words string) bool {
	for _, w := range strings.Fields(words) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// In the demo a command line has the address of a server instead of its name, which another process
// does not know.
func TestCommandLinesOfTheDemo(t *testing.T) {
	h := incident()
	h.snap.Servers[1].Address = "eventdeck demo-server chat"
	a := openWith(t, h, Options{Demo: true, Theme: "none"})
	if got := a.demo.Command("pager", "eventdeck tail pager x --mode push"); got != "eventdeck tail http://127.0.0.1:7000/mcp x --mode push" {
		t.Errorf("of a server with an address: %q", got)
	}
	if got := a.demo.Command("chat", "eventdeck tail chat x"); got != "" {
		t.Errorf("of a process of this one: %q", got)
	}
	a.demo.All = false
	if got := a.demo.Command("chat", "eventdeck tail chat x"); got != "eventdeck tail chat x" {
		t.Errorf("of a configured one: %q", got)
	}
}
