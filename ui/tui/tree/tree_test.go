package tree_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/layout"
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
	env := &cells.Env{Theme: themes.For(true, themes.NoColours), Glyphs: &cells.ASCIIGlyphs, Now: time.Now}
	t := tree.New(env, &tuitest.Screen{}, onTree(), snap)
	t.RecentCounts = func(event.SubID, int) []uint32 { return nil }
	t.Lessons = func() []widget.Lesson { return []widget.Lesson{{Key: "A", Text: "add a server"}} }
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
	if text := ansi.Strip(strings.Join(rows, "\n")); !strings.Contains(text, "pager ready") || !strings.Contains(text, "incident.created") || !strings.Contains(text, "incident.created starting") {
		t.Error(text)
	}
	if text := strings.Join(opened(&host.Snapshot{}).Draw(40, 10), "\n"); !strings.Contains(text, "No servers yet") || !strings.Contains(text, "add a server") {
		t.Error(text)
	}
}

func TestChoiceStaysWithItsNode(t *testing.T) {
	snap := pager()
	tr := opened(snap)
	tr.Last()
	tr.By(-1)
	if tr.At.Level() != 2 || tr.Chosen().Sub == nil {
		t.Fatalf("%+v is chosen", tr.At)
	}
	snap.Subs = append(snap.Subs, host.SubscriptionView{Subscription: event.Subscription{ID: "s2", Mode: event.ModePoll, Key: snap.Subs[0].Key}})
	tr.Load(snap)
	tr.By(1)
	sub := tr.At
	if tr.At.Level() != 3 {
		t.Fatalf("of two subscriptions %+v is chosen", tr.At)
	}
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

// stormy returns a snapshot of a dead server with three subscriptions, a healthy one, and one with
// two subscriptions that have the same error.
func stormy() *host.Snapshot {
	text := trust.Untrusted
	snap := &host.Snapshot{Servers: []host.ServerView{
		{Name: "calm", Reach: host.ReachReady, TypesKnown: true, Types: []event.Type{{Name: text("a.one"), Modes: []event.Mode{event.ModePoll}}}},
		{Name: "dead", Reach: host.ReachBackoff, Attempt: 4, Err: "connection refused"},
		{Name: "hooks", Reach: host.ReachReady},
	}}
	add := func(server, typ, err string) {
		v := host.SubscriptionView{Subscription: event.Subscription{ID: event.SubID(server + typ), Mode: event.ModePush, Key: event.Key{Server: server, Type: text(typ)}}}
		v.Status.State = event.StateLive
		if err != "" {
			v.Status.State, v.Status.Error = event.StateBackoff, text(err)
		}
		snap.Subs = append(snap.Subs, v)
	}
	add("calm", "a.one", "")
	for _, typ := range []string{"b.one", "b.two", "b.three"} {
		add("dead", typ, "connection refused")
	}
	add("hooks", "c.one", "the callback is odd")
	add("hooks", "c.two", "the callback is odd")
	add("hooks", "c.three", "something else")
	return snap
}

// Servers in trouble come first, a shared error is shown once, and a type with one subscription
// takes one row.
func TestTroubleIsShownFirstAndOnce(t *testing.T) {
	text := ansi.Strip(strings.Join(opened(stormy()).Draw(40, 30), "\n"))
	if d, h, c := strings.Index(text, "dead"), strings.Index(text, "hooks"), strings.Index(text, "calm"); d < 0 || d > h || h > c {
		t.Errorf("those in trouble are not first:\n%s", text)
	}
	for want, n := range map[string]int{"connection refused, 3 subs": 1, "connection refused": 1, "the callback is odd x2": 1, "the callback is odd": 1, "something else": 1, "b.one": 1, "a.one": 1, "push live": 1} {
		if got := strings.Count(text, want); got != n {
			t.Errorf("%q stands there %d times:\n%s", want, got, text)
		}
	}
	if rows := strings.Count(strings.TrimRight(text, " \n"), "\n") + 1; rows != 15 {
		t.Errorf("%d rows:\n%s", rows, text)
	}
}

// If rows do not fit, servers without trouble are folded, unless the operator unfolded them or the
// choice is in them.
func TestHealthyServersAreFoldedWithoutRoom(t *testing.T) {
	snap := stormy()
	tr := opened(snap)
	shown := func(h int) string { return ansi.Strip(strings.Join(tr.Draw(40, h), "\n")) }
	if s := shown(13); strings.Contains(s, "a.one") || !strings.Contains(s, "> * calm") || !strings.Contains(s, "b.three") {
		t.Errorf("not folded:\n%s", s)
	}
	if s := shown(14); !strings.Contains(s, "a.one") || strings.Contains(s, "push live") {
		t.Errorf("folded although there is room, or evidence takes the room:\n%s", s)
	}
	tr.Last()
	if tr.At.Type.Raw() != "a.one" {
		t.Fatalf("at %+v", tr.At)
	}
	if shown(8); tr.At.Type.Raw() != "a.one" {
		t.Errorf("the server of the choice is folded: at %+v", tr.At)
	}
	tr.First()
	tr.Load(snap)
	if s := shown(13); strings.Contains(s, "a.one") {
		t.Errorf("not folded:\n%s", s)
	}
	tr.Reveal(query.Node{Server: "calm"})
	tr.Load(snap)
	if s := shown(13); tr.Find(query.Node{Server: "calm", Type: trust.Untrusted("a.one")}) < 0 {
		t.Errorf("a server that the operator unfolded is folded:\n%s", s)
	}
}

func TestMarkingTypes(t *testing.T) {
	snap := pager()
	tr := opened(snap)
	tr.Last()
	tr.By(-1)
	typ := tr.At
	before := strings.Join(tr.Draw(40, 10), "\n")
	if n := tr.Mark(); n != 1 || len(tr.Marked()) != 1 || tr.Marked()[0] != typ {
		t.Errorf("%d marked: %v", n, tr.Marked())
	}
	if got := strings.Join(tr.Draw(40, 10), "\n"); got == before || !strings.Contains(got, cells.ASCIIGlyphs.Picked) {
		t.Errorf("it is not shown:\n%s", got)
	}
	if n := tr.Mark(); n != 0 {
		t.Errorf("%d marked", n)
	}
	tr.Mark()
	if tr.Unmark(); len(tr.Marked()) != 0 || strings.Join(tr.Draw(40, 10), "\n") != before {
		t.Errorf("left are %v", tr.Marked())
	}
}

// A type's name gets room before its sparkline and the column of counts.
func TestNamesComeBeforeSparklines(t *testing.T) {
	snap := pager()
	snap.Subs[0].Stored = 7
	tr := opened(snap)
	for width, want := range map[int]string{40: "incident.created starting  ", 33: "incident.created starting  7", 28: "incident.c… starting  7"} {
		if text := ansi.Strip(strings.Join(tr.Draw(width, 10), "\n")); !strings.Contains(text, want) {
			t.Errorf("%d columns show no %q:\n%s", width, want, text)
		}
	}
}

// Servers are sorted again only for trouble that lasts, and not while the tree has the focus.
func TestServersMoveOnlyForLastingTrouble(t *testing.T) {
	now := time.Date(2026, 3, 14, 14, 0, 0, 0, time.UTC)
	snap := &host.Snapshot{Servers: []host.ServerView{{Name: "one", Reach: host.ReachReady}, {Name: "two", Reach: host.ReachReady}}}
	panes := &layout.Screen{}
	env := &cells.Env{Theme: themes.For(true, themes.NoColours), Glyphs: &cells.ASCIIGlyphs, Now: func() time.Time { return now }}
	tr := tree.New(env, &tuitest.Screen{}, panes, snap)
	first := func(after time.Duration, reach host.Reach) string {
		now = now.Add(after)
		snap.Servers[1].Reach = reach
		tr.Load(snap)
		return tr.Rows[1].Node.Server
	}
	for _, step := range []struct {
		after   time.Duration
		reach   host.Reach
		focused bool
		first   string
	}{
		{0, host.ReachReady, false, "one"},
		{0, host.ReachBackoff, false, "one"},
		{4 * time.Second, host.ReachBackoff, false, "one"},
		{0, host.ReachReady, false, "one"},
		{0, host.ReachBackoff, false, "one"},
		{5 * time.Second, host.ReachBackoff, true, "one"},
		{time.Minute, host.ReachBackoff, true, "one"},
		{0, host.ReachBackoff, false, "two"},
		{0, host.ReachReady, false, "two"},
		{5 * time.Second, host.ReachReady, false, "one"},
	} {
		panes.Focus = map[bool]layout.Pane{true: layout.Tree, false: layout.Stream}[step.focused]
		if got := first(step.after, step.reach); got != step.first {
			t.Fatalf("%+v: %s is first", step, got)
		}
	}
	if first(0, host.ReachRefused); tr.Total.InTrouble() != "1 server in trouble" || tr.Total.All != 0 {
		t.Errorf("a refused server without subscriptions: %+v", tr.Total)
	}
}

// BenchmarkLoad loads a snapshot of many servers that cannot be reached.
func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			snap := &host.Snapshot{}
			tr := opened(snap)
			for i := range n {
				snap.Servers = append(snap.Servers, host.ServerView{Name: fmt.Sprintf("server-%d", i), Reach: host.ReachBackoff})
			}
			for b.Loop() {
				tr.Load(snap)
			}
		})
	}
}

// onTree returns panes of which the tree has the focus.
func onTree() *layout.Screen { return &layout.Screen{Shape: layout.Shape{Focus: layout.Tree}} }
