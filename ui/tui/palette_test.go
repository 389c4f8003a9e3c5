package tui

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/query"
)

// word types a text key by key.
func word(t testing.TB, a *app, text string) {
	t.Helper()
	for _, r := range text {
		if r == ' ' {
			press(t, a, "space")
			continue
		}
		press(t, a, string(r))
	}
}

// filterBy types a filter for the stream.
func filterBy(t testing.TB, a *app, text string) {
	t.Helper()
	press(t, a, "/")
	word(t, a, text)
	press(t, a, "enter")
}

func TestPaletteGoesToPlaces(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, ":")
	word(t, a, "chat server")
	exact(t, a)
	press(t, a, "enter")
	if a.stream.Query.Node != (query.Node{Server: "chat"}) || a.dialog != nil || a.panes.Focus != layout.Tree || a.tree.At != a.stream.Query.Node {
		t.Errorf("the scope is %+v, the keys are at %v of pane %d", a.stream.Query.Node, a.tree.At, a.panes.Focus)
	}
	press(t, a, ":")
	word(t, a, "deploy type")
	press(t, a, "enter")
	if a.tree.At.Type != trust.Untrusted("deploy.finished") {
		t.Errorf("the scope is %+v", a.tree.At)
	}
	press(t, a, ":")
	word(t, a, "fre vie")
	if c := a.dialog.(*palette.Palette).Chosen(); c == nil || !strings.Contains(c.Text.Plain(), "freeze the view") {
		t.Errorf("starts of words find %+v", c)
	}
	press(t, a, "ctrl+u")
	word(t, a, "frz vw")
	if c := a.dialog.(*palette.Palette).Chosen(); c != nil {
		t.Errorf("scattered letters find %+v", c)
	}
	if s := screenOf(a); !strings.Contains(s, "nothing has this name; ctrl+u clears the line") {
		t.Errorf("what to do is not said:\n%s", s)
	}
}

// One esc closes the palette with any typed text, and changes nothing else.
func TestOneEscLeavesThePalette(t *testing.T) {
	for _, line := range []string{"", "th", "goto 14:0", "frz vw"} {
		a := open(t, incident(), 120, 40)
		press(t, a, "2", "k")
		before := screenOf(a)
		press(t, a, ":")
		word(t, a, line)
		press(t, a, "esc")
		if s := screenOf(a); s != before {
			t.Errorf("after %q esc shows\n%s", line, s)
		}
	}
}

// Words of other programs find the action in the first row.
func TestPaletteKnowsWordsOfOtherPrograms(t *testing.T) {
	for typed, want := range map[string]string{
		"mute": "hide or mute this type", "hide": "hide or mute this type", "hide type": "hide or mute this type", "ignore": "hide or mute this type",
		"jump": ":goto", "go to time": ":goto", "goto": ":goto",
	} {
		a := open(t, incident(), 120, 40)
		press(t, a, "2", ":")
		word(t, a, typed)
		if c := a.dialog.(*palette.Palette).Chosen(); c == nil || !strings.Contains(c.Text.Plain(), want) {
			t.Errorf("%q finds %+v", typed, c)
		}
	}
}

func TestTimesAndRecordsAreTyped(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, "2", "g", ":")
	first := a.stream.At
	word(t, a, "#2")
	if !strings.Contains(screenOf(a), "go to a moment") {
		t.Errorf("the line does not say what it does:\n%s", screenOf(a))
	}
	press(t, a, "enter")
	if a.dialog != nil || a.stream.At != 2 || first == 2 {
		t.Errorf("#2 leads to %d", a.stream.At)
	}
	press(t, a, ":")
	word(t, a, start.Add(time.Hour).Format("15:04:05"))
	press(t, a, "enter")
	if d, ok := a.dialog.(*palette.Palette); ok {
		t.Errorf("a time is no place: %q, %v", d.Problem, d.Chosen())
	}
}

func TestHidingAType(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, "2", "g")
	r, _ := a.stream.Chosen()
	press(t, a, ":")
	word(t, a, "hide this type")
	press(t, a, "enter")
	if want := "!type:"; !strings.HasPrefix(a.stream.Query.Text, want) {
		t.Fatalf("the filter is %q", a.stream.Query.Text)
	}
	for _, seq := range a.stream.Seqs {
		if x, ok := a.stream.Record(seq); ok && x.Type.Raw() == r.Type.Raw() {
			t.Errorf("record %d has the type still", seq)
		}
	}
}

func TestTypedCommands(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	run := func(line string) error {
		t.Helper()
		press(t, a, ":")
		word(t, a, line)
		exact(t, a)
		press(t, a, "enter")
		if d, ok := a.dialog.(*palette.Palette); ok {
			problem := d.Problem
			if !strings.Contains(screenOf(a), problem[:min(len(problem), 30)]) {
				t.Errorf("%q is not under the line", problem)
			}
			press(t, a, "esc")
			return errors.New(problem)
		}
		return nil
	}
	if err := run(`sub incident.resolved severity=P2 n=5 mode=push`); err != nil {
		t.Fatal(err)
	}
	press(t, a, "ctrl+s")
	if r := h.asked[0]; r.Server != "pager" || string(r.Args) != `{"severity":"P2","n":5}` || r.Mode != event.ModePush {
		t.Errorf("asked %+v", r)
	}
	for line, want := range map[string]string{
		"sub nothing.here": "unknown event type", "sub incident.created mode=pull": "mode is", "view nosuch": "not found",
		"goto nowhere": "is no moment", "goto #99": "there is no record", "theme nosuch": "no theme", "fliter x": "did you mean", "subscribe pager": "with words it is: sub TYPE", "sub incident.created x": "name=value",
		`filter "x`: "not closed", "time now": "time local",
	} {
		if err := run(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	if err := run("time utc"); err != nil || a.Times != cells.TimeUTC {
		t.Errorf("%v, times are %v", err, a.Times)
	}
	if err := run("goto #2"); err != nil || a.stream.At != 2 || a.stream.Follow {
		t.Errorf("%v, at %d", err, a.stream.At)
	}
	if err := run("goto 2026-03-14 14:03:06"); err != nil || a.stream.At != 4 {
		t.Errorf("%v, at %d", err, a.stream.At)
	}
	press(t, a, ":", "up")
	if text := a.dialog.(*palette.Palette).Field.Text(); text != "goto 2026-03-14 14:03:06" {
		t.Errorf("the history begins with %q", text)
	}
	press(t, a, "esc")
	if d := a.dialog; d != nil {
		t.Errorf("esc leaves %T", d)
	}
}

func TestCommandsComplete(t *testing.T) {
	h := incident()
	h.snap.Servers[0].Types[0].InputSchema = json.RawMessage(`{"properties":{"severity":{"type":"string","enum":["P1","P2"]},"n":{"type":"integer"}}}`)
	a := open(t, h, 120, 40)
	press(t, a, ":")
	word(t, a, "sub incident.c")
	press(t, a, "tab")
	word(t, a, "sev")
	press(t, a, "tab")
	if text := a.dialog.(*palette.Palette).Field.Text(); text != "sub incident.created severity=" {
		t.Errorf("completed to %q", text)
	}
	word(t, a, "P2")
	press(t, a, "enter", "ctrl+s")
	if len(h.asked) != 1 || string(h.asked[0].Args) != `{"severity":"P2"}` {
		t.Errorf("asked %+v", h.asked)
	}
}

func must(t *testing.T, a *app, line string) tea.Cmd {
	t.Helper()
	cmd, err := a.actions.Execute(line)
	if err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestSubscriptionCommands(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	press(t, a, "2", "k", "j")
	for _, line := range []string{"mode", "mode auto", "failover maybe", "reset there"} {
		if _, err := a.actions.Execute(line); !errors.Is(err, palette.ErrUsage) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := a.actions.Execute("reset here"); err == nil {
		t.Error("a record without a cursor is read again")
	}
	for _, line := range []string{"mode poll", "failover on", "rotate", "refresh", "reset now"} {
		settle(a, must(t, a, line))
	}
	sub := a.choice.Subscription().ID
	r := a.log(a.stream.At)
	r.Seq, r.Cursor = 0, event.At(trust.Untrusted("c7"))
	h.add(r)
	arrive(a)
	press(t, a, "G")
	a.draw()
	press(t, a, "r", "y")
	want := []string{"mode poll", "failover true", "rotate", "refresh", "reset now", "reset c7"}
	for i := range want {
		want[i] += " " + string(sub)
	}
	if !slices.Equal(h.did, want) {
		t.Errorf("asked for %q, want %q", h.did, want)
	}
	press(t, a, "1", "g")
	if _, err := a.actions.Execute("mode poll"); !errors.Is(err, form.ErrNoSubscription) {
		t.Errorf("%v", err)
	}
}
