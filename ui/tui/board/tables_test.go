package board_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/board"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/table"
)

// source is a host whose log is in memory.
type source struct {
	board.Host
	log      *eventlog.Log
	refusals []event.Refusal
	acts     []event.AuditEntry
}

func (s *source) AuditLast() uint64         { return uint64(len(s.acts)) }
func (s *source) Audit() *eventlog.Audit    { return eventlog.NewAudit(s) }
func (s *source) Log() *eventlog.Log        { return s.log }
func (s *source) Refusals() []event.Refusal { return s.refusals }
func (s *source) AuditBefore(_ uint64, fn func(event.AuditEntry) bool) error {
	for i := len(s.acts) - 1; i >= 0 && fn(s.acts[i]); i-- {
	}
	return nil
}

// tables returns the boards of a host with a gap, an audit entry about it and a refused delivery.
func tables() (*board.Boards, *tuitest.Screen, *host.Snapshot, *source) {
	return tablesOf(func(h *source) board.Host { return h })
}

// tablesOf is tables for the host that of makes from the source.
func tablesOf(of func(*source) board.Host) (*board.Boards, *tuitest.Screen, *host.Snapshot, *source) {
	key := event.Key{Server: "pager", Type: trust.Untrusted("incident.created")}
	gap := event.Record{Seq: 2, Kind: event.KindGap, Sub: "s1", Server: "pager", Type: key.Type, ReceivedAt: tuitest.Start, Gap: &event.Gap{Cause: event.CauseTruncated, Certain: true}}
	h := &source{log: eventlog.New(tuitest.EmptyStore(3)), refusals: []event.Refusal{{At: tuitest.Start, Reason: "signature wrong", Status: 401}},
		acts: []event.AuditEntry{{Seq: 1, At: tuitest.Start, Actor: event.ActorServer, Action: "gap", Server: "pager", Record: 2, Result: event.ResultOK}}}
	h.log.Append([]event.Record{{Seq: 1, Kind: event.KindEvent, ReceivedAt: tuitest.Start.Add(-time.Second)}, gap, {Seq: 3, Kind: event.KindEvent}})
	snap := &host.Snapshot{Version: 1, Last: 3, Receiver: "https://127.0.0.1", Subs: []host.SubscriptionView{{Subscription: event.Subscription{ID: "s1", Key: key, Mode: event.ModePush}}}}
	s := &tuitest.Screen{}
	b := board.New(&board.Env{Env: tuitest.Env(), Screen: s, Host: of(h), Snap: snap, Stats: &host.Stats{},
		Scope: func() query.Node { return query.Node{} }, Place: func(query.Node) string { return "a place" }, Focused: func() bool { return true },
	})
	return &b, s, snap, h
}

// read runs the commands of a table until there are none, and draws it.
func read(t *testing.T, rows *table.Table) string {
	t.Helper()
	for range 100 {
		rows.Load()
		cmd := rows.Work()
		if cmd == nil {
			return tuitest.Plain(rows.Draw(140, 12))
		}
		tuitest.Run(cmd)
	}
	t.Fatal("it reads for ever")
	return ""
}

func TestTablesReadTheirRows(t *testing.T) {
	b, s, snap, h := tables()
	if text := read(t, b.Subs.Table()); !strings.Contains(text, "incident.created") {
		t.Errorf("subscriptions:\n%s", text)
	}
	b.Subs.Turn(1)
	gaps := b.Subs.Table()
	if text := read(t, gaps); !strings.Contains(text, "missing") || !strings.Contains(text, "truncated") {
		t.Errorf("gaps:\n%s", text)
	}
	text := detail.Text{Env: tuitest.Env(), Demo: func(string) bool { return false }}
	text.Begin(80)
	if gaps.Describe(&text); len(text.Lines) < 3 {
		t.Error("a gap is not described")
	}
	if cmd, leads := gaps.Open(); !leads || s.Record != 2 {
		t.Errorf("a gap leads to %d, %v", s.Record, cmd)
	}
	h.log = eventlog.New(tuitest.EmptyStore(4))
	h.log.Append([]event.Record{{Seq: 4, Kind: event.KindGap, Server: "pager", ReceivedAt: tuitest.Start, Gap: &event.Gap{Cause: event.CauseRestarted}}})
	snap.Last = 4
	if read(t, gaps); gaps.Rows() != 2 {
		t.Errorf("%d gaps after one more", gaps.Rows())
	}
	b.Subs.Turn(2)
	refused := b.Subs.Table()
	if text := read(t, refused); !strings.Contains(text, "signature wrong") || !strings.Contains(text, "401") {
		t.Errorf("refusals:\n%s", text)
	}
	snap.Receiver, snap.ReceiverErr = "", "receiver on 127.0.0.1:8443 stopped"
	if text := strings.Join(refused.Src.EmptyText(), "\n"); !strings.Contains(text, snap.ReceiverErr) {
		t.Errorf("refusals while no receiver runs: %s", text)
	}
	audit := b.Log.Table()
	if text := read(t, audit); !strings.Contains(text, "gap") || !strings.Contains(text, "server") {
		t.Errorf("audit:\n%s", text)
	}
	if s.Record = 0; audit.Chosen() {
		audit.Open()
	}
	if s.Record != 2 {
		t.Errorf("the act leads to %d", s.Record)
	}
	audit.Find("no such words")
	if text := read(t, audit); !strings.Contains(text, "No act holds these words") {
		t.Errorf("a text hides nothing:\n%s", text)
	}
	audit.Find("GAP")
	if read(t, audit); audit.Rows() != 1 {
		t.Errorf("%d acts hold the text", audit.Rows())
	}
}

// brokenStore has an older gap that cannot be read while err is set.
type brokenStore struct {
	tuitest.EmptyStore
	err error
}

func (s *brokenStore) Backward(_ uint64, fn func(event.Record) bool) error {
	if s.err == nil {
		fn(event.Record{Seq: 1, Kind: event.KindGap, Server: "pager", ReceivedAt: tuitest.Start, Gap: &event.Gap{Cause: event.CauseRestarted}})
	}
	return s.err
}

// After an error of the log the gaps are read again at the next change, and no sooner.
func TestGapsAreReadAgainAfterAnError(t *testing.T) {
	b, s, snap, h := tables()
	store := &brokenStore{EmptyStore: 3, err: errors.New("disk unwell")}
	h.log = eventlog.New(store)
	h.log.Append([]event.Record{{Seq: 2, Kind: event.KindEvent}, {Seq: 3, Kind: event.KindEvent}})
	b.Subs.Turn(1)
	gaps := b.Subs.Table()
	if text := read(t, gaps) + strings.Join(gaps.Src.EmptyText(), "\n"); s.Failed == nil || !strings.Contains(text, "disk unwell") {
		t.Errorf("says %v, and shows\n%s", s.Failed, text)
	}
	s.Failed = nil
	snap.Version++
	if read(t, gaps); s.Failed != nil {
		t.Error("the same error is told again")
	}
	store.err = nil
	snap.Version++
	if text := read(t, gaps); gaps.Rows() != 1 || !strings.Contains(text, "restarted") {
		t.Errorf("%d gaps once the log can be read:\n%s", gaps.Rows(), text)
	}
}

func TestTablesAreSavedByTitle(t *testing.T) {
	b, _, _, _ := tables()
	read(t, b.Subs.Table())
	b.Subs.Table().SortNext(1)
	b.Subs.Table().Reverse()
	b.Log.Turn(1)
	again, _, _, _ := tables()
	table.Restore(table.States(&b.Subs, &b.Log), &again.Subs, &again.Log)
	title, reverse := again.Subs.Table().Order()
	if want, _ := b.Subs.Table().Order(); title != want || !reverse || again.Log.On != 1 {
		t.Errorf("recalled %q %v, tab %d", title, reverse, again.Log.On)
	}
}
