package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/layout"
)

// checkout returns a host with an incident whose id is a different member on each server.
func checkout() *fakeHost {
	h := incident()
	add := func(server, typ, data string) uint64 {
		return h.add(event.Record{Kind: event.KindEvent, Server: server, Type: trust.Untrusted(typ), Mode: event.ModePush,
			Data: json.RawMessage(data), Raw: []byte(`{"data":` + data + `}`)})
	}
	add("pager", "incident.created", `{"incident":"INC-7","severity":"critical","title":"Checkout fails","service":"checkout"}`)
	add("pager", "incident.created", `{"incident":"INC-8","severity":"info","title":"Another one","service":"search"}`)
	for i := range 5 {
		add("pager", "incident.created", fmt.Sprintf(`{"incident":"INC-7","severity":"warning","title":"queue grows","service":"payments","step":%d}`, i))
	}
	add("chat", "message.posted", `{"data":{"id":"INC-7"},"title":"I am looking"}`)
	add("chat", "message.posted", `{"incidentId":"INC-7","title":"rolled back","count":3}`)
	return h
}

// Two keys filter the stream by the incident of the chosen event.
func TestIncidentIsFollowedOverServers(t *testing.T) {
	a := open(t, checkout(), 120, 40)
	press(t, a, "2", "=")
	if got := a.stream.Query.Text; got != "value:INC-7" {
		t.Fatalf("the filter is %q", got)
	}
	screen := screenOf(a)
	for _, want := range []string{"Checkout fails", "I am looking", "rolled back"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not shown:\n%s", want, screen)
		}
	}
	if strings.Contains(screen, "Another one") || strings.Contains(screen, "pool exhausted") {
		t.Errorf("what has another id is shown:\n%s", screen)
	}
	exact(t, a)
	press(t, a, "esc")
	if a.stream.Query.Text != "" {
		t.Error("esc does not take the filter away")
	}
}

// Keys for values act on the value of the chosen line of the detail, and leave the focus there.
func TestKeysForValuesOfTheDetail(t *testing.T) {
	a := open(t, checkout(), 120, 60)
	press(t, a, "2", "enter")
	choose := func(text string) {
		t.Helper()
		for i := range a.detail.Lines {
			if strings.Contains(a.detail.Lines[i].Text.Plain(), text) {
				a.detail.By(i - a.detail.At)
				return
			}
		}
		t.Fatalf("no line has %q:\n%s", text, screenOf(a))
	}
	a.draw()
	choose(`"INC-7"`)
	press(t, a, "=")
	choose(`"count"`)
	press(t, a, "+")
	if got := a.stream.Query.Text; got != "value:INC-7 .count=3" || a.panes.Focus != layout.Detail {
		t.Errorf("the filter is %q, the keys are at %v", got, a.panes.Focus)
	}
	choose(`"count"`)
	for _, c := range []struct{ key, want string }{{"=", ".count=3"}, {"-", "!.count=3"}} {
		if press(t, a, c.key); a.stream.Query.Text != c.want {
			t.Errorf("%s makes the filter %q, not %q", c.key, a.stream.Query.Text, c.want)
		}
	}
	a = open(t, checkout(), 120, 60)
	press(t, a, "2", "enter")
	a.draw()
	choose("message.posted")
	press(t, a, "-")
	if got := a.stream.Query.Text; got != "!type:=\"message.posted\"" {
		t.Errorf("a type is left out by %q", got)
	}
}

// The detail opens at the first value of the payload, where keys for values work at once. A line
// that the operator chose stays chosen.
func TestDetailOpensAtItsFirstValue(t *testing.T) {
	for _, to := range []string{"enter", "3", "tab"} {
		for key, want := range map[string]string{"=": ".n=12345678901234567", "+": ".n=12345678901234567", "-": "!.n=12345678901234567"} {
			a := open(t, incident(), 120, 40)
			press(t, a, "2", to, key)
			if got := a.stream.Query.Text; got != want {
				t.Errorf("after %s %s filters by %q: %s", to, key, got, statusLine(a))
			}
		}
		a := open(t, incident(), 120, 40)
		if press(t, a, "2", to, "*"); !strings.Contains(statusLine(a), "12345678901234567 is pinned") {
			t.Errorf("after %s * says %q", to, statusLine(a))
		}
	}
	a := open(t, incident(), 120, 40)
	press(t, a, "2", "enter", "j", "esc", "enter", "=")
	if got := a.stream.Query.Text; got != "value:P1" {
		t.Errorf("back in the detail = filters by %q", got)
	}
}

// On a line without a value, keys for values say which keys move to another line.
func TestKeysOnALineWithoutAValue(t *testing.T) {
	for keys, want := range map[string]string{
		"2 enter g =": "no value on this line: j and k move to one", "2 enter z g -": "no value on this line: down and up move to one", "2 =": "no id was found in the chosen row",
	} {
		a := open(t, incident(), 120, 40)
		press(t, a, strings.Fields(keys)...)
		if got := statusLine(a); !strings.Contains(got, want) || a.stream.Query.Text != "" {
			t.Errorf("%s: filter %q, %q", keys, a.stream.Query.Text, got)
		}
	}
}

// A pinned value is highlighted in rows and in the detail, without colours by an attribute, and only
// as a whole value.
func TestPinnedValuesAreHighlighted(t *testing.T) {
	a := open(t, checkout(), 160, 45)
	press(t, a, "2", "*")
	frame := a.draw()
	if n := len(regexp.MustCompile(`\x1b\[[0-9;]*[0-9]m(\x1b\[[0-9;]*m)*INC-7`).FindAllString(frame, -1)); n == 0 || !strings.Contains(screenOf(a), "INC-7 is pinned") {
		t.Errorf("the value does not stand out:\n%q", frame)
	}
	exact(t, a)
	plain := a.Pins
	press(t, a, "*")
	if len(plain) != 1 || len(a.Pins) != 0 {
		t.Errorf("pins %v, then %v", plain, a.Pins)
	}
}

// In the dialogs of repeats and related records each key of the stream works, or says where it works.
func TestKeysOfTheStreamInItsDialogs(t *testing.T) {
	for _, open := range []string{"#", "&"} {
		for key, want := range map[string]string{
			"B": "B works in the stream: enter goes to the row there (compare two events", "y": "y works in the stream: enter goes to the row there (copy",
			"=": "= works in the stream", "D": "D works in the stream", "é": "é does nothing here", "j": "", "G": "",
		} {
			a := openWith(t, checkout(), Options{Theme: "none"})
			a.update(tea.WindowSizeMsg{Width: 160, Height: 45})
			press(t, a, "2", open)
			before := screenOf(a)
			press(t, a, key)
			if got := statusLine(a); a.dialog == nil || want != "" && !strings.Contains(got, want) || want == "" && strings.Contains(got, key+" ") {
				t.Errorf("%s %s says %q; before:\n%s", open, key, got, before)
			}
		}
	}
}

func TestRelated(t *testing.T) {
	a := open(t, checkout(), 140, 45)
	press(t, a, "2", "&")
	screen := screenOf(a)
	for _, want := range []string{"Related: INC-7, by time occurred", "8 records", "pager incident.created", "chat message.posted", "Checkout fails"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not shown:\n%s", want, screen)
		}
	}
	if strings.Contains(screen, "Another one") {
		t.Errorf("what has another id is shown:\n%s", screen)
	}
	exact(t, a)
	at := a.stream.At
	press(t, a, "#")
	if screen := screenOf(a); !strings.Contains(screen, "queue grows x5") {
		t.Errorf("repeats are not folded:\n%s", screen)
	}
	press(t, a, "k", "k", "l", "k")
	exact(t, a)
	press(t, a, "#", "g", "enter")
	if r, _ := a.stream.Record(a.stream.At); a.dialog != nil || a.stream.At == at || !strings.Contains(string(r.Data), "Checkout fails") {
		t.Errorf("enter leads to %d: %s", a.stream.At, r.Data)
	}
	for _, size := range [][2]int{{60, 20}, {40, 12}, {100, 30}} {
		a := open(t, checkout(), size[0], size[1])
		press(t, a, "2", "&")
		exact(t, a)
	}
}

func TestRepeatsOfTheStream(t *testing.T) {
	a := open(t, checkout(), 120, 40)
	press(t, a, "2", "#")
	if screen := screenOf(a); !strings.Contains(screen, "queue grows x5") || !strings.Contains(screen, "Another one") {
		t.Errorf("repeats are not folded:\n%s", screen)
	}
	press(t, a, "esc")
	if a.dialog != nil {
		t.Error("esc does not close it")
	}
}

func TestTopValuesLeadToAFilter(t *testing.T) {
	a := open(t, checkout(), 120, 40)
	settle(a, must(t, a, "top .service"))
	screen := screenOf(a)
	if !strings.Contains(screen, "Top values of .service") || !strings.Contains(screen, "payments") || !strings.Contains(screen, "3 values") {
		t.Fatalf("the values are not counted:\n%s", screen)
	}
	exact(t, a)
	press(t, a, "enter")
	if got := a.stream.Query.Text; got != ".service=payments" || a.dialog != nil {
		t.Errorf("enter leads to %q", got)
	}
}

// Without a path the command offers paths of seen payloads.
func TestTopOffersSeenPaths(t *testing.T) {
	a := open(t, checkout(), 120, 40)
	press(t, a, ":")
	word(t, a, "top")
	press(t, a, "enter")
	if screen := screenOf(a); !strings.Contains(screen, "top .incidentId") || !strings.Contains(screen, "top .service") {
		t.Fatalf("no path is offered:\n%s", screen)
	}
	press(t, a, "enter")
	if screen := screenOf(a); !strings.Contains(screen, "a path is needed, such as .service") || !strings.Contains(screen, "top .incidentId") {
		t.Errorf("nothing is said:\n%s", screen)
	}
	exact(t, a)
	press(t, a, "down", "enter")
	if screen := screenOf(a); !strings.Contains(screen, "Top values of .") {
		t.Errorf("a path that is chosen is not counted:\n%s", screen)
	}
}

func TestCompareTwoEvents(t *testing.T) {
	a := open(t, checkout(), 120, 40)
	press(t, a, "2", "B")
	if !strings.Contains(screenOf(a), "choose another") {
		t.Errorf("nothing says what is next:\n%s", screenOf(a))
	}
	press(t, a, "k", "B")
	screen := screenOf(a)
	for _, want := range []string{".incidentId", ".data.id", `"INC-7"`, "(absent)"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not shown:\n%s", want, screen)
		}
	}
	exact(t, a)
	press(t, a, "esc")
}

// Two keys write the report of the incident of the chosen event.
func TestReportInTwoKeys(t *testing.T) {
	a := open(t, checkout(), 120, 40)
	dir := t.TempDir()
	t.Chdir(dir)
	press(t, a, "2", "E", "enter")
	text, err := os.ReadFile(filepath.Join(dir, "incident-INC-7.md"))
	if err != nil {
		t.Fatalf("%v\n%s", err, screenOf(a))
	}
	if got := string(text); !strings.Contains(got, "# Incident INC-7") || !strings.Contains(got, "(5 times in") || strings.Contains(got, "INC-8") {
		t.Errorf("%s", got)
	}
	if !strings.Contains(screenOf(a), "report of 8 records") {
		t.Errorf("nothing says what was written:\n%s", screenOf(a))
	}
	press(t, a, "E", "enter")
	if !strings.Contains(screenOf(a), "enter again replaces it") {
		t.Errorf("a file is replaced without a word:\n%s", screenOf(a))
	}
	press(t, a, "esc")
}

// noCommands runs no command, for tests with random keys.
func noCommands(_ context.Context, args []string, input []byte) ([]byte, error) {
	if len(args)%2 == 0 {
		return nil, errors.New("no command runs here")
	}
	return input, nil
}

func TestPipe(t *testing.T) {
	a := open(t, checkout(), 120, 40)
	press(t, a, "2", "|")
	word(t, a, "no-such-command-here x")
	press(t, a, "enter")
	if a.prompt == nil || a.prompt.Field.Text() != "no-such-command-here x" || !strings.Contains(screenOf(a), "there is no command") {
		t.Fatalf("a line that failed is not kept:\n%s", screenOf(a))
	}
	press(t, a, "ctrl+u")
	word(t, a, os.Args[0]+" -test.run=TestPipedCommand")
	t.Setenv("EVENTDECK_PIPED", "1")
	press(t, a, "enter")
	screen := screenOf(a)
	if !strings.Contains(screen, "Output of") || !strings.Contains(screen, "untrusted-") || strings.ContainsRune(screen, '\x1b') {
		t.Errorf("the output is not shown:\n%s", screen)
	}
	exact(t, a)
	press(t, a, "esc", "|", "up")
	if got := a.prompt.Field.Text(); !strings.Contains(got, "TestPipedCommand") {
		t.Errorf("the history has %q", got)
	}
	press(t, a, "esc")
}

// TestPipedCommand is the command of [TestPipe].
func TestPipedCommand(t *testing.T) {
	if os.Getenv("EVENTDECK_PIPED") == "" {
		t.Skip("it is run by another test")
	}
	b := make([]byte, 4096)
	n, _ := os.Stdin.Read(b)
	os.Stdout.WriteString("\x1b[31m" + string(b[:n]))
}

// The list of related records names its order and time, and the flags of its rows.
func TestRelatedNamesItsOrderAndFlags(t *testing.T) {
	h := checkout()
	h.add(event.Record{Kind: event.KindEvent, Server: "chat", Type: trust.Untrusted("message.posted"), Mode: event.ModePush,
		Data: json.RawMessage(`{"incidentId":"INC-7","title":"\u001b[31mred"}`), Raw: []byte(`{}`)})
	a := open(t, h, 120, 40)
	press(t, a, "2", "&")
	if s := screenOf(a); !strings.Contains(s, "oldest first, as of 14:03:05") || !strings.Contains(s, "!ctl") {
		t.Errorf("it does not say in which order, of when, or drops what was noticed:\n%s", s)
	}
	exact(t, a)
	press(t, a, "#")
	if s := screenOf(a); !strings.Contains(s, "Related: INC-7, by time occurred, repeats folded") || !strings.Contains(s, "!ctl") {
		t.Errorf("folded:\n%s", s)
	}
	press(t, a, "#")
	if s := screenOf(a); strings.Contains(s, "repeats folded") {
		t.Errorf("unfolded it calls itself folded:\n%s", s)
	}
	press(t, a, "esc", "#", "#")
	if s := screenOf(a); strings.Contains(s, "epeats folded") {
		t.Errorf("unfolded it calls itself folded:\n%s", s)
	}
}

// The first record of a comparison stays on the top line until esc.
func TestPendingComparisonStaysVisible(t *testing.T) {
	a := open(t, checkout(), 120, 40)
	press(t, a, "2", "B", "k", "k")
	if s := screenOf(a); !strings.Contains(s, "comparing #") {
		t.Errorf("it is not in view:\n%s", s)
	}
	press(t, a, "esc")
	if s := screenOf(a); a.trace.Comparing != 0 || strings.Contains(s, "comparing #") {
		t.Errorf("esc does not end it:\n%s", s)
	}
}

// The prompt for a command begins empty, and says that no shell reads it.
func TestPipeLine(t *testing.T) {
	a := open(t, checkout(), 120, 40)
	a.persist.Pipes = []string{"jq .data"}
	press(t, a, "2", "|")
	if got := a.prompt.Field.Text(); got != "" || !strings.Contains(screenOf(a), "input: envelopes; for JSON lines begin with ndjson") || !strings.Contains(screenOf(a), "up: jq .data") {
		t.Errorf("it begins with %q:\n%s", got, screenOf(a))
	}
	word(t, a, "jq; rm")
	if s := screenOf(a); !strings.Contains(s, "there is no shell") {
		t.Errorf("it does not say that there is no shell:\n%s", s)
	}
}

// Keys that cannot act say why.
func TestUnusedKeysSayWhy(t *testing.T) {
	a := open(t, checkout(), 80, 24)
	if press(t, a, "2", "W"); !strings.Contains(screenOf(a), "shows one pane at a time") {
		t.Errorf("W:\n%s", screenOf(a))
	}
	a = openWith(t, checkout(), Options{Demo: true, Theme: "none"})
	a.update(tea.WindowSizeMsg{Width: 120, Height: 40})
	if press(t, a, "A"); !strings.Contains(screenOf(a), "the demo has servers of its own") {
		t.Errorf("A:\n%s", screenOf(a))
	}
	h := incident()
	h.event("pager", "incident.created", "nothing to follow")
	a = open(t, h, 120, 40)
	if press(t, a, "2", "="); !strings.Contains(screenOf(a), "14:03:07 nothing to follow") {
		t.Errorf("=:\n%s", screenOf(a))
	}
}

// The status line counts a gap once, and not as caught up.
func TestGapIsCountedOnce(t *testing.T) {
	h := incident()
	h.stats.Started, h.stats.Gaps, h.snap.Resume.Gaps = start, 1, 1
	a := openWith(t, h, Options{Demo: true, Theme: "none", Now: func() time.Time { return start }})
	a.update(tea.WindowSizeMsg{Width: 120, Height: 40})
	look(a)
	if s := statusLine(a); strings.Count(s, "gap") != 1 || strings.Contains(s, "caught up") {
		t.Errorf("the bar says %q", s)
	}
	h.snap.Resume.Replayed, h.snap.Version = 3, h.snap.Version+1
	look(a)
	if s := statusLine(a); strings.Count(s, "gap") != 1 || !strings.Contains(s, "caught up: 3 replayed, 0 duplicates dropped, 1 gap") {
		t.Errorf("the bar says %q", s)
	}
}

// A dialog as wide as the screen hides the panes beside it.
func TestWideDialogsCoverThePanes(t *testing.T) {
	for _, key := range []string{"&", "#"} {
		a := open(t, checkout(), 160, 45)
		press(t, a, "2", key)
		box := a.frame.Box(a.dialog)
		for _, line := range strings.Split(screenOf(a), "\n")[box.Y : box.Y+box.H+2] {
			if first := []rune(line)[0]; !strings.ContainsRune("╭│╰", first) {
				t.Fatalf("%s: %q", key, line)
			}
		}
	}
}

// Three keys filter by one of several ids of the chosen event; one more brings back the earlier
// filter and scope.
func TestFollowOneOfSeveralIDs(t *testing.T) {
	h := checkout()
	h.add(event.Record{Kind: event.KindEvent, Server: "chat", Type: trust.Untrusted("message.posted"), Mode: event.ModePush,
		Data: json.RawMessage(`{"title":"refund","orderId":"O-9","userId":"u-3"}`), Raw: []byte(`{}`)})
	a := open(t, h, 120, 40)
	press(t, a, "2", "=")
	if s := screenOf(a); !strings.Contains(s, "Which value?") || !strings.Contains(s, "2 .userId   u-3") {
		t.Fatalf("it does not ask:\n%s", s)
	}
	exact(t, a)
	press(t, a, "2")
	if got := a.stream.Query.Text; got != "value:u-3" || !strings.Contains(screenOf(a), "filter value:u-3;") {
		t.Errorf("the filter is %q:\n%s", got, screenOf(a))
	}
	press(t, a, "=", "enter")
	if s := screenOf(a); !strings.Contains(s, "filter was value:u-3; x brings it back") {
		t.Errorf("the filter is replaced without a word:\n%s", s)
	}
	press(t, a, "x")
	if got := a.stream.Query.Text; got != "value:u-3" || a.stream.Query.Off {
		t.Errorf("x brings back %+v", a.stream.Query)
	}
	for _, size := range [][2]int{{20, 5}, {40, 12}} {
		a := open(t, h, size[0], size[1])
		press(t, a, "2", "=")
		exact(t, a)
	}
}
