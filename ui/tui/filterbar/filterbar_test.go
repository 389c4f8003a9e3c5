package filterbar_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/filterbar"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
)

// fixture is a screen with a stream and its filter.
type fixture struct {
	tuitest.Screen
	filterbar.Bar
	stream  stream.Stream
	persist persist.Saver
	tuitest.Settings
	entered bool
	log     tuitest.Log
}

func (d *fixture) EnterStream() { d.entered = true }

func (d *fixture) ShowQuery(q query.Query) { d.stream.Show(q) }

func newFixture() *fixture {
	d := &fixture{Settings: tuitest.Settings{}}
	d.log.Records = []event.Record{{Kind: event.KindEvent, Server: "pager", Data: json.RawMessage(`{"severity":"P1"}`)}}
	env, snap := tuitest.Env(), &host.Snapshot{Servers: []host.ServerView{{Name: "chat"}}}
	d.persist = persist.New(persist.Settings{Screen: &d.Screen, Host: d}, time.Now)
	d.stream = stream.New(tuitest.StreamEnv(env, snap))
	d.Bar = filterbar.New(&filterbar.Env{Env: env, Screen: d, Stream: &d.stream, Snap: snap, Persist: &d.persist, Log: func() eventlog.Records { return &d.log }})
	return d
}

func TestStreamFollowsTheTypedFilter(t *testing.T) {
	d := newFixture()
	tuitest.Run(d.Open())
	if _, typing := d.Typing(); !typing || !d.entered {
		t.Fatal("nothing is open")
	}
	d.Type("p99")
	if d.stream.Query.Text != "p99" || !strings.HasPrefix(d.Prompt.Says, "searching") && !strings.Contains(d.Prompt.Says, "shown") {
		t.Errorf("the stream shows %q, the prompt says %q", d.stream.Query.Text, d.Prompt.Says)
	}
	if d.Type("("); d.Prompt.Problem == "" || d.stream.Query.Text != "p99" {
		t.Errorf("of no filter the stream shows %q, the prompt says %q", d.stream.Query.Text, d.Prompt.Problem)
	}
	if d.Type("backspace", "enter"); d.Prompt != nil || !slices.Equal(d.persist.Lines.Filters, []string{"p99"}) {
		t.Errorf("remembered are %q", d.persist.Lines.Filters)
	}
	tuitest.Run(d.Open())
	if before, _ := d.Typing(); before.Text != "p99" {
		t.Errorf("before was %q", before.Text)
	}
	if d.Type("x", "esc"); d.stream.Query.Text != "p99" {
		t.Errorf("esc leads to %q", d.stream.Query.Text)
	}
	if d.Toggle(); !d.stream.Query.Off || d.Told != "the filter is off, and kept" {
		t.Errorf("off is %v, told %q", d.stream.Query.Off, d.Told)
	}
}

// Toggle brings a replaced filter back with its node; then it turns that off.
func TestReplacedFilterComesBack(t *testing.T) {
	d := newFixture()
	was, _ := query.New(query.Node{Server: "pager"}, "p99", tuitest.Start)
	now, _ := query.New(query.Node{}, "value:INC-7", tuitest.Start)
	d.stream.Show(was)
	d.Take(now, was.Text)
	if d.Toggle(); d.stream.Query.Text != "p99" || d.stream.Query.Node != was.Node || d.Told != "filter p99 is back" {
		t.Errorf("back is %+v, told %q", d.stream.Query, d.Told)
	}
	if d.Toggle(); d.stream.Query.Text != "p99" || !d.stream.Query.Off {
		t.Errorf("then it is %+v", d.stream.Query)
	}
	d.Take(now, "")
	if d.Toggle(); d.stream.Query.Text != now.Text || !d.stream.Query.Off {
		t.Errorf("of a filter that took no other's place: %+v", d.stream.Query)
	}
}

func TestTabCompletes(t *testing.T) {
	d := newFixture()
	tuitest.Run(d.Open())
	d.Type("server:ch", "tab")
	if got := d.Prompt.Field.Text(); !strings.HasPrefix(got, "server:chat") {
		t.Errorf("completed to %q", got)
	}
	if got := d.Paths(".sev"); !slices.Equal(got, []string{".severity"}) {
		t.Errorf("paths are %q", got)
	}
}

// Without the log names of servers are completed, and the failure is shown.
func TestCompletionWithoutTheLog(t *testing.T) {
	d := newFixture()
	d.log.Err = errors.New("the disk is gone")
	tuitest.Run(d.Open())
	d.Type("server:ch", "tab")
	if got := d.Prompt.Field.Text(); !strings.HasPrefix(got, "server:chat") || !errors.Is(d.Failed, d.log.Err) {
		t.Errorf("completed to %q, told %v", got, d.Failed)
	}
}

func TestTypedFilter(t *testing.T) {
	d := newFixture()
	if _, err := d.Run([]string{"off"}); err == nil || !strings.Contains(err.Error(), "there is no filter") {
		t.Error(err)
	}
	if _, err := d.Run([]string{"set", "p99", "slow"}); err != nil || d.stream.Query.Text != "p99 slow" {
		t.Errorf("%v, shown %q", err, d.stream.Query.Text)
	}
	for _, off := range []bool{true, true, false} {
		word := map[bool]string{true: "off", false: "on"}[off]
		if _, err := d.Run([]string{word}); err != nil || d.stream.Query.Off != off {
			t.Errorf("%s: %v, off is %v", word, err, d.stream.Query.Off)
		}
	}
	if _, err := d.Run([]string{"set", "("}); err == nil || d.stream.Query.Text != "p99 slow" {
		t.Errorf("%v, shown %q", err, d.stream.Query.Text)
	}
	if _, err := d.Run([]string{"slow"}); !errors.Is(err, evidence.ErrUsage) {
		t.Error(err)
	}
}
