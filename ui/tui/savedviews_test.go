package tui

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
)

// begin returns the screen of a run that opens a view; "" for none.
func begin(t *testing.T, h *fakeHost, view string) *app {
	t.Helper()
	a := newApp(context.Background(), Options{API: h, Env: quiet, Theme: "none", View: view, Now: func() time.Time { return start }})
	a.update(tea.WindowSizeMsg{Width: 200, Height: 50})
	a.draw()
	flush(a)
	return a
}

// A view is saved under a name, and opened from the list, a typed line, the palette, the tree, and at
// the start of another run.
func TestViewIsSavedAndOpened(t *testing.T) {
	h := talk(30)
	a := begin(t, h, "")
	press(t, a, "2", "\"", "1", "j", "j", "j", "j", "2", "/")
	word(t, a, "sev:P1")
	press(t, a, "enter", "k", "k", "p")
	word(t, a, "on call")
	press(t, a, "ctrl+s")
	if text := screenOf(a); a.dialog != nil || !strings.Contains(text, "view saved as on call") || !strings.Contains(text, "on call  all servers  over  pager") {
		t.Fatalf("not saved:\n%s", text)
	}
	shows := func(a *app, how string) {
		t.Helper()
		place := query.Node{Server: "pager", Type: trust.Untrusted("incident.created")}
		s, o := &a.stream.Stream, &a.stream.Other
		if !a.stream.Two || a.panes.Streams != layout.Under || !a.panes.Last || s.Query.Node != place || s.Query.Text != "sev:P1" || o.Query.Text != "" || !s.Follow || !o.Follow || a.tree.At != place {
			t.Errorf("%s: %+v at %v, %q and %q", how, a.panes.Shape, a.tree.At, s.Query.Text, o.Query.Text)
		}
		exact(t, a)
	}
	leave := func() { press(t, a, "2", "\"", "esc", "esc", "esc") }
	leave()
	press(t, a, "p", "enter")
	shows(a, "from the list")
	leave()
	press(t, a, ":")
	word(t, a, "view on call")
	press(t, a, "enter")
	shows(a, "by a line")
	leave()
	press(t, a, ":")
	word(t, a, "on call")
	press(t, a, "enter")
	shows(a, "from the palette")
	leave()
	press(t, a, "1", "G", "enter")
	shows(a, "from the tree")
	settle(a, a.persist.Save(a.state))
	shows(begin(t, h, "on call"), "of another run")
	if text := screenOf(begin(t, h, "nobody's")); !strings.Contains(text, `no view is saved as "nobody's"; there are on call`) {
		t.Errorf("of no view is said:\n%s", text)
	}
}

// A view restores its columns, and one stream if it was saved with one.
func TestViewRestoresItsColumns(t *testing.T) {
	h := talk(5)
	a := begin(t, h, "")
	cols := []stream.Column{{Kind: stream.ColTime}, {Kind: stream.ColSummary}}
	key := "pager/incident.created"
	press(t, a, "1", "j", "j", "j", "j")
	a.stream.Columns.Set(key, cols)
	press(t, a, ":")
	word(t, a, "view save terse")
	press(t, a, "enter")
	a.stream.Columns.Set(key, nil)
	press(t, a, "esc", "2", "%", ":")
	word(t, a, "view terse")
	press(t, a, "enter")
	if got := a.stream.Columns.By[key]; len(got) != 2 || a.stream.Two {
		t.Errorf("columns %v, two streams: %v", got, a.stream.Two)
	}
	var kept map[string][]stream.Column
	if err := json.Unmarshal([]byte(h.settings[stream.ColumnsSetting]), &kept); err != nil || len(kept[key]) != 2 {
		t.Errorf("kept are %v, %v", kept, err)
	}
}

// A view of a node that does not exist yet opens it when it appears, unless the operator chose
// another node.
func TestViewOfANodeThatAppearsLater(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		h := talk(5)
		h.settings = map[string]string{persist.Views: `{"later":{"node":{"server":"night"},"filter":"p99"}}`}
		a := begin(t, h, "later")
		want := query.Node{Server: "night"}
		if a.stream.Query.Node != (query.Node{}) || a.stream.Query.Text != "p99" {
			t.Fatalf("shown is %+v", a.stream.Query)
		}
		if elsewhere {
			press(t, a, "1", "j")
			want = a.tree.At
		}
		h.server("night")
		arrive(a)
		if a.stream.Query.Node != want || a.tree.At != want {
			t.Errorf("shown is %v, the tree is at %v, want %v", a.stream.Query.Node, a.tree.At, want)
		}
	}
}
