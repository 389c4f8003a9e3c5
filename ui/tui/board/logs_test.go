package board_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/board"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/table"
)

// rings is a source with frames, lines of the program, and subscriptions at servers.
type rings struct {
	*source
	wire *eventlog.Ring[host.WireFrame]
	app  *eventlog.Ring[host.LogLine]
	held []host.RemoteSubscription
	fail error
	did  []string
}

func (r *rings) Wire() *eventlog.Ring[host.WireFrame] { return r.wire }
func (r *rings) AppLog() *eventlog.Ring[host.LogLine] { return r.app }

func (r *rings) Remote(_ context.Context, server string) ([]host.RemoteSubscription, error) {
	r.did = append(r.did, "ask "+server)
	return r.held, r.fail
}

func (r *rings) EndRemote(_ context.Context, server string, id trust.Text) error {
	r.did = append(r.did, "end "+id.Raw()+" at "+server)
	return r.fail
}

func withRings() (*board.Boards, *tuitest.Screen, *host.Snapshot, *rings) {
	r := &rings{wire: eventlog.NewRing[host.WireFrame](100, 1<<20), app: eventlog.NewRing[host.LogLine](100, 1<<20)}
	b, s, snap, _ := tablesOf(func(h *source) board.Host { r.source = h; return r })
	return b, s, snap, r
}

// described returns the text of the detail pane for the chosen row.
func described(t *table.Table) string {
	text := detail.Text{Env: tuitest.Env(), Demo: func(string) bool { return false }}
	text.Begin(100)
	t.Describe(&text)
	var out strings.Builder
	for _, l := range text.Lines {
		out.WriteString(l.Label + l.Text.Plain() + "\n")
	}
	return out.String()
}

func TestWireListsFrames(t *testing.T) {
	b, _, _, r := withRings()
	b.Log.Turn(1)
	wire := b.Log.Table()
	if text := read(t, wire); !strings.Contains(text, "No frames yet") {
		t.Errorf("without a frame:\n%s", text)
	}
	for _, f := range []host.WireFrame{
		{Server: "pager", Sent: true, Frame: trust.Untrusted(`{"id":1,"method":"events/subscribe"}`)},
		{Server: "pager", Frame: trust.Untrusted(`{"id":1,"result":{"cut`), Bytes: 9_000},
		{Server: "chat", Frame: trust.Untrusted(`{"method":"a\u001b[31mb"}`), Passed: 0},
		{Server: "chat", Passed: 7},
	} {
		f.At = tuitest.Start
		f.Bytes = max(f.Bytes, f.Frame.Len())
		r.wire.Add(f, f.Frame.Len())
	}
	text := read(t, wire)
	for _, want := range []string{"sent", "events/subscribe", "got", "result", "9,000", "behind 7 events not kept"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Errorf("a control character is in %q", text)
	}
	wire.Find("SUBSCRIBE")
	if read(t, wire); wire.Rows() != 1 {
		t.Errorf("%d frames hold the text", wire.Rows())
	}
	if wire.End(false); !strings.Contains(described(wire), "sent to pager") {
		t.Errorf("described as\n%s", described(wire))
	}
	wire.Find("cut")
	read(t, wire)
	if wire.End(false); !strings.Contains(described(wire), "the end of the frame was not kept") {
		t.Errorf("described as\n%s", described(wire))
	}
}

func TestAppListsLogLines(t *testing.T) {
	b, _, _, r := withRings()
	b.Log.Turn(2)
	app := b.Log.Table()
	if !board.AppLog(app) || !strings.Contains(read(t, app), "No warnings.") {
		t.Error("it is not empty, or not the program's log")
	}
	for range 150 { // the ring holds 100
		r.app.Add(host.LogLine{At: tuitest.Start, Level: slog.LevelWarn, Text: "slow answer", Server: "pager"}, 10)
	}
	r.app.Add(host.LogLine{At: tuitest.Start, Level: slog.LevelError, Text: "disk full"}, 10)
	if text := read(t, app); app.Rows() != 100 || !strings.Contains(text, "disk full") {
		t.Errorf("%d rows\n%s", app.Rows(), text)
	}
	if app.End(true); !strings.Contains(described(app), "disk full") {
		t.Errorf("described as\n%s", described(app))
	}
	app.Find("ERROR")
	if read(t, app); app.Rows() != 1 {
		t.Errorf("%d lines hold the text", app.Rows())
	}
}

// After a takeover the log is that of the new host, whose ring counts from the first entry again.
func TestLogOfAnotherHost(t *testing.T) {
	b, _, _, r := withRings()
	b.Log.Turn(2)
	app := b.Log.Table()
	say := func(texts ...string) {
		for _, text := range texts {
			r.app.Add(host.LogLine{At: tuitest.Start, Level: slog.LevelWarn, Text: text}, 10)
		}
	}
	say("old one", "old two", "old three")
	read(t, app)
	r.app = eventlog.NewRing[host.LogLine](100, 1<<20)
	say("new one", "new two", "new three", "new four")
	text := read(t, app)
	if app.Rows() != 4 || strings.Contains(text, "old") || !strings.Contains(text, "new one") {
		t.Errorf("%d rows\n%s", app.Rows(), text)
	}
	if !strings.Contains(described(app), "new four") {
		t.Errorf("the newest line is not chosen, but\n%s", described(app))
	}
	r.app = eventlog.NewRing[host.LogLine](100, 1<<20)
	if read(t, app); app.Rows() != 0 {
		t.Errorf("%d rows of a host without a line", app.Rows())
	}
}

// Subscriptions at servers that this host does not know come first, and are ended after a question.
func TestSubscriptionsAtServers(t *testing.T) {
	b, s, snap, r := withRings()
	snap.Servers = []host.ServerView{{Name: "pager", Reach: host.ReachReady}, {Name: "chat", Reach: host.ReachBackoff}}
	typ := trust.Untrusted("incident.created")
	r.held = []host.RemoteSubscription{
		{ServerID: trust.Untrusted("r1"), Type: typ, Mine: "s1"}, {ServerID: trust.Untrusted("r2"), Type: typ, Mine: "s1", Duplicate: true}, {ServerID: trust.Untrusted("r3"), Type: typ, Orphan: true},
	}
	b.Subs.Turn(2)
	remote := b.Subs.Table()
	text := read(t, remote)
	orphan, duplicate, ours := strings.Index(text, "! orphan"), strings.Index(text, "~ duplicate"), strings.LastIndex(text, "ours")
	if !board.Remotes(remote) || orphan < 0 || orphan > duplicate || duplicate > ours {
		t.Fatalf("not in order:\n%s", text)
	}
	remote.End(true)
	if text := described(remote); !strings.Contains(text, "what    ours\n") {
		t.Errorf("one of ours is described as\n%s", text)
	}
	remote.End(false)
	board.AskEnd(remote)
	if s.Dialog == nil || s.Dialog.Title() != "End at pager" || len(r.did) != 1 {
		t.Fatalf("it is not asked before: %v", r.did)
	}
	if s.Press("y"); r.did[1] != "end r3 at pager" || s.Told != "ended at pager" {
		t.Errorf("did %v, told %q", r.did, s.Told)
	}
	r.fail = errors.New("it is down")
	if text := read(t, remote) + described(remote) + strings.Join(remote.Src.EmptyText(), "\n"); !strings.Contains(text, "cannot tell: it is down") {
		t.Errorf("a server that does not answer:\n%s", text)
	}
	board.AskAgain(remote)
	if read(t, remote); len(r.did) != 4 {
		t.Errorf("it is not asked again: %v", r.did)
	}
}

func TestResumedListsCatchUp(t *testing.T) {
	b, s, snap, _ := withRings()
	b.Subs.Turn(4)
	resumed := b.Subs.Table()
	if read(t, resumed); resumed.Rows() != 0 {
		t.Error("a subscription that caught up on nothing is listed")
	}
	snap.Version++
	snap.Subs[0].Status.Replayed = 1_234
	if text := read(t, resumed); !strings.Contains(text, "1,234") || resumed.Rows() != 1 {
		t.Errorf("caught up:\n%s", text)
	}
	resumed.End(false)
	if _, leads := resumed.Open(); !leads || s.Sub != event.SubID("s1") {
		t.Errorf("it leads to %q", s.Sub)
	}
	if described(resumed) == "" {
		t.Error("it is not described")
	}
}
