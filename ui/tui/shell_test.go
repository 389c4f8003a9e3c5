package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
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

func TestNoKeyIsTheKeyOfTwoActions(t *testing.T) {
	for _, problem := range bind(actions(), nil) {
		t.Error(problem)
	}
	ids := map[string]bool{}
	for _, x := range actions() {
		if x.id == "" || x.title == "" || x.group == "" || x.run == nil || ids[x.id] {
			t.Errorf("%q: a row that is not whole, or is there twice", x.id)
		}
		ids[x.id] = true
	}
}

func settingsOf(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestKeysAreBoundAndUnbound(t *testing.T) {
	file := settingsOf(t, `{"keys": {"subscribe": ["S"], "unsubscribe": [], "help": ["f1", "?"]}}`)
	a := openWith(t, incident(), Options{Settings: file, Theme: "none"})
	if s := screenOf(a); !strings.Contains(s, " S subscribe") || strings.Contains(s, "unsubscribe") || !strings.Contains(s, "f1 help") {
		t.Errorf("hints do not show the operator's keys:\n%s", s)
	}
	press(t, a, "1", "j", "j", "j", "D")
	if a.dialog != nil {
		t.Error("an unbound key works")
	}
	press(t, a, "k", "s")
	if a.dialog != nil {
		t.Error("the former key works")
	}
	press(t, a, "S")
	if _, ok := a.dialog.(*subForm); !ok {
		t.Errorf("the operator's key opens %T", a.dialog)
	}
}

func TestConflictsAndUnknownNamesAreTold(t *testing.T) {
	file := settingsOf(t, "{\"keys\": {\n\"subscribe\": [\"z\"],\n\"subscrib\": [\"u\"],\n\"marks\": [\"z\", \"\"]}}")
	a := openWith(t, incident(), Options{Settings: file, Theme: "none"})
	all := strings.Join(a.settingsProblems, "\n")
	for _, want := range []string{
		"settings.json:3:1: there is no action \"subscrib\", did you mean \"subscribe\"?",
		`settings.json:2:1: z is the key of "subscribe", which takes it from "zoom" (built in)`,
		`settings.json:2:1: z is the key of "subscribe", which takes it from "marks" (` + file + ":4:1)",
		"a key is missing",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not told in\n%s", want, all)
		}
	}
	if !a.note.bad {
		t.Error("nothing is told at the start")
	}
	if a.action("subscribe").key() != "z" || a.action("zoom").key() != "" {
		t.Errorf("subscribe has %q, zoom %q", a.action("subscribe").key(), a.action("zoom").key())
	}
	if _, err := a.execute("settings.problems"); err != nil || !strings.Contains(screenOf(a), "did you mean") {
		t.Errorf("%v\n%s", err, screenOf(a))
	}
	exact(t, a)
}

func TestSettingsAreReadAgainWhenTheyChanged(t *testing.T) {
	file := settingsOf(t, `{}`)
	a := openWith(t, incident(), Options{Settings: file, Theme: "none"})
	if cmd := a.reloadSettings(false); cmd() != nil {
		t.Error("a file that did not change was read")
	}
	if err := os.WriteFile(file, []byte(`{"keys":{"zoom":["Z"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	settle(a, a.update(tea.FocusMsg{}))
	if a.action("zoom").key() != "Z" {
		t.Errorf("zoom has %q", a.action("zoom").key())
	}
	if err := os.WriteFile(file, []byte(`{"keys":`), 0o600); err != nil {
		t.Fatal(err)
	}
	settle(a, a.update(tea.FocusMsg{}))
	if a.action("zoom").key() != "Z" || !a.note.bad || !strings.Contains(a.note.text, "settings.json:1:") {
		t.Errorf("after a mistake zoom has %q, told is %q", a.action("zoom").key(), a.note.text)
	}
	a.note = note{}
	settle(a, a.update(tea.FocusMsg{}))
	if a.note.bad {
		t.Error("the same mistake is told twice")
	}
}

func TestReadOnly(t *testing.T) {
	h := incident()
	a := openWith(t, h, Options{ReadOnly: true, Theme: "none"})
	press(t, a, "1", "j", "j", "j", "D")
	if a.dialog != nil || !strings.Contains(a.note.text, "only reads") {
		t.Errorf("D opens %T and says %q", a.dialog, a.note.text)
	}
	press(t, a, "P")
	if len(h.paused) > 0 {
		t.Error("paused")
	}
	for _, line := range []string{"sub incident.created", "unsubscribe"} {
		if _, err := a.execute(line); !errors.Is(err, errReadOnly) {
			t.Errorf("%s: %v", line, err)
		}
	}
	press(t, a, "?")
	if s := screenOf(a); strings.Contains(s, "end the subscription") {
		t.Errorf("help offers what cannot be done:\n%s", s)
	}
	press(t, a, "esc", ":")
	word(t, a, "subscribe to")
	if d := a.dialog.(*palette); d.chosen() != nil && d.chosen().keys == "s" {
		t.Error("the palette offers what cannot be done")
	}
}

func TestHelpFindsByTextAndByKey(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, "?")
	all := len(a.dialog.(*help).found)
	word(t, a, "zoom")
	if d := a.dialog.(*help); len(d.found) == 0 || len(d.found) >= all || d.rows[d.found[0]].id != "zoom" {
		t.Errorf("%d of %d found", len(d.found), all)
	}
	press(t, a, "enter")
	if a.size != sizeFull || a.dialog != nil {
		t.Error("enter did not run it")
	}
	press(t, a, "z", "?", "]")
	if d := a.dialog.(*help); d.rows[d.found[0]].id != "problem.next" {
		t.Errorf("] finds %s", d.rows[d.found[0]].id)
	}
	press(t, a, "esc", "ctrl+l")
	if d := a.dialog.(*help); d.rows[d.found[0]].id != "redraw" {
		t.Errorf("ctrl+l finds %s", d.rows[d.found[0]].id)
	}
	press(t, a, "esc", "esc")
	if a.dialog != nil {
		t.Error("esc does not leave")
	}
}

// TestHelpAndPaletteHoldWhatWorks is rule 6 of the acceptance list: what help
// shows works now, and the palette finds every action by its name.
func TestHelpAndPaletteHoldWhatWorks(t *testing.T) {
	a := open(t, incident(), 120, 40)
	for _, keys := range [][]string{{"1"}, {"1", "j", "j", "j"}, {"2"}, {"2", "g"}, {"3"}} {
		press(t, a, keys...)
		for _, x := range newHelp(a).rows {
			if !x.works(a) {
				t.Errorf("after %v help lists %s", keys, x.id)
			}
		}
		for i := range a.actions {
			x := &a.actions[i]
			if !x.works(a) || x.id == "palette" {
				continue
			}
			p := newPicker(a.everything())
			p.field.set(x.title)
			p.search()
			if c := p.chosen(); c == nil || c.text.Plain() != ours(x.title).Plain() {
				t.Errorf("after %v %q is not found by its name", keys, x.title)
			}
		}
	}
}

func TestPaletteGoesToPlaces(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, ":")
	word(t, a, "chat server")
	exact(t, a)
	press(t, a, "enter")
	if a.stream.query.node != (node{server: "chat"}) || a.dialog != nil {
		t.Errorf("the scope is %+v", a.stream.query.node)
	}
	press(t, a, ":")
	word(t, a, "deploy type")
	press(t, a, "enter")
	if a.tree.at.typ != trust.Untrusted("deploy.finished") {
		t.Errorf("the scope is %+v", a.tree.at)
	}
	press(t, a, ":")
	word(t, a, "frz vw")
	if c := a.dialog.(*palette).chosen(); c == nil || !strings.Contains(c.text.Plain(), "freeze the view") {
		t.Errorf("letters in order find %+v", c)
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
		if d, ok := a.dialog.(*palette); ok {
			problem := d.problem
			if !strings.Contains(screenOf(a), problem[:min(len(problem), 30)]) {
				t.Errorf("%q is not under the line", problem)
			}
			press(t, a, "esc", "esc")
			return errors.New(problem)
		}
		return nil
	}
	if err := run(`sub incident.resolved severity=P2 n=5 mode=push`); err != nil {
		t.Fatal(err)
	}
	if r := h.asked[0]; r.Server != "pager" || string(r.Args) != `{"severity":"P2","n":5}` || r.Mode != event.ModePush {
		t.Errorf("asked %+v", r)
	}
	for line, want := range map[string]string{
		"sub nothing.here": "unknown event type", "sub incident.created mode=pull": "mode is", "filter nosuch": "not found",
		"goto nowhere": "is no moment", "goto #99": "there is no record", "theme nosuch": "no theme", "fliter x": "did you mean", "sub incident.created x": "name=value",
		`filter "x`: "not closed", "time now": "time local",
	} {
		if err := run(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	if err := run("time utc"); err != nil || a.stream.clock != timeUTC {
		t.Errorf("%v, times are %v", err, a.stream.clock)
	}
	if err := run("goto #2"); err != nil || a.stream.at != 2 || a.stream.follow {
		t.Errorf("%v, at %d", err, a.stream.at)
	}
	if err := run("goto 2026-03-14 14:03:06"); err != nil || a.stream.at != 4 {
		t.Errorf("%v, at %d", err, a.stream.at)
	}
	press(t, a, ":", "up")
	if text := a.dialog.(*palette).field.text(); text != "goto 2026-03-14 14:03:06" {
		t.Errorf("the history begins with %q", text)
	}
	press(t, a, "esc", "esc")
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
	if text := a.dialog.(*palette).field.text(); text != "sub incident.created severity=" {
		t.Errorf("completed to %q", text)
	}
	word(t, a, "P2")
	press(t, a, "enter")
	if len(h.asked) != 1 || string(h.asked[0].Args) != `{"severity":"P2"}` {
		t.Errorf("asked %+v", h.asked)
	}
}

func TestFilterBar(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	press(t, a, "/")
	word(t, a, "pool")
	press(t, a, "enter")
	rows := len(a.stream.seqs)
	press(t, a, "x")
	if a.stream.query.text != "pool" || len(a.stream.seqs) <= rows || !strings.Contains(screenOf(a), "filter off pool") {
		t.Errorf("off: %q, %d rows", a.stream.query.text, len(a.stream.seqs))
	}
	press(t, a, "x")
	if len(a.stream.seqs) != rows {
		t.Error("on again shows something else")
	}
	press(t, a, "/")
	if a.prompt.field.text() != "pool" {
		t.Errorf("the bar opens with %q", a.prompt.field.text())
	}
	press(t, a, "ctrl+u")
	word(t, a, "p99")
	press(t, a, "enter", "/", "up")
	if a.prompt.field.text() != "p99" {
		t.Errorf("up shows %q", a.prompt.field.text())
	}
	press(t, a, "up")
	if a.prompt.field.text() != "pool" {
		t.Errorf("up and up shows %q", a.prompt.field.text())
	}
	press(t, a, "esc")
	if a.stream.query.text != "p99" {
		t.Errorf("esc leads to %q", a.stream.query.text)
	}
}

func TestFilterCompletes(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, "/")
	word(t, a, "server:ch")
	press(t, a, "tab")
	if got := a.prompt.field.text(); !strings.HasPrefix(got, "server:chat") || len(a.stream.seqs) != 2 {
		t.Errorf("completed to %q, %d rows", got, len(a.stream.seqs))
	}
	exact(t, a)
	press(t, a, "ctrl+u")
	word(t, a, "mo")
	press(t, a, "tab")
	first := a.prompt.field.text()
	press(t, a, "tab", "tab")
	if !strings.HasPrefix(first, "mo") {
		t.Errorf("completed to %q", first)
	}
	press(t, a, "ctrl+u")
	word(t, a, ".sever")
	press(t, a, "tab")
	if got := a.prompt.field.text(); !strings.HasPrefix(got, ".severity") {
		t.Errorf("a path is completed to %q", got)
	}
}

func TestFiltersAreSavedByName(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	press(t, a, "/")
	word(t, a, "p99")
	press(t, a, "enter")
	settle(a, must(t, a, "filter save slow"))
	press(t, a, "esc")
	if a.stream.query.text != "" {
		t.Fatal("esc keeps the filter")
	}
	b := open(t, h, 120, 40)
	settle(b, must(t, b, "filter slow"))
	if b.stream.query.text != "p99" || !strings.Contains(screenOf(b), "filter slow: p99") {
		t.Errorf("the saved filter is %q", b.stream.query.text)
	}
	settle(b, must(t, b, "filter delete slow"))
	if _, err := open(t, h, 120, 40).execute("filter slow"); !errors.Is(err, event.ErrNotFound) {
		t.Errorf("%v", err)
	}
	for _, line := range []string{"filter save", "filter save off"} {
		if _, err := b.execute(line); !errors.Is(err, errUsage) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func must(t *testing.T, a *app, line string) tea.Cmd {
	t.Helper()
	cmd, err := a.execute(line)
	if err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestSearchHidesNothing(t *testing.T) {
	h := incident()
	for i := range 30 {
		h.event("pager", "incident.created", fmt.Sprint("needle ", i%10))
	}
	a := open(t, h, 120, 40)
	rows := len(a.stream.seqs)
	press(t, a, "2", "\\")
	word(t, a, "Needle 3")
	press(t, a, "enter")
	if len(a.stream.seqs) != rows {
		t.Error("the search hides rows")
	}
	at := a.stream.at
	if !strings.Contains(string(a.log(at).Data), "needle 3") {
		t.Fatalf("the search leads to %d", at)
	}
	press(t, a, "N")
	if a.stream.at >= at || !strings.Contains(string(a.log(a.stream.at).Data), "needle 3") {
		t.Errorf("N leads to %d from %d", a.stream.at, at)
	}
	press(t, a, "n")
	if a.stream.at != at {
		t.Errorf("n leads to %d, was %d", a.stream.at, at)
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
	if a.search.text != "" {
		t.Error("esc keeps the search")
	}
}

func (a *app) log(seq uint64) event.Record { r, _ := a.eventAt(seq); return r }

func TestTimeViews(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	for want, view := range map[string]timeView{"14:03:05.3 pager": timeLocal, "14:03:05 Z pager": timeUTC, "0 s pager": timeRelative, "+300ms chat": timeDelta} {
		a.stream.clock = view
		if s := screenOf(a); !strings.Contains(s, want) {
			t.Errorf("%v: no %q in\n%s", view, want, s)
		}
		exact(t, a)
	}
	a.stream.clock = timeLocal
	press(t, a, "t")
	if a.stream.clock != timeUTC || !strings.Contains(screenOf(a), "times are in UTC") {
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
	if a.stream.pan != 2*panStep {
		t.Errorf("the pan is %d", a.stream.pan)
	}
	press(t, a, "h", "h", "h")
	if a.stream.pan != 0 {
		t.Errorf("the pan is %d", a.stream.pan)
	}
}

func TestMarksStayOnTheirRecords(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	press(t, a, "2", "g", "j", "m")
	word(t, a, "look here")
	press(t, a, "enter")
	if len(h.marks) != 1 || h.marks[0].Seq != 2 || h.marks[0].Note != "look here" {
		t.Fatalf("marks %+v", h.marks)
	}
	arrive(a)
	press(t, a, "/")
	word(t, a, "server:chat")
	press(t, a, "enter")
	if s := screenOf(a); !strings.Contains(s, "◆14:03:05.6") {
		t.Errorf("the mark does not show:\n%s", s)
	}
	press(t, a, "M")
	arrive(a)
	h.event("chat", "message.posted", "after the line")
	arrive(a)
	exact(t, a)
	lines := strings.Split(screenOf(a), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "── 2026-03-14 14:03:05") })
	if at < 0 || !strings.Contains(lines[at+1], "after the line") {
		t.Errorf("the line does not stand behind the newest record:\n%s", strings.Join(lines, "\n"))
	}
	press(t, a, "esc", "G", "'")
	exact(t, a)
	word(t, a, "look")
	press(t, a, "enter")
	if a.stream.at != 2 || a.stream.follow {
		t.Errorf("the list leads to %d", a.stream.at)
	}
	press(t, a, "m", "ctrl+u", "enter")
	if len(h.marks) != 1 {
		t.Errorf("an empty note left %+v", h.marks)
	}
}

// TestLinesDoNotHideTheChoice draws more lines than fit between the rows.
func TestLinesDoNotHideTheChoice(t *testing.T) {
	h := incident()
	for i := range 60 {
		seq := h.event("pager", "incident.created", fmt.Sprint("event ", i))
		h.marks = append(h.marks, event.Mark{Seq: seq, At: start, Line: true})
	}
	a := open(t, h, 120, 24)
	for range 70 {
		press(t, a, "2", "k")
		exact(t, a)
		if want := fmt.Sprintf("▶%s", a.log(a.stream.at).ReceivedAt.Format(timeLong)); !strings.Contains(screenOf(a), want) {
			t.Fatalf("row %d does not show:\n%s", a.stream.at, screenOf(a))
		}
	}
	press(t, a, "G")
	if s := screenOf(a); !strings.Contains(s, "event 59") {
		t.Errorf("the newest does not show:\n%s", s)
	}
}

func TestSelectAndCopy(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	copied := func(keys ...string) string {
		t.Helper()
		press(t, a, keys[:len(keys)-1]...)
		cmd := a.key(tea.KeyPressMsg{Code: rune(keys[len(keys)-1][0]), Text: keys[len(keys)-1]})
		if cmd == nil {
			return ""
		}
		return fmt.Sprint(cmd())
	}
	press(t, a, "2", "g")
	if s := copied("y", "k"); s != "eventdeck tail pager incident.created --mode push" {
		t.Errorf("the command is %q", s)
	}
	if s := copied("y", "l"); !strings.HasPrefix(s, "2026-03-14 14:03:05.300  pager  incident.created  p99 latency") {
		t.Errorf("the row is %q", s)
	}
	if s := copied("y", "c"); s != "" || !strings.Contains(screenOf(a), "no cursor") {
		t.Errorf("the cursor is %q", s)
	}
	press(t, a, "v", "j")
	exact(t, a)
	if s := copied("y", "i"); s != "evt_1\nevt_2" {
		t.Errorf("the ids are %q", s)
	}
	h.event("pager", "incident.created", "later")
	arrive(a)
	if first, last := a.stream.ends(); first != 1 || last != 2 {
		t.Errorf("an arrival moved the range to %d to %d", first, last)
	}
	press(t, a, "esc")
	if a.stream.selected.on {
		t.Error("esc keeps the range")
	}
}

func TestLayoutIsRemembered(t *testing.T) {
	h := incident()
	now := start
	open := func() *app {
		a := newApp(context.Background(), Options{API: h, Env: quiet, Theme: "none", Now: func() time.Time { return now }})
		a.update(tea.WindowSizeMsg{Width: 120, Height: 40})
		a.draw()
		return a
	}
	a := open()
	press(t, a, "1", "j", "j", "h", "l", "t", "2", "/")
	word(t, a, "p99")
	press(t, a, "enter", "x", "k", "k", "z")
	now = now.Add(2 * time.Second)
	settle(a, a.save(false))
	want := a.present()
	b := open()
	if got := b.present(); !slices.Equal(got.Closed, want.Closed) || got.Node != want.Node || got.Filter != "p99" || !got.Off || got.Reading != want.Reading || got.Focus != want.Focus || got.Size != sizeFull || got.Clock != timeUTC {
		t.Errorf("remembered %+v, was %+v", got, want)
	}
	if b.stream.at != a.stream.at || b.stream.follow {
		t.Errorf("reading at %d, was at %d", b.stream.at, a.stream.at)
	}
	h.settings[keptLayout] = `{"focus":99,"clock":77,"filter":"(("}`
	c := open()
	exact(t, c)
	h.settings[keptLayout] = `nonsense`
	if d := open(); !d.note.bad {
		t.Error("a memory that cannot be read is not told")
	}
}

// TestSavesAreFew holds the screen to one save at a time, at most one a second.
func TestSavesAreFew(t *testing.T) {
	h := incident()
	now := start
	a := newApp(context.Background(), Options{API: h, Env: quiet, Theme: "none", Now: func() time.Time { return now }})
	a.update(tea.WindowSizeMsg{Width: 120, Height: 40})
	settle(a, a.save(false))
	press(t, a, "z")
	if a.save(false) != nil {
		t.Error("saved twice in a second")
	}
	now = now.Add(saveEvery)
	cmd := a.save(false)
	if cmd == nil {
		t.Fatal("not saved after a second")
	}
	press(t, a, "z")
	now = now.Add(saveEvery)
	if a.save(false) != nil {
		t.Error("a save began while another one runs")
	}
	settle(a, cmd)
	if a.save(false) == nil {
		t.Error("what changed meanwhile is not saved")
	}
}

func TestProgramsOfTheOperator(t *testing.T) {
	find := func(name string) (string, error) {
		if name == "vi" || name == "more" {
			return "/bin/" + name, nil
		}
		return "", os.ErrNotExist
	}
	env := func(pairs ...string) func(string) string { return environment(pairs) }
	for _, c := range []struct {
		p    program
		env  func(string) string
		want []string
	}{
		{pager, env(), []string{"/bin/more"}}, {pager, env("PAGER=less -R"), []string{"less", "-R"}},
		{editorProgram, env("EDITOR=ed", "VISUAL='my code' --wait"), []string{"my code", "--wait"}}, {editorProgram, env(), []string{"/bin/vi"}},
	} {
		if got, err := c.p.words("linux", c.env, find); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v, %v; want %v", got, err, c.want)
		}
	}
	if got, err := editorProgram.words("windows", env(`EDITOR=C:\Tools\edit.exe -w`), find); err != nil || !slices.Equal(got, []string{`C:\Tools\edit.exe`, "-w"}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := pager.words("linux", env(), func(string) (string, error) { return "", os.ErrNotExist }); !errors.Is(err, errNoProgram) {
		t.Errorf("%v", err)
	}
}

func TestReadableActsOnNoTerminal(t *testing.T) {
	for _, c := range hostileCases(t) {
		raw := c.raw()
		if len(raw) > 1<<16 {
			continue
		}
		r := event.Record{Data: raw}
		text := string(readable(&r))
		for _, x := range text {
			if x != '\n' && (x < 0x20 || x >= 0x7f && x < 0xa0 || x == 0x202e || x == 0x2028) {
				t.Errorf("%s: %U reaches the pager", c.ID, x)
			}
		}
	}
	file, err := writeTemp([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestClipboardOfTheSystem(t *testing.T) {
	find := func(have ...string) func(string) (string, error) {
		return func(name string) (string, error) {
			if slices.Contains(have, name) {
				return "/bin/" + name, nil
			}
			return "", os.ErrNotExist
		}
	}
	for _, c := range []struct {
		system string
		env    []string
		have   []string
		want   string
	}{
		{"linux", nil, []string{"xclip"}, ""}, {"linux", []string{"DISPLAY=:0"}, []string{"xsel"}, "/bin/xsel"},
		{"linux", []string{"DISPLAY=:0", "WAYLAND_DISPLAY=w"}, []string{"xclip", "wl-copy"}, "/bin/wl-copy"},
		{"linux", []string{"DISPLAY=:0", "SSH_TTY=/dev/pts/1"}, []string{"xclip"}, ""},
		{"darwin", nil, []string{"pbcopy"}, "/bin/pbcopy"}, {"linux", []string{"WSL_DISTRO_NAME=x"}, []string{"clip.exe"}, "/bin/clip.exe"},
	} {
		if got := clipboardFor(c.system, environment(c.env), find(c.have...)); got.name != c.want {
			t.Errorf("%s %v: %q, want %q", c.system, c.env, got.name, c.want)
		}
	}
	if got := utf16LE("é"); string(got) != "\xff\xfe\xe9\x00" {
		t.Errorf("% x", got)
	}
	if err := (clipboard{name: filepath.Join(t.TempDir(), "none")}).set(t.Context(), "x"); err == nil {
		t.Error("a program that is not there took the text")
	}
}

func TestSubscriptionCommands(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	press(t, a, "2")
	for _, line := range []string{"mode", "mode auto", "failover maybe", "reset there"} {
		if _, err := a.execute(line); !errors.Is(err, errUsage) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := a.execute("reset here"); err == nil {
		t.Error("a record without a cursor is read again")
	}
	for _, line := range []string{"mode poll", "failover on", "rotate", "refresh", "reset now"} {
		settle(a, must(t, a, line))
	}
	sub := a.selected().ID
	r := a.log(a.stream.at)
	r.Seq, r.Cursor = 0, event.At(trust.Untrusted("c7"))
	h.add(r)
	arrive(a)
	press(t, a, "r", "y")
	want := []string{"mode poll", "failover true", "rotate", "refresh", "reset now", "reset c7"}
	for i := range want {
		want[i] += " " + string(sub)
	}
	if !slices.Equal(h.did, want) {
		t.Errorf("asked for %q, want %q", h.did, want)
	}
	press(t, a, "1", "g")
	if _, err := a.execute("mode poll"); !errors.Is(err, errNoSubscription) {
		t.Errorf("%v", err)
	}
}
