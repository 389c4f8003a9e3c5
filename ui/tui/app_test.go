package tui

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
)

var update = flag.Bool("update", false, "write the golden screens anew")

func TestMain(m *testing.M) {
	time.Local = time.FixedZone("here", 0) // screens show local times
	os.Exit(m.Run())
}

func screenOf(a *app) string { return ansi.Strip(a.draw()) }

// exact fails unless the frame fills the screen exactly and has no control characters.
func exact(t testing.TB, a *app) {
	t.Helper()
	frame := a.draw()
	lines := strings.Split(frame, "\n")
	if len(lines) != a.panes.H {
		t.Fatalf("%d lines on a screen of %d by %d", len(lines), a.panes.W, a.panes.H)
	}
	for i, l := range lines {
		if w := ansi.StringWidthWc(l); w != a.panes.W {
			t.Fatalf("line %d has %d cells on a screen of %d by %d: %q", i, w, a.panes.W, a.panes.H, ansi.Strip(l))
		}
	}
	for _, r := range ansi.Strip(frame) {
		if r != '\n' && (r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e) {
			t.Fatalf("%U reached the screen", r)
		}
	}
}

func TestGoldenScreens(t *testing.T) {
	for name, keys := range map[string][]string{
		"start": nil, "strip": {"2"}, "scoped": {"1", "j", "j", "j", "j"}, "detail": {"2", "enter"},
		"marker": {"2", "[", "["}, "subs": {"4"}, "gaps": {"4", "]"}, "resumed": {"4", "["}, "remote": {"4", "]", "]"}, "columns": {"1", "j", "j", "j", "j", "c"}, "same": {"2", "enter", "["}, "audit": {"5"}, "wire": {"5", "]"}, "app": {"5", "["},
		"schema": {"2", "enter", "]", "]"}, "delivery": {"2", "enter", "[", "["}, "quiet": {"1", "j", "j", "j", "j", "i"}, "zoomed": {"2", "enter", "z"},
		"help": {"?"}, "filter": {"/", "p", "9", "9"}, "wrong": {"/", "(", "("}, "palette": {":", "t", "h"}, "command": {":", "t", "i", "m", "e", "space", "x", "enter"},
		"copy": {"2", "y"}, "range": {"2", "v", "k", "k"}, "search": {"2", "\\", "p", "o", "o", "l", "enter"}, "note": {"2", "m", "n", "a"}, "write": {"2", "w"}, "marks": {"'"},
		"stats": {"S"}, "timeline": {"H"}, "themes": {"T"}, "why": {"2", "!"}, "refused": {"4", "]", "]", "]"}, "mode": {"4", "M"}, "quit": {"q"}, "unsubscribe": {"1", "j", "j", "j", "j", "D"},
		"raw": {"2", "enter", "]"}, "stream": {"2", "z"}, "narrowed": {"1", "j", "j", "j", "j"}, "commands": {":"},
	} {
		for _, size := range [][2]int{{200, 60}, {120, 40}, {80, 24}, {60, 20}, {40, 12}} {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				h := incident()
				h.stats.Started, h.stats.At = start.Add(-time.Hour), start
				a := open(t, h, size[0], size[1])
				a.draw()
				press(t, a, keys...)
				if name == "strip" { // what it draws is read in the background
					settle(a, a.stripWork())
				}
				golden(t, a, name)
			})
		}
	}
}

// seeds returns the number of random runs of a test: a quarter with -short.
func seeds(all uint64) uint64 {
	if testing.Short() {
		return all / 4
	}
	return all
}

func TestRandomKeysAtRandomSizes(t *testing.T) {
	keys := []string{"enter", "esc", "tab", "shift+tab", "up", "down", "left", "right", "home", "end", "backspace", "space",
		"ctrl+s", "ctrl+d", "ctrl+u", "j", "k", "g", "G", "1", "2", "3", "/", "f", "s", "P", "D", "z", "?", "h", "l", "[", "]", "q", "p", "4", "5", "+", "_", "|", "W", "=", "-", "&", "#", "*", "B", "E", "<", ">", "o", "i", "u", "c", "V", "é", "世", "n", "%", "\""}
	for seed := range seeds(60) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		h := incident()
		a := open(t, h, 80, 24)
		a.Outside.Exports.Create, a.trace.Command = noFiles, noCommands
		for step := range 150 {
			switch rnd.IntN(12) {
			case 0:
				a.Update(tea.WindowSizeMsg{Width: rnd.IntN(230), Height: rnd.IntN(70)})
			case 1:
				h.event("pager", "incident.created", fmt.Sprintf("\u200b\x9b tick %d 👩‍👩‍👧 e\u0301", step))
				arrive(a)
			default:
				press(t, a, keys[rnd.IntN(len(keys))])
			}
			if a.panes.W > 0 && a.panes.H > 0 {
				exact(t, a)
			}
		}
	}
}

func TestEscNeverQuits(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, "1", "j", "j", "j", "j", "z", "/", "x", "enter", "?")
	for range 10 {
		if press(t, a, "esc") {
			t.Fatal("esc quit")
		}
		exact(t, a)
	}
	if a.dialog != nil || a.panes.Size != layout.Normal || a.stream.Query.Text != "" || a.tree.At != (query.Node{}) {
		t.Error("ten times esc did not lead to the root")
	}
}

func TestArrivalsDoNotMoveTheChosenRow(t *testing.T) {
	h := incident()
	for i := range 200 {
		h.event("pager", "incident.created", fmt.Sprint("old ", i))
	}
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "2", "k", "k", "ctrl+u")
	at, top := a.stream.At, a.stream.Top
	for i := range 5000 {
		h.event("pager", "incident.created", fmt.Sprint("new ", i))
	}
	arrive(a)
	a.draw()
	if a.stream.At != at || a.stream.Top != top {
		t.Errorf("reading moved from %d/%d to %d/%d", at, top, a.stream.At, a.stream.Top)
	}
	press(t, a, "G")
	if a.draw(); a.stream.At != h.store.Last() || !a.stream.Follow {
		t.Errorf("G leads to %d, newest is %d", a.stream.At, h.store.Last())
	}
}

func TestFreezeCountsNewRecords(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "2", "space")
	rows := len(a.stream.Seqs)
	for range 7 {
		h.event("pager", "incident.created", "later")
	}
	arrive(a)
	if len(a.stream.Seqs) != rows || !strings.Contains(screenOf(a), "FROZEN (7 waiting)") {
		t.Errorf("frozen view has %d rows, had %d", len(a.stream.Seqs), rows)
	}
	press(t, a, "space")
	if len(a.stream.Seqs) != rows+7 {
		t.Errorf("after the freeze %d rows, want %d", len(a.stream.Seqs), rows+7)
	}
}

func TestWindowIsBoundedAndReadsBack(t *testing.T) {
	h := incident()
	for i := range 40_000 {
		h.event("pager", "incident.created", fmt.Sprint(i))
	}
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "2")
	for range 60 {
		press(t, a, "g")
		a.draw()
		if len(a.stream.Seqs) > stream.WindowMax {
			t.Fatalf("%d rows are held", len(a.stream.Seqs))
		}
	}
	if a.stream.At != 1 {
		t.Errorf("the oldest row is %d", a.stream.At)
	}
	for range 6000 {
		press(t, a, "ctrl+d")
	}
	if a.stream.Cut || a.stream.At != h.store.Last() {
		t.Errorf("reading on ended at %d of %d", a.stream.At, h.store.Last())
	}
}

func TestFilterAndScope(t *testing.T) {
	a := open(t, incident(), 120, 40)
	a.draw()
	press(t, a, "/", "P", "9", "9", "enter")
	if len(a.stream.Seqs) != 1 {
		t.Errorf("filter shows %d rows", len(a.stream.Seqs))
	}
	press(t, a, "esc", "1", "G")
	if got := a.stream.Query.Node.Server; got != "pager" {
		t.Errorf("scope is %q", got)
	}
}

func TestFolding(t *testing.T) {
	a := open(t, incident(), 120, 40)
	a.draw()
	press(t, a, "1", "j", "j", "j", "h")
	if strings.Contains(screenOf(a), "deploy.finished") {
		t.Error("a closed server shows its types")
	}
	press(t, a, "l", "l")
	if s := screenOf(a); !strings.Contains(s, "deploy.finished") || a.tree.At.Type != trust.Untrusted("incident.created") {
		t.Errorf("opening led to %+v\n%s", a.tree.At, s)
	}
}

func TestUnsubscribeAsks(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "1", "j", "j", "j", "j", "D", "n")
	if len(h.ended) != 0 {
		t.Fatal("ended without a yes")
	}
	press(t, a, "D", "y", "P")
	if len(h.ended) != 1 || len(h.paused) != 1 {
		t.Errorf("ended %v, paused %v", h.ended, h.paused)
	}
}

func TestQuitAsksAboutLeases(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	a.draw()
	if press(t, a, "q") || press(t, a, "esc") {
		t.Fatal("quit without asking")
	}
	if press(t, a, "q"); !press(t, a, "k") || len(h.ended) != 0 {
		t.Error("keeping the leases did not quit, or ended them")
	}
	a = open(t, h, 120, 40)
	a.draw()
	if press(t, a, "q"); !press(t, a, "u") || len(h.ended) != 1 {
		t.Errorf("unsubscribing ended %v", h.ended)
	}
	a, _ = openReact(t, reacting(), 120, 40)
	press(t, a, "q", "q", "q")
	if s := screenOf(a); !strings.Contains(s, "2 runs wait for you; they stay stored") {
		t.Errorf("no word of what waits:\n%s", s)
	}
	a = open(t, h, 120, 40)
	if press(t, a, "ctrl+c"); !press(t, a, "ctrl+c") {
		t.Error("twice ctrl+c did not quit")
	}
}

func TestHelpListsOnlyWhatWorks(t *testing.T) {
	a := open(t, newFake(), 120, 40)
	if s := screenOf(a); !strings.Contains(s, "No servers") {
		t.Errorf("an empty screen teaches nothing:\n%s", s)
	}
	for _, x := range a.actions.Here() {
		if x.ID == "subscribe" || x.ID == "unsubscribe" {
			t.Errorf("%s is listed with nothing to do it on", x.ID)
		}
	}
}

func TestASCIIGlyphs(t *testing.T) {
	g := cells.ChooseGlyphs(environment([]string{"LANG=C"}), "", "")
	a := open(t, incident(), 80, 24)
	a.Glyphs = g
	a.restyle()
	press(t, a, "1")
	for _, r := range screenOf(a) {
		if r > 0x7e && !strings.ContainsRune("日本語", r) {
			t.Errorf("%q is not ASCII", r)
		}
	}
}

func TestLayout(t *testing.T) {
	for w := range 240 {
		for h := range 70 {
			for _, focus := range []layout.Pane{layout.Tree, layout.Stream, layout.Detail, layout.Subs, layout.Log} {
				s := layout.Shape{W: w, H: h, Focus: focus, Subject: focus, Size: layout.Size(w % 3)}
				s.Split, s.Tree, s.List = layout.Split(h%3), w%91-30, h%61-40
				if focus == layout.Detail {
					s.Subject = []layout.Pane{layout.Stream, layout.Subs, layout.Log}[(w+h)%3]
				}
				l := layout.Arrange(s)
				if l.Tiny {
					if w >= layout.LeastWidth && h >= layout.LeastHeight {
						t.Fatalf("%dx%d is no tiny screen", w, h)
					}
					continue
				}
				cells := 0
				for _, r := range []layout.Rect{l.Crumb, l.Scope, l.Tree, l.Stream, l.Table, l.Detail, l.Status, l.Hints} {
					if r.Empty() {
						continue
					}
					if r.X < 0 || r.Y < 0 || r.X+r.W > w || r.Y+r.H > h {
						t.Fatalf("%dx%d: %+v stands out", w, h, r)
					}
					cells += r.W * r.H
				}
				if gaps := w*h - cells; gaps < 0 || gaps > 4*h+w {
					t.Fatalf("%+v: %d cells belong to nobody", s, gaps)
				}
			}
		}
	}
}

func BenchmarkView(b *testing.B) {
	h := incident()
	for i := range 9000 {
		h.event("pager", "incident.created", fmt.Sprint("event number ", i, " in the incident"))
	}
	a := open(b, h, 200, 50)
	scrolled(b, a, func() { a.draw() })
}

func BenchmarkArrive(b *testing.B) {
	h := incident()
	a := open(b, h, 200, 50)
	a.draw()
	b.ReportAllocs()
	for b.Loop() {
		for range 20 {
			h.event("pager", "incident.created", "tick")
		}
		arrive(a)
		a.draw()
	}
}

func BenchmarkFilter(b *testing.B) {
	q := mustQuery(b, query.Node{}, "nothing here")
	r := event.Record{Server: "pager", Type: trust.Untrusted("incident.created"), Data: []byte(strings.Repeat("pool exhausted ", 30))}
	for b.Loop() {
		q.Matches(&r)
	}
}
