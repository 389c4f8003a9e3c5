package tui

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/query"
)

// The evidence of a state is not cut if other columns have room or are less important.
func TestEvidenceHasTheFreeRoom(t *testing.T) {
	for _, w := range []int{100, 120, 160, 200} {
		a := open(t, incident(), w, 40)
		press(t, a, "4")
		if s := screenOf(a); !strings.Contains(s, "every 30 s, next in 24 s ") || !strings.Contains(s, "COUNT") {
			t.Errorf("%d cells:\n%s", w, s)
		}
	}
}

// The table of subscriptions names the scope of the stream, and a key shows all rows.
func TestTableOfSubscriptionsNamesItsScope(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, "1", "j", "4")
	if s := screenOf(a); a.table().Rows() != 1 || !strings.Contains(s, "only chat, 0 all") {
		t.Errorf("%d rows:\n%s", a.table().Rows(), s)
	}
	press(t, a, "0")
	if s := screenOf(a); a.table().Rows() != 3 || !strings.Contains(s, "0 only chat") || a.stream.Query.Node.Server != "chat" {
		t.Errorf("all are %d rows:\n%s", a.table().Rows(), s)
	}
	press(t, a, "]", "]")
	if s := screenOf(a); strings.Contains(s, "0 only chat") {
		t.Errorf("of what servers hold:\n%s", s)
	}
	exact(t, a)
}

// An empty table of gaps names its scope, whether that is subscribed, and the number of other gaps,
// with the key that shows them.
func TestEmptyTableOfGapsNamesItsScope(t *testing.T) {
	a := open(t, incident(), 140, 40)
	a.gotoPlace(query.Node{Server: "pager", Type: trust.Untrusted("deploy.finished")})
	press(t, a, "4", "]")
	if s := screenOf(a); !strings.Contains(s, "No gaps of pager › deploy.finished: nothing is subscribed there.") || !strings.Contains(s, "1 elsewhere: 0 shows all.") {
		t.Errorf("of a type that is not subscribed:\n%s", s)
	}
	exact(t, a)
	if press(t, a, "0"); a.table().Rows() != 1 {
		t.Errorf("all are %d:\n%s", a.table().Rows(), screenOf(a))
	}
	a.gotoPlace(query.Node{Server: "pager", Type: trust.Untrusted("incident.created")})
	press(t, a, "4", "0")
	if s := screenOf(a); !strings.Contains(s, "No gaps of pager › incident.created: everything that its server could replay is stored.") || !strings.Contains(s, "1 elsewhere") {
		t.Errorf("of a type that is subscribed:\n%s", s)
	}
	h := newFake()
	h.server("pager")
	a = open(t, h, 120, 40)
	press(t, a, "4", "]")
	if s := screenOf(a); !strings.Contains(s, "No gaps: nothing is subscribed.") {
		t.Errorf("without a subscription:\n%s", s)
	}
}

// Copying in a table copies its row, not the chosen record of the hidden stream; an empty table has
// nothing to copy.
func TestCopyFromTables(t *testing.T) {
	a := open(t, incident(), 120, 40)
	copied := func(key string) string {
		t.Helper()
		if cmd := a.key(tea.KeyPressMsg{Code: rune(key[0]), Text: key}); cmd != nil {
			return fmt.Sprint(cmd())
		}
		return ""
	}
	press(t, a, "4", "y")
	if s := screenOf(a); !strings.Contains(s, "l line") || strings.Contains(s, "cursor  ") {
		t.Errorf("offered:\n%s", s)
	}
	if s := copied("l"); !strings.Contains(s, "live  push  pager  incident.created  heartbeat 3 s ago") {
		t.Errorf("copied %q", s)
	}
	press(t, a, "y")
	if s := copied("i"); s != "" {
		t.Errorf("copied the hidden record's id: %q", s)
	}
	h := incident()
	h.store.refusals = nil
	a = open(t, h, 120, 40)
	press(t, a, "4", "]", "]", "]", "y")
	if s := screenOf(a); a.actions.Chord != "" || !strings.Contains(s, "[Refused]") || !strings.Contains(s, "the table is empty") {
		t.Errorf("of an empty table, %q:\n%s", a.actions.Chord, s)
	}
}

// A result is not cut if the columns beside it are empty in all rows.
func TestResultsHaveTheRoomOfEmptyColumns(t *testing.T) {
	h := incident()
	h.store.audit = nil
	for range 3 {
		h.act(event.AuditEntry{Actor: event.ActorHost, Action: "rules read", Result: "failed: 3 mistakes in rules.json, those before stay"})
	}
	a := open(t, h, 100, 40)
	press(t, a, "5")
	if s := screenOf(a); !strings.Contains(s, "failed: 3 mistakes in rules.json, those before stay") || strings.Contains(s, "SERVER") {
		t.Errorf("the result is cut:\n%s", s)
	}
	h.act(event.AuditEntry{Actor: event.ActorOperator, Action: "subscribe", Server: "pager", Type: trust.Untrusted("page.sent"), Result: event.ResultOK})
	h.snap.Version++
	arrive(a)
	if s := screenOf(a); !strings.Contains(s, "SERVER") || !strings.Contains(s, "page.sent") {
		t.Errorf("what is not empty any more is left out:\n%s", s)
	}
	exact(t, a)
}

// The program's log shows messages apart from their attributes, in plain words.
func TestLinesOfTheAppLogArePlain(t *testing.T) {
	h := incident()
	h.store.lines.Add(host.LogLine{At: start, Level: slog.LevelWarn, Text: "the stream ended err=<nil> again_in=681.686702ms", Server: "pager"}, 40)
	h.store.lines.Add(host.LogLine{At: start, Level: slog.LevelInfo, Text: `time=2026-03-14T14:03:05.000Z level=INFO msg="chat is ready" types=4`, Server: "chat"}, 40)
	a := open(t, h, 120, 40)
	press(t, a, "5", "]", "]")
	table, _, _ := strings.Cut(screenOf(a), "3 Detail")
	for _, want := range []string{"ATTRIBUTES", "the stream ended", "again_in=682ms", "info   chat       chat is ready", "types=4"} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in\n%s", want, table)
		}
	}
	for _, not := range []string{"<nil>", "686702", "level=", "msg="} {
		if strings.Contains(table, not) {
			t.Errorf("%q is in\n%s", not, table)
		}
	}
}

// The table Resumed has rows for subscriptions that caught up, and counts the others.
func TestResumedListsOnlySubscriptionsThatCaughtUp(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	press(t, a, "4", "[")
	if s := screenOf(a); !strings.Contains(s, "3 subscriptions had nothing to report") || strings.Contains(s, "REPLAYED") && strings.Contains(s, "incident.created") {
		t.Errorf("nothing to report:\n%s", s)
	}
	h.snap.Subs[1].Status.Replayed, h.snap.Subs[2].Gaps = 12, 1
	h.snap.Version++
	arrive(a)
	s := screenOf(a)
	if n := a.table().Rows(); n != 2 || !strings.Contains(s, "1 subscription had nothing to report") {
		t.Errorf("%d rows:\n%s", n, s)
	}
}

// A jump to a server shows as many of its types as there is room for.
func TestJumpToAServerShowsItsTypes(t *testing.T) {
	h := newFake()
	for i := range 12 {
		var types []event.Type
		for j := range 5 {
			types = append(types, event.Type{Name: trust.Untrusted(fmt.Sprintf("kind.%d.%d", i, j))})
		}
		h.server(fmt.Sprintf("server%d", i), types...)
	}
	a := open(t, h, 120, 40)
	a.draw()
	for _, i := range []int{7, 11, 2} {
		a.gotoPlace(query.Node{Server: fmt.Sprintf("server%d", i)})
		s := screenOf(a)
		for _, want := range []string{fmt.Sprintf("server%d ", i), fmt.Sprintf("kind.%d.0", i), fmt.Sprintf("kind.%d.4", i)} {
			if !strings.Contains(s, want) {
				t.Errorf("%q is out of sight:\n%s", want, s)
			}
		}
	}
}
