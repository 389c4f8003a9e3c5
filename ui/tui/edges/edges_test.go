package edges_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/edges"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/timeline"
	"eventdeck/ui/tui/tree"
)

// bar is a status line with a clock that the test sets.
type bar struct {
	edges.Status
	now   time.Time
	snap  host.Snapshot
	total tree.Totals
	rates timeline.Rates
	file  string
	env   *cells.Env
}

func keyOf(id string) string { return "<" + id + ">" }

func newBar() *bar {
	b := &bar{now: tuitest.Start, total: tree.Totals{All: 2, Live: 2}}
	b.snap.Last = 1234
	env := tuitest.Env()
	env.Now = func() time.Time { return b.now }
	b.env = env
	b.Status = edges.NewStatus(&edges.Env{
		Env: env, Snap: &b.snap, Rates: &b.rates, Total: &b.total, KeyOf: keyOf,
		Writing: func() external.Running { return external.Running{Path: b.file, Records: 7, Done: 1, Total: 4} },
	})
	return b
}

func (b *bar) text() string { return strings.TrimSpace(tuitest.Plain([]string{b.Draw(120)})) }

func TestNotesExpire(t *testing.T) {
	b := newBar()
	b.total.Trouble = 1
	b.Tell("theme dark")
	if s := b.text(); !strings.Contains(s, "theme dark") || !strings.Contains(s, "1 in trouble") || !b.Ages() {
		t.Errorf("the line says %q", s)
	}
	b.now = b.now.Add(5 * time.Second)
	if b.Expire(); strings.Contains(b.text(), "theme dark") {
		t.Errorf("after 5 s it says %q", b.text())
	}
	b.Fail("cannot", errors.New("broken"))
	b.now = b.now.Add(14 * time.Second)
	if b.Expire(); !strings.Contains(b.text(), "failed cannot: broken") {
		t.Errorf("after 14 s it says %q", b.text())
	}
	b.Hush()
	b.TellFailed("subscribed", errors.New("no"))
	if b.Note.Text != "no (subscribed)" || !b.Note.Bad {
		t.Errorf("told is %+v", b.Note)
	}
}

// A failure that is too long for the line continues on the line below; a note does not.
func TestLongFailureContinuesBelow(t *testing.T) {
	b := newBar()
	b.total.Trouble = 1
	b.Fail("cannot subscribe to pager page.sent", errors.New("page.sent offers only webhook; "+strings.Repeat("give a callback address ", 4)+"at last"))
	below := tuitest.Plain([]string{b.More(120)})
	if s := b.text(); !strings.Contains(s, "1 in trouble") || !strings.Contains(s, "cannot subscribe") || !strings.Contains(below, "at last") {
		t.Errorf("%q\n%q", s, below)
	}
	if b.Fail("cannot", errors.New("broken")); b.More(120) != "" {
		t.Errorf("a short one goes on: %q", b.More(120))
	}
	if b.Tell(strings.Repeat("told ", 50)); b.More(120) != "" {
		t.Errorf("a note goes on: %q", b.More(120))
	}
}

func TestUndoIsOfferedForSomeSeconds(t *testing.T) {
	b := newBar()
	undone := false
	b.OfferUndo("unsubscribed", func() tea.Cmd { undone = true; return nil })
	b.now = b.now.Add(3 * time.Second)
	if s := b.text(); !strings.Contains(s, "unsubscribed; <undo> undoes it, 7 s left") || b.UndoHint() != "undo" {
		t.Errorf("the line says %q", s)
	}
	if b.UndoLast(); !undone || b.CanUndo() {
		t.Error("it is not undone, or can be once more")
	}
	undone = false
	b.OfferUndo("unsubscribed", func() tea.Cmd { undone = true; return nil })
	b.now = b.now.Add(11 * time.Second)
	if b.UndoLast(); undone || !strings.HasPrefix(b.Note.Text, "too late to undo: unsubscribed") || !b.Undoing() {
		t.Errorf("after ten seconds: %v, told %q", undone, b.Note.Text)
	}
	b.now = b.now.Add(edges.LateFor)
	if b.Undoing() {
		t.Error("the key never has its other meaning")
	}
}

func TestTotalsAndStoreTrouble(t *testing.T) {
	b := newBar()
	if s := b.text(); !strings.HasPrefix(s, "2 subs: 2 push") || !strings.Contains(s, "1,234 stored") {
		t.Errorf("the line says %q", s)
	}
	b.file = "out.ndjson"
	if s := b.text(); !strings.Contains(s, "25%  writing 7 to out.ndjson; <export.stop> stops it") {
		t.Errorf("the line says %q", s)
	}
	b.file = ""
	for want, err := range map[string]error{
		"disk full":              fmt.Errorf("%w: quota", event.ErrFull),
		"damaged":                fmt.Errorf("%w: page 3", event.ErrDamaged),
		`not stored: the medium`: errors.New("the medium\x1b[2J is gone"),
	} {
		b.snap.Store.Err = err
		if s := b.text(); !strings.Contains(s, want) || strings.Contains(s, "\x1b") {
			t.Errorf("of %v the line says %q", err, s)
		}
	}
}

// A failure has the colour of errors and begins with a word.
func TestFailuresHaveTheirColourAndWord(t *testing.T) {
	b := newBar()
	theme := themes.For(true, themes.ManyColours)
	b.env.Theme = theme
	b.Tell("disk is full")
	plain := b.Draw(60)
	b.Fail("disk", errors.New("is full"))
	var c cells.Canvas
	c.Begin(&theme, 60)
	c.Put(themes.Bad, " failed disk: is full")
	c.End()
	if got := b.Draw(60); got != c.Top() || got == plain || !strings.HasPrefix(b.text(), "failed disk: is full") {
		t.Errorf("the line is %q, not %q", got, c.Top())
	}
	if b.Note.Words() != "failed disk: is full" {
		t.Errorf("its words are %q", b.Note.Words())
	}
}

// Numbers of the run say so: other places count all that is stored.
func TestNumbersOfTheRunSaySo(t *testing.T) {
	b := newBar()
	b.rates.Gaps, b.rates.Rejected, b.rates.Refusals = 1, 3, 6
	for _, want := range []string{"1 gap this run", "3 payloads refused this run", "6 deliveries refused this run"} {
		if s := b.text(); !strings.Contains(s, want) {
			t.Errorf("%q is not in %q", want, s)
		}
	}
}

// The line shows the newest error of the program's log until the operator opens the log.
func TestNewestErrorIsShownUntilTheLogIsOpened(t *testing.T) {
	b := newBar()
	ring := eventlog.NewRing[host.LogLine](8, 1<<16)
	ring.Add(host.LogLine{At: b.now, Level: slog.LevelError, Server: "pager", Text: "broke"}, 10)
	b.Trouble.Take(ring)
	if s := b.text(); !strings.Contains(s, "<log> opens it: pager broke") {
		t.Errorf("the line says %q", s)
	}
	b.Trouble.See()
	if s := b.text(); strings.Contains(s, "broke") {
		t.Errorf("looked at, the line says %q", s)
	}
	b.Trouble.Take(ring)
	if b.Trouble.Shown(b.now) {
		t.Error("the same error is told again")
	}
}

func TestHeadLine(t *testing.T) {
	env := tuitest.Env()
	snap := &host.Snapshot{Servers: []host.ServerView{{Name: "pager", Reach: host.ReachReady}, {Name: "chat", Reach: host.ReachBackoff}}}
	s := stream.New(&stream.Env{
		Env: env, Snap: snap, Focused: func() bool { return true }, Found: func() string { return "" },
		Panes: &layout.Screen{},
	})
	var searched string
	var comparing uint64
	var servers []*host.ServerView
	h := edges.NewHead(&edges.Env{
		Env: env, Demo: true, Snap: snap, Stream: &s, Rates: &timeline.Rates{}, KeyOf: keyOf,
		Servers:  func() []*host.ServerView { return servers },
		Searched: func() string { return searched }, Comparing: func() uint64 { return comparing },
	})
	text := func() string { return tuitest.Plain([]string{h.Draw(160, false)}) }
	s.Follow = true
	if got := text(); !strings.HasPrefix(got, " eventdeck demo  all servers") || !strings.Contains(got, "FOLLOW") {
		t.Errorf("it says %q", got)
	}
	q, err := query.New(query.Node{Server: "pager", Type: trust.Untrusted("page.sent")}, "p99", tuitest.Start)
	if err != nil {
		t.Fatal(err)
	}
	s.Query, s.Follow, searched, comparing = q, false, "needle", 7
	for _, want := range []string{"pager " + cells.UnicodeGlyphs.Path + " page.sent", "search needle", "filter p99", "comparing #7, <compare> on another", "READING"} {
		if got := text(); !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	searched, comparing, s.Query.Text = "", 0, strings.Repeat("payments ", 30)
	if got := text(); !strings.Contains(got, "…") || !strings.Contains(got, "READING") {
		t.Errorf("a filter that is cut does not say so: %q", got)
	}
	for _, c := range []struct {
		servers []*host.ServerView
		want    string
	}{
		{nil, " 1 no servers"},
		{[]*host.ServerView{{Name: "pager", Reach: host.ReachReady}, {Name: "chat", Reach: host.ReachBackoff}}, " 1 pager ready  chat unreachable"},
		{[]*host.ServerView{{Name: "gone", Reach: evidence.ReachMissing}}, " 1 gone not configured"},
	} {
		servers = c.servers
		if got := tuitest.Plain([]string{h.Scope(120)}); !strings.HasPrefix(got, c.want) {
			t.Errorf("the scope line says %q, not %q", got, c.want)
		}
	}
}
