package tree_test

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/tree"
	"eventdeck/ui/tui/widget"
)

// pager is a server with two types, of which one is subscribed to.
func pager() *host.Snapshot {
	name := trust.Untrusted("incident.created")
	return &host.Snapshot{
		Servers: []host.ServerView{{Name: "pager", Reach: host.ReachReady, TypesKnown: true, Types: []event.Type{{Name: name}, {Name: trust.Untrusted("note\x1b[2J")}}}},
		Subs:    []host.SubscriptionView{{Subscription: event.Subscription{ID: "s1", Mode: event.ModePush, Key: event.Key{Server: "pager", Type: name}}}},
	}
}

func opened(snap *host.Snapshot) *tree.Tree {
	t := tree.New(&tree.Env{
		Env:     &cells.Env{Theme: themes.For(true, themes.NoColours), Glyphs: &cells.ASCIIGlyphs, Now: time.Now},
		Snap:    snap,
		Focused: func() bool { return true }, Marked: func(query.Node) bool { return false }, KeyOf: func(action string) string { return action },
		Course: func(event.SubID, int) []uint32 { return nil }, Lessons: func() []widget.Lesson { return []widget.Lesson{{Key: "A", Text: "add a server"}} },
	})
	t.Load(snap)
	return &t
}

func TestRowsAreSafeAndFillThePane(t *testing.T) {
	tr := opened(pager())
	rows := tr.Draw(40, 10)
	if len(rows) != 10 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		if ansi.StringWidth(row) != 40 || strings.Contains(row, "\x1b[2J") {
			t.Errorf("%q", row)
		}
	}
	if text := ansi.Strip(strings.Join(rows, "\n")); !strings.Contains(text, "pager ready") || !strings.Contains(text, "incident.created") || !strings.Contains(text, "push starting") {
		t.Error(text)
	}
	if text := strings.Join(opened(&host.Snapshot{}).Draw(40, 10), "\n"); !strings.Contains(text, "No servers yet") || !strings.Contains(text, "add a server") {
		t.Error(text)
	}
}

func TestFoldingMovesNoChoiceToAnotherNode(t *testing.T) {
	snap := pager()
	tr := opened(snap)
	tr.Last()
	tr.By(-1)
	if tr.At.Level() != 3 {
		t.Fatalf("%+v is chosen", tr.At)
	}
	sub := tr.At
	for range 2 { // to the type, and closed
		tr.Fold()
		tr.Load(snap)
	}
	if tr.At != sub.Parent() || tr.Find(sub) >= 0 {
		t.Errorf("%+v is chosen, row %d has the subscription", tr.At, tr.Find(sub))
	}
	tr.Reveal(sub)
	tr.Load(snap)
	if tr.Find(sub) < 0 {
		t.Error("it is not shown again")
	}
	tr.At = sub
	snap.Subs = nil
	if tr.Load(snap); tr.At != sub.Parent() {
		t.Errorf("after it is gone %+v is chosen, not the node above", tr.At)
	}
}
