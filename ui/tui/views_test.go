package tui

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/filterbar"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/tree"
)

func TestRowActionsOfSubscriptions(t *testing.T) {
	for keys, want := range map[string]string{
		"4 u":               "refresh %s",
		"4 M o":             "mode poll %s",
		"4 F":               "failover true %s",
		"4 C n":             "reset now %s",
		"1 j j j j u":       "refresh %s",
		"1 j j j j M esc u": "refresh %s",
	} {
		h := incident()
		a := open(t, h, 120, 40)
		a.draw()
		press(t, a, strings.Fields(keys)...)
		if want := fmt.Sprintf(want, h.snap.Subs[0].ID); len(h.did) != 1 || h.did[0] != want {
			t.Errorf("%s asked for %q, want %q", keys, h.did, want)
		}
	}
	h := incident()
	a := open(t, h, 120, 40)
	a.draw()
	if press(t, a, "4", "K"); len(h.did) != 0 || a.dialog != nil {
		t.Error("a subscription without a webhook offers a new secret")
	}
	if press(t, a, "j", "K", "y"); !slices.Equal(h.did, []string{"rotate " + string(h.snap.Subs[1].ID)}) {
		t.Errorf("asked for %q", h.did)
	}
	if press(t, a, "1", "j", "j", "j", "R"); h.did[1] != "reconnect pager" {
		t.Errorf("asked for %q", h.did)
	}
}

func TestTableKeepsTheChosenRow(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "4", "j", "j")
	chosen := a.table().At
	for range 12 { // columns
		press(t, a, "l")
		a.draw()
		press(t, a, "o")
		exact(t, a)
		if a.table().At != chosen {
			by, _ := a.table().Order()
			t.Fatalf("sorting by %s moved the choice", by)
		}
	}
	h.subscribe("aaa", "new.type", event.ModePush, "{}")
	a.take(h.Snapshot())
	a.draw()
	if a.table().At != chosen {
		t.Error("a new row moved the choice")
	}
	h.snap.Subs = slices.DeleteFunc(h.snap.Subs, func(v host.SubscriptionView) bool { return v.ID == chosen.Sub })
	h.snap.Version++
	a.take(h.Snapshot())
	exact(t, a)
	if at := a.table().At; at == chosen || at == (table.RowID{}) {
		t.Errorf("after the chosen row went, %+v is chosen", at)
	}
}

func TestSortPutsTroubleFirst(t *testing.T) {
	h := incident()
	h.snap.Subs[2].Status.State = event.StateSuspended
	a := open(t, h, 160, 40)
	press(t, a, "4")
	a.draw()
	press(t, a, "l")
	a.draw()
	if got := a.table().RowAt(0).Sub; got != h.snap.Subs[2].ID {
		t.Errorf("first row is %s", got)
	}
	press(t, a, "o")
	if got := a.table().RowAt(2).Sub; got != h.snap.Subs[2].ID {
		t.Errorf("turned around, the last row is %s", got)
	}
}

func TestLogRowsOpenTheirSubject(t *testing.T) {
	a := open(t, incident(), 120, 40)
	a.draw()
	press(t, a, "5", "k", "enter")
	if a.board() != nil || a.stream.At != 4 {
		t.Errorf("an act on record 4 leads to %d", a.stream.At)
	}
	press(t, a, "5", "g", "enter")
	if a.choice.Subscription() == nil || a.tree.At.Level() != 2 || a.panes.Focus != layout.Stream {
		t.Errorf("an act on a subscription leads to %+v", a.tree.At)
	}
	press(t, a, "5", "]", "/", "s", "u", "b", "s", "c", "r", "enter")
	if n := a.table().Rows(); n != 1 {
		t.Errorf("%d frames hold the words", n)
	}
	if s := screenOf(a); !strings.Contains(s, `"secret": "whsec_***"`) {
		t.Errorf("the frame is not shown:\n%s", s)
	}
	press(t, a, "esc")
	if n := a.table().Rows(); n != 2 || a.board() == nil {
		t.Errorf("esc left %d frames", n)
	}
	if press(t, a, "esc"); a.board() != nil {
		t.Error("the second esc did not lead back")
	}
}

func TestGapsLeadToTheStream(t *testing.T) {
	h := incident()
	for range 30_000 {
		h.add(event.Record{Kind: event.KindState, Server: "pager", State: &event.StateChange{State: event.StateLive}})
	}
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "4", "]")
	a.draw()
	if n := a.table().Rows(); n != 1 {
		t.Fatalf("%d gaps, want 1", n)
	}
	h.add(event.Record{Kind: event.KindGap, Server: "pager", Gap: &event.Gap{Cause: event.CauseSilent}})
	arrive(a)
	a.draw()
	if n := a.table().Rows(); n != 2 || a.table().At.Seq != 4 {
		t.Errorf("%d gaps, %d is chosen", n, a.table().At.Seq)
	}
	if press(t, a, "enter"); a.stream.At != 4 {
		t.Errorf("led to %d", a.stream.At)
	}
}

func TestNewestErrorTakesTheStatusLine(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	h.store.lines.Add(host.LogLine{At: start.Add(-5 * time.Second), Level: slog.LevelError, Text: "cannot reach \x1b[31mit", Server: "chat"}, 10)
	focus := a.panes.Focus
	arrive(a)
	if s := screenOf(a); !strings.Contains(s, "error 5 s ago, 5 opens it: chat cannot reach") || a.panes.Focus != focus {
		t.Errorf("the error is not told:\n%s", s)
	}
	exact(t, a)
	press(t, a, "5")
	if s := screenOf(a); !strings.Contains(s, "[App]") || strings.Contains(s, "opens it") {
		t.Errorf("5 does not lead to it:\n%s", s)
	}
}

func TestColumnsOfAType(t *testing.T) {
	h := incident()
	h.snap.Servers[0].Types[0].PayloadSchema = json.RawMessage(`{"properties":{"severity":{"type":"string"},"host":{"type":"object","properties":{"name":{"type":["string","null"]}}}}}`)
	h.add(event.Record{Server: "pager", Type: trust.Untrusted("incident.created"), Mode: event.ModePush, Data: []byte(`{"severity":"P2","title":"t","host":{"name":"db-\u001b[1mmain"}}`)})
	a := open(t, h, 160, 40)
	a.draw()
	press(t, a, "1", "j", "j", "j", "j", "c")
	d := a.dialog.(*filterbar.Picker)
	i := slices.IndexFunc(d.Rows, func(r filterbar.Row) bool { return r.Path == "/host/name" })
	if i < 0 || d.Rows[i].Says != "in the schema" {
		t.Fatalf("the schema's place is not offered: %+v", d.Rows)
	}
	for range i {
		press(t, a, "j")
	}
	press(t, a, "space")
	for range i - 1 {
		press(t, a, "K")
	}
	exact(t, a)
	press(t, a, "enter")
	if s := screenOf(a); !strings.Contains(s, `db-\x1b[1mm`) {
		t.Errorf("the column does not show:\n%s", s)
	}
	b := open(t, h, 160, 40)
	press(t, b, "1", "j", "j", "j", "j")
	if s := screenOf(b); !strings.Contains(s, `db-\x1b[1mm`) {
		t.Errorf("the column is gone in the next run:\n%s", s)
	}
	press(t, b, "c", "r", "enter")
	if s := screenOf(b); strings.Contains(strings.Split(s, "[Payload]")[0], `db-\x1b[1mm`) {
		t.Errorf("the usual columns do not come back:\n%s", s)
	}
}

func TestValueAt(t *testing.T) {
	data := []byte(`{"a":{"b/c":[1,{"d":"x\u001b"}],"n":null,"t":true},"a~":12.50}`)
	for path, want := range map[string]string{
		"/a/b~1c/1/d": "x\x1b", "/a/b~1c/0": "1", "/a~0": "12.50", "/a/t": "true", "/a/n": "", "/a/b~1c/9": "", "/x": "", "/a/t/x": "", "/a/b~1c": `[1,{"d":"x\u001b"}]`,
	} {
		if got, _ := stream.ValueAt(data, path); got.Raw() != want {
			t.Errorf("%s is %q, want %q", path, got.Raw(), want)
		}
	}
}

func TestFoldingAPayload(t *testing.T) {
	h := incident()
	h.add(event.Record{Server: "pager", Type: trust.Untrusted("incident.created"), Data: []byte(`{"title":"t","who":{"name":"x","mail":"evil\u202e"},"z":1}`)})
	a := open(t, h, 120, 40)
	press(t, a, "2", "enter")
	a.draw()
	for a.detail.Lines[a.detail.At].Fold == 0 || !strings.Contains(a.detail.Lines[a.detail.At].Text.Plain(), "who") {
		press(t, a, "down")
		a.draw()
	}
	press(t, a, "down", "h")
	if s := screenOf(a); !strings.Contains(s, `"who": { 3 lines, 1 place noticed`) || strings.Contains(s, `"mail"`) || !strings.Contains(s, `"z": 1`) {
		t.Errorf("not folded:\n%s", s)
	}
	exact(t, a)
	press(t, a, "l")
	if s := screenOf(a); !strings.Contains(s, `"mail"`) {
		t.Errorf("not opened again:\n%s", s)
	}
	press(t, a, "h", "n")
	if s := screenOf(a); !strings.Contains(s, `"mail"`) {
		t.Errorf("a place that was noticed stays hidden:\n%s", s)
	}
}

func TestSameRecords(t *testing.T) {
	h := incident()
	for i, id := range []string{"A1", "B2", "A1"} {
		h.add(event.Record{Server: "pager", Type: trust.Untrusted("incident.resolved"), Data: fmt.Appendf(nil, `{"incidentId":%q,"title":"number %d"}`, id, i)})
	}
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "2", "enter", "[")
	s := screenOf(a)
	if !strings.Contains(s, "number 0  same incidentId") || strings.Contains(s, "number 1  same") {
		t.Errorf("the same are not found:\n%s", s)
	}
	for a.detail.Lines[a.detail.At].Seq == 0 {
		press(t, a, "down")
	}
	if press(t, a, "enter"); a.stream.At != 7 {
		t.Errorf("led to record %d", a.stream.At)
	}
}

func TestZoomedDetailMovesToOtherEvents(t *testing.T) {
	a := open(t, incident(), 120, 40)
	a.draw()
	press(t, a, "2", "enter", "z", "k")
	if a.stream.At != 5 || a.arranged().Detail.W != 120 {
		t.Errorf("record %d, %+v", a.stream.At, a.panes.Shape)
	}
	press(t, a, "j")
	if a.stream.At != 6 {
		t.Errorf("record %d", a.stream.At)
	}
}

func TestPanesAreRestored(t *testing.T) {
	h := incident()
	a := open(t, h, 200, 60)
	a.draw()
	press(t, a, "2", ">", ">", "W")
	a.draw()
	want := a.panes.Now
	b := nextRun(t, a, h)
	if b.panes.Now.Stream != want.Stream || b.panes.Now.Detail != want.Detail {
		t.Errorf("panes %+v and %+v, were %+v and %+v", b.panes.Now.Stream, b.panes.Now.Detail, want.Stream, want.Detail)
	}
}

func TestOrphansAreEndedAtTheServer(t *testing.T) {
	h := incident()
	a := open(t, h, 160, 40)
	a.draw()
	press(t, a, "4", "]", "]")
	s := screenOf(a)
	if !strings.Contains(s, "! orphan") || !strings.Contains(s, "~ duplicate") || !strings.Contains(s, `sub_\x1b[2J3`) {
		t.Fatalf("what the server holds is not told:\n%s", s)
	}
	exact(t, a)
	press(t, a, "g", "X", "n")
	if len(h.did) != 0 {
		t.Fatal("ended without a yes")
	}
	press(t, a, "X", "y")
	if len(h.did) != 1 || h.did[0] != `end pager sub_\x1b[2J3` {
		t.Errorf("asked for %q", h.did)
	}
}

func TestTreeListsViewsAndMarks(t *testing.T) {
	h := incident()
	h.settings = map[string]string{persist.Views: `{"errors":{"node":{},"filter":"sev:error"}}`}
	h.marks = []event.Mark{{Seq: 2, At: start, Note: "it began"}}
	a := open(t, h, 120, 40)
	s := screenOf(a)
	if !strings.Contains(s, "errors  all servers /sev:error") || !strings.Contains(s, "it began") {
		t.Fatalf("the second section is missing:\n%s", s)
	}
	mark := func() string {
		i := slices.IndexFunc(a.tree.Rows, func(r tree.Row) bool { return r.Item != nil && r.Item.Mark.Seq == 2 })
		return a.tree.Rows[i].Item.Text.Plain()
	}
	before := mark()
	if press(t, a, "t"); mark() == before || !strings.Contains(mark(), "Z") {
		t.Errorf("in UTC the mark says %q", mark())
	}
	press(t, a, "1", "G")
	exact(t, a)
	if press(t, a, "enter"); a.stream.At != 2 || a.panes.Focus != layout.Stream {
		t.Errorf("the mark leads to %d", a.stream.At)
	}
	press(t, a, "1", "k", "enter")
	if a.stream.Query.Text != "sev:error" {
		t.Errorf("the filter is %q", a.stream.Query.Text)
	}
}

func TestEscClosesTheTreeOverANarrowStream(t *testing.T) {
	for _, w := range []int{90, 60} {
		a := open(t, incident(), w, 24)
		a.draw()
		press(t, a, "1", "j", "j", "j", "j")
		if a.draw(); (w >= layout.DrawerWidth) == a.panes.Now.Stream.Empty() {
			t.Errorf("%d wide: the tree opens as %+v", w, a.panes.Now)
		}
		scope := a.tree.At
		if press(t, a, "esc"); a.panes.Focus != layout.Stream || a.tree.At != scope {
			t.Errorf("%d wide: esc led to pane %d and scope %+v", w, a.panes.Focus, a.tree.At)
		}
		if press(t, a, "esc"); a.tree.At != (query.Node{}) {
			t.Errorf("%d wide: the second esc left the scope", w)
		}
	}
}

func TestSwitchedModeIsARow(t *testing.T) {
	h := incident()
	h.add(event.Record{Kind: event.KindState, Server: "pager", Type: trust.Untrusted("incident.created"), Mode: event.ModePoll,
		State: &event.StateChange{State: event.StateSwitched, Evidence: "mode switched push -> poll: by the operator"}})
	if s := screenOf(open(t, h, 200, 50)); !strings.Contains(s, "mode switched push -> poll: by the operator") || strings.Contains(s, "poll switched") {
		t.Errorf("the row tells:\n%s", s)
	}
}

func TestTypesWithoutReplaySaySo(t *testing.T) {
	h := incident()
	h.snap.Servers[0].Types[0].Cursorless = true
	a := open(t, h, 200, 40)
	if s := screenOf(a); !strings.Contains(s, "no-replay") {
		t.Errorf("the tree does not say so:\n%s", s)
	}
	press(t, a, "4")
	if s := screenOf(a); !strings.Contains(s, "heartbeat 3 s ago, no-rep") {
		t.Errorf("the table does not say so:\n%s", s)
	}
}

func TestRowRepeatsNothing(t *testing.T) {
	h := incident()
	h.add(event.Record{Server: "pager", Type: trust.Untrusted("load.tick"), Data: []byte(`{"n":7, "status":"failed"}`)})
	if s := screenOf(open(t, h, 120, 40)); !matches(`▌failed .* n 7, status failed `, s) {
		t.Errorf("the row tells:\n%s", s)
	}
}
