package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/widget"
)

func TestFilterBar(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	filterBy(t, a, "pool")
	rows := len(a.stream.Seqs)
	press(t, a, "x")
	if a.stream.Query.Text != "pool" || len(a.stream.Seqs) <= rows || !strings.Contains(screenOf(a), "filter off pool") {
		t.Errorf("off: %q, %d rows", a.stream.Query.Text, len(a.stream.Seqs))
	}
	press(t, a, "x")
	if len(a.stream.Seqs) != rows {
		t.Error("on again shows something else")
	}
	press(t, a, "/")
	if a.prompt.Field.Text() != "pool" {
		t.Errorf("the bar opens with %q", a.prompt.Field.Text())
	}
	press(t, a, "ctrl+u")
	word(t, a, "p99")
	press(t, a, "enter", "/", "up")
	if a.prompt.Field.Text() != "p99" {
		t.Errorf("up shows %q", a.prompt.Field.Text())
	}
	press(t, a, "up")
	if a.prompt.Field.Text() != "pool" {
		t.Errorf("up and up shows %q", a.prompt.Field.Text())
	}
	press(t, a, "esc")
	if a.stream.Query.Text != "p99" {
		t.Errorf("esc leads to %q", a.stream.Query.Text)
	}
}

// x brings back the filter that esc removed, also at another node of the tree.
func TestToggleBringsBackARemovedFilter(t *testing.T) {
	a := open(t, incident(), 120, 40)
	filterBy(t, a, "pool")
	press(t, a, "x", "esc")
	if a.stream.Query.Text != "" || !strings.Contains(a.Edges.Status.Note.Text, "x brings it back") {
		t.Fatalf("after esc there is %q, told is %q", a.stream.Query.Text, a.Edges.Status.Note.Text)
	}
	press(t, a, "1", "j", "2", "x")
	if q := a.stream.Query; q.Text != "pool" || q.Off || q.Node.Server != "chat" {
		t.Errorf("x brings back %q, off: %v, at %v", q.Text, q.Off, q.Node)
	}
}

// An esc after a dialog closed by itself was meant for that, however late: it says so and keeps the
// filter. The next one, or one after another key, removes it.
func TestEscAfterADialogClosedKeepsTheFilter(t *testing.T) {
	now := start
	a := open(t, incident(), 120, 40)
	a.Now = func() time.Time { return now }
	filterBy(t, a, "pool")
	ends := func() {
		a.Show(&widget.Confirm{Screen: a, Head: "Wait"})
		settle(a, func() tea.Msg { return widget.Then(func() tea.Cmd { a.Show(nil); return nil }) })
	}
	for _, late := range []time.Duration{0, time.Minute} {
		ends()
		now = now.Add(late)
		if press(t, a, "esc"); a.stream.Query.Text != "pool" || !strings.Contains(statusLine(a), "closed by itself") {
			t.Errorf("esc after %v took the filter away, or says nothing: %q", late, statusLine(a))
		}
	}
	if press(t, a, "esc"); a.stream.Query.Text != "" {
		t.Error("the second esc keeps the filter")
	}
	press(t, a, "x")
	ends()
	if press(t, a, "j", "esc"); a.stream.Query.Text != "" {
		t.Error("esc after another key keeps the filter")
	}
}

// The old filter is selected: typing replaces it, keys that move or delete edit it.
func TestOldFilterIsSelected(t *testing.T) {
	for keys, want := range map[string]string{"x": "x", "end x": "poolx", "backspace": "poo", "left x": "pooxl", "": "pool"} {
		a := open(t, incident(), 120, 40)
		filterBy(t, a, "pool")
		press(t, a, "/")
		press(t, a, strings.Fields(keys)...)
		if got := a.prompt.Field.Text(); got != want {
			t.Errorf("%q makes %q, not %q", keys, got, want)
		}
		if press(t, a, "esc"); a.stream.Query.Text != "pool" {
			t.Errorf("esc leads to %q", a.stream.Query.Text)
		}
	}
}

func TestFilterCompletes(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, "/")
	word(t, a, "server:ch")
	press(t, a, "tab")
	if got := a.prompt.Field.Text(); !strings.HasPrefix(got, "server:chat") || len(a.stream.Seqs) != 2 {
		t.Errorf("completed to %q, %d rows", got, len(a.stream.Seqs))
	}
	exact(t, a)
	press(t, a, "ctrl+u")
	word(t, a, "mo")
	press(t, a, "tab")
	first := a.prompt.Field.Text()
	press(t, a, "tab", "tab")
	if !strings.HasPrefix(first, "mo") {
		t.Errorf("completed to %q", first)
	}
	press(t, a, "ctrl+u")
	word(t, a, ".sever")
	press(t, a, "tab")
	if got := a.prompt.Field.Text(); !strings.HasPrefix(got, ".severity") {
		t.Errorf("a path is completed to %q", got)
	}
}

func TestSearchHidesNothing(t *testing.T) {
	h := incident()
	for i := range 30 {
		h.event("pager", "incident.created", fmt.Sprint("needle ", i%10))
	}
	a := open(t, h, 120, 40)
	rows := len(a.stream.Seqs)
	press(t, a, "2", "\\")
	word(t, a, "Needle 3")
	press(t, a, "enter")
	if len(a.stream.Seqs) != rows {
		t.Error("the search hides rows")
	}
	at := a.stream.At
	if !strings.Contains(string(a.log(at).Data), "needle 3") {
		t.Fatalf("the search leads to %d", at)
	}
	press(t, a, "N")
	if a.stream.At >= at || !strings.Contains(string(a.log(a.stream.At).Data), "needle 3") {
		t.Errorf("N leads to %d from %d", a.stream.At, at)
	}
	press(t, a, "n")
	if a.stream.At != at {
		t.Errorf("n leads to %d, was %d", a.stream.At, at)
	}
	frame := a.draw()
	if n := strings.Count(frame, "needle 3"); n < 3 {
		t.Errorf("%d matches are highlighted as one run", n)
	}
	exact(t, a)
	press(t, a, "n", "n", "n", "n")
	if !strings.Contains(screenOf(a), "no more matches") {
		t.Error("the end is not told")
	}
	press(t, a, "esc")
	if a.search.Text != "" {
		t.Error("esc keeps the search")
	}
}

func (a *app) log(seq uint64) event.Record { r, _ := a.o.API.Log().Get(seq); return r }

func TestTimeViews(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	for want, view := range map[string]cells.TimeView{"14:03:05.3 ▌P1       pager": cells.TimeLocal, "14:03:05 Z ▌P1       pager": cells.TimeUTC, "0 s ▌P1       pager": cells.TimeRelative, "+300ms ▌P1       chat": cells.TimeDelta} {
		a.Times = view
		if s := screenOf(a); !strings.Contains(s, want) {
			t.Errorf("%v: no %q in\n%s", view, want, s)
		}
		exact(t, a)
	}
	a.Times = cells.TimeLocal
	press(t, a, "t")
	if a.Times != cells.TimeUTC || !strings.Contains(screenOf(a), "times are in UTC") {
		t.Error("t does not lead to UTC")
	}
}

func TestPanningStaysWhileRowsArrive(t *testing.T) {
	h := incident()
	h.event("pager", "incident.created", "0123456789abcdefghijklmnopqrstuvwxyz")
	a := open(t, h, 120, 40)
	press(t, a, "2", "l", "l")
	if s := screenOf(a); !strings.Contains(s, "…hijkl") {
		t.Errorf("not panned:\n%s", s)
	}
	exact(t, a)
	h.event("pager", "incident.created", "0123456789abcdefghijklmnopqrstuvwxyz")
	arrive(a)
	if a.stream.Pan != 2*stream.PanStep {
		t.Errorf("the pan is %d", a.stream.Pan)
	}
	press(t, a, "h", "h", "h")
	if a.stream.Pan != 0 {
		t.Errorf("the pan is %d", a.stream.Pan)
	}
}

func TestFilterBarSuggestsAFilter(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, "/")
	word(t, a, "kind=gap")
	if screen := screenOf(a); !strings.Contains(screen, "tab: kind:gap") || !strings.Contains(screen, `"kind=gap" is searched as text`) {
		t.Fatalf("the bar does not say how it was understood:\n%s", screen)
	}
	exact(t, a)
	press(t, a, "tab")
	if got := a.prompt.Field.Text(); got != "kind:gap" || strings.Contains(screenOf(a), "searched as text") {
		t.Errorf("tab made it %q", got)
	}
	press(t, a, "enter")
	if a.stream.Query.Text != "kind:gap" {
		t.Errorf("the filter is %q", a.stream.Query.Text)
	}
}

// After enter, an empty stream still says how the filter was understood.
func TestEmptyStreamSaysHowTheFilterWasUnderstood(t *testing.T) {
	for text, want := range map[string]string{
		"severity=critical":   "sev:critical",
		".severity==critical": ".severity=critical",
		".n>x":                "to compare numbers it needs one",
		"server:nope":         "there are chat, pager",
	} {
		a := open(t, incident(), 120, 40)
		filterBy(t, a, text)
		if s := screenOf(a); !strings.Contains(s, "Nothing matches the filter.") || !strings.Contains(s, want) {
			t.Errorf("%s: %q is not told:\n%s", text, want, s)
		}
		exact(t, a)
	}
}

// The hints of a prompt are not cut on a narrow screen.
func TestPromptsAreNotCut(t *testing.T) {
	for key, want := range map[string]string{"/": "since:10m", "|": "esc back", "E": "goes back"} {
		a := open(t, checkout(), 80, 24)
		press(t, a, "2", key)
		if s := screenOf(a); a.prompt == nil || !strings.Contains(strings.Join(strings.Fields(s), " "), want) {
			t.Errorf("%s: %q is cut off:\n%s", key, want, s)
		}
		exact(t, a)
	}
}

// An unknown field name is an error with a suggestion, which tab takes.
func TestTabTakesTheSuggestedField(t *testing.T) {
	a := open(t, incident(), 80, 24)
	press(t, a, "/")
	word(t, a, "severity:critical")
	press(t, a, "tab")
	if got := a.prompt.Field.Text(); got != "sev:critical" {
		t.Errorf("tab made it %q:\n%s", got, screenOf(a))
	}
}

// The reasons of flags are not cut on a narrow screen.
func TestReasonsOfFlagsAreNotCut(t *testing.T) {
	a := open(t, incident(), 80, 24)
	press(t, a, "2", "!")
	if s := screenOf(a); !strings.Contains(s, "that is all it") || !strings.Contains(s, "do here.") {
		t.Errorf("cut:\n%s", screenOf(a))
	}
	exact(t, a)
}
