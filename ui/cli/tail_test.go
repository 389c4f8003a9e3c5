package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/host/trust"
	"eventdeck/ui/cli/program"
)

// ids returns the event ids of the lines of JSON on standard output.
func (b *bench) ids() string {
	var ids []string
	for line := range strings.Lines(b.out.String()) {
		if _, rest, ok := strings.Cut(line, `"eventId":"`); ok {
			id, _, _ := strings.Cut(rest, `"`)
			ids = append(ids, id)
		}
	}
	return strings.Join(ids, " ")
}

// fill makes every new subscription receive events e1 to en.
func (b *bench) fill(n int) {
	b.subscribed = func(sub event.Subscription) {
		for i := range n {
			b.arrive(occurrence(sub, fmt.Sprintf("e%d", i+1), `{"n":1}`))
		}
	}
}

func TestTailCountsEventsOnly(t *testing.T) {
	b := newBench(t)
	b.store.add(event.Record{Kind: event.KindEvent, Sub: "other"})
	b.subscribed = func(sub event.Subscription) {
		gap := event.Record{Kind: event.KindGap, Sub: sub.ID, Gap: &event.Gap{Cause: event.CauseGap}}
		other := occurrence(sub, "other", "{}")
		other.Sub = "other"
		b.arrive(gap, occurrence(sub, "e1", "{}"), other, gap)
		b.arrive(occurrence(sub, "e2", "{}"), occurrence(sub, "e3", "{}"))
	}
	b.expect(t, exitDone, "", "tail", "pager", "incident.created", "--count", "2")
	if got, lines := b.ids(), strings.Count(b.out.String(), "\n"); got != "e1 e2" || lines != 4 {
		t.Errorf("printed %q in %d lines, want 2 events and 2 gaps", got, lines)
	}
}

func TestTailWithoutDataUndoesEverything(t *testing.T) {
	b := newBench(t)
	b.standIn.types = []event.Type{incident}
	b.fill(3)
	b.expect(t, exitDone, "", "tail", "pager", "incident.created", "--count", "2", "--arg", "severity=P2", "--args", `{"x":1}`, "--max-age", "5m", "--mode", "poll", "--from", "c7")
	if got := b.ids(); got != "e1 e2" {
		t.Errorf("printed %q", got)
	}
	r := b.request[0]
	if r.Server != "pager" || r.Type.Raw() != "incident.created" || string(r.Args) != `{"severity":"P2","x":1}` || r.Mode != event.ModePoll || r.MaxAge != 5*time.Minute || r.From.Saved || r.From.Cursor != event.At(trust.Untrusted("c7")) {
		t.Errorf("%+v", r)
	}
	if !b.opened[0].Temporary || len(b.verbs) != 1 || !strings.HasPrefix(b.verbs[0], "rm ") || len(b.printed) != 0 || !b.closed || b.store.closed != 1 {
		t.Errorf("opened %+v, verbs %q, printed %v, closed %t %d", b.opened, b.verbs, b.printed, b.closed, b.store.closed)
	}
}

func TestTailWithDataGoesOnAfterThePrintedPosition(t *testing.T) {
	b := newBench(t)
	dir := b.data(t)
	tail := func(args ...string) {
		t.Helper()
		b.out = mcptest.Buffer{}
		b.expect(t, exitDone, "", append([]string{"tail", "pager", "incident.created", "--data", dir}, args...)...)
	}
	b.fill(3)
	tail("--count", "2", "--from", "saved")
	if got := b.ids(); got != "e1 e2" || b.opened[0] != (program.StoreOptions{Dir: dir, Stays: true}) {
		t.Fatalf("first: printed %q, opened %+v", got, b.opened)
	}
	if len(b.verbs) != 0 || b.printed[len(b.printed)-1] != 2 {
		t.Fatalf("verbs %q, printed %v: the subscription must stay, at event 2", b.verbs, b.printed)
	}
	b.subscribed = nil
	tail("--count", "1", "--from", "saved")
	if got := b.ids(); got != "e3" {
		t.Errorf("resumed: printed %q, want what was stored and not printed", got)
	}
	b.subscribed = func(sub event.Subscription) { b.arrive(occurrence(sub, "e4", "{}"), occurrence(sub, "e5", "{}")) }
	b.store.change(b.store.subs[0].ID, func(s *event.Subscription) { s.Printed = 0 })
	tail("--count", "1")
	if got := b.ids(); got != "e4" {
		t.Errorf("from now: printed %q, want nothing of before", got)
	}
}

func TestTailFromSavedWithNothingSavedMeansNow(t *testing.T) {
	b := newBench(t)
	key := event.Key{Server: "pager", Type: trust.Untrusted("incident.created"), Args: []byte("{}")}
	b.store.add(occurrence(event.Subscription{ID: key.ID(), Key: key}, "of-a-removed-subscription", "{}"))
	b.fill(1)
	b.expect(t, exitDone, "", "tail", "pager", "incident.created", "--data", b.data(t), "--from", "saved", "--count", "1")
	if got := b.ids(); got != "e1" || !b.request[0].From.Saved {
		t.Errorf("printed %q, %+v", got, b.request[0].From)
	}
}

func TestTailEndsByTime(t *testing.T) {
	tests := map[string]struct {
		args   []string
		events int
		code   int
		says   string
	}{
		"alone":        {[]string{"--for", "1h"}, 2, exitDone, ""},
		"before count": {[]string{"--for", "1h", "--count", "3"}, 2, exitNotMet, "not met in time: 2 of 3 events came within 1h0m0s"},
		"count first":  {[]string{"--for", "1h", "--count", "2"}, 2, exitDone, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.fill(tt.events)
				b.expect(t, tt.code, tt.says, append([]string{"tail", "pager", "incident.created"}, tt.args...)...)
				if got := b.ids(); got != "e1 e2" {
					t.Errorf("printed %q", got)
				}
			})
		})
	}
}

// --for bounds the connection, the list of types and the subscription, too.
func TestTailEndsByTimeBeforeItIsSubscribed(t *testing.T) {
	wait := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	for name, hang := range map[string]func(*bench){
		"connect": func(b *bench) { b.standIn.connect = func(ctx context.Context, _ string) error { return wait(ctx) } },
		"list":    func(b *bench) { b.standIn.list = wait },
		"subscribe": func(b *bench) {
			b.standIn.subscribe = func(ctx context.Context, _ host.Request) error { return wait(ctx) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.standIn.types = []event.Type{incident}
				hang(b)
				began := time.Now()
				b.expect(t, exitNotMet, "not met in time: --for 6s was over before pager confirmed the subscription",
					"tail", "pager", "incident.created", "--for", "6s", "--arg", "severity=P1", "--data", "d")
				if took := time.Since(began); took != 6*time.Second {
					t.Errorf("took %v", took)
				}
				if name == "subscribe" && len(b.verbs) != 1 {
					t.Errorf("not taken back: %q", b.verbs)
				}
			})
		})
	}
}

func TestTailEndsBySignal(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.subscribed = func(sub event.Subscription) {
		b.arrive(occurrence(sub, "e1", "{}"))
		cancel()
	}
	if code := b.runIn(ctx, "tail", "pager", "incident.created", "--count", "5"); code != exitDone {
		t.Errorf("code %d, %q", code, b.err.String())
	}
	if b.ids() != "e1" || len(b.verbs) != 1 {
		t.Errorf("printed %q, verbs %q: what was stored must be printed, the subscription undone", b.ids(), b.verbs)
	}
	b = newBench(t)
	ctx, cancel = context.WithCancel(t.Context())
	b.standIn.connect = func(ctx context.Context, _ string) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	if code := b.runIn(ctx, "tail", "pager", "incident.created"); code != exitDone || b.err.String() != "" {
		t.Errorf("while connecting: code %d, %q", code, b.err.String())
	}
}

// slowly is a standard output that takes its time for each write, and calls before it does.
type slowly struct {
	io.Writer
	before func()
}

func (s slowly) Write(p []byte) (int, error) {
	s.before()
	time.Sleep(50 * time.Millisecond)
	return s.Writer.Write(p)
}

// A backlog that was stored faster than it can be printed does not delay the end, and what was
// printed is the saved position.
func TestABacklogDoesNotDelayTheEnd(t *testing.T) {
	const stored = 60 // 3 s of writing, after at most 0.3 s and the last half second
	for name, args := range map[string][]string{"a signal": nil, "--for": {"--for", "300ms"}} {
		b := newBench(t)
		ctx, signal := context.WithCancel(t.Context())
		b.p.Stdout = slowly{&b.out, func() {
			if args == nil {
				signal()
			}
		}}
		b.subscribed = func(sub event.Subscription) {
			for i := range stored {
				b.arrive(occurrence(sub, fmt.Sprint(i), `"`+strings.Repeat("x", program.BatchBytes)+`"`))
			}
		}
		if code := b.runIn(ctx, append([]string{"tail", "pager", "incident.created", "--data", b.data(t)}, args...)...); code != exitDone {
			t.Errorf("%s: code %d: %s", name, code, b.err.String())
		}
		signal()
		printed := len(strings.Fields(b.ids()))
		if at := b.printed[len(b.printed)-1]; at != uint64(printed) || printed == 0 || printed == stored {
			t.Errorf("%s: position %d after %d events", name, at, printed)
		}
	}
}

// Who reads the output may have stopped reading: that does not keep a command from ending, and what
// was not read is not taken for printed.
func TestASignalEndsAWriteThatNobodyReads(t *testing.T) {
	for _, args := range [][]string{{"tail", "pager", "incident.created"}, {"export"}, {"events"}, {"report", "--filter", "x"}} {
		b := newBench(t)
		ctx, signal := context.WithCancel(t.Context())
		read, write := io.Pipe()
		b.p.Stdout = writerFunc(func(p []byte) (int, error) {
			signal()
			return write.Write(p)
		})
		b.fill(1)
		b.store.add(occurrence(event.Subscription{ID: "s"}, "x", `"x"`))
		done := make(chan int, 1)
		go func() { done <- b.runIn(ctx, append(args, "--data", b.data(t))...) }()
		select {
		case code := <-done:
			if tail := args[0] == "tail"; (code == exitDone) != tail || len(b.printed) > 0 {
				t.Errorf("%s: code %d, %q; position %v", args, code, b.err.String(), b.printed)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s does not end", args)
		}
		_ = read.Close() // ends the write
		signal()
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// closedPipe is a standard output whose reader goes away after some writes.
type closedPipe struct {
	io.Writer
	writes int
	err    error
}

func (c *closedPipe) Write(p []byte) (int, error) {
	if c.writes--; c.writes < 0 {
		return 0, c.err
	}
	return c.Writer.Write(p)
}

func TestBrokenPipeEndsQuietly(t *testing.T) {
	b := newBench(t)
	b.p.Stdout = &closedPipe{Writer: &b.out, writes: 1, err: &fsError{syscall.EPIPE}}
	b.subscribed = func(sub event.Subscription) {
		b.arrive(occurrence(sub, "e1", `"`+strings.Repeat("x", program.BatchBytes)+`"`), occurrence(sub, "e2", "{}"))
	}
	b.expect(t, exitDone, "", "tail", "pager", "incident.created", "--data", b.data(t))
	if b.err.String() != "" || b.ids() != "e1" || len(b.printed) != 1 || b.printed[0] != 1 {
		t.Errorf("says %q, printed %q, committed %v: only what was written may be committed", b.err.String(), b.ids(), b.printed)
	}
	b = newBench(t)
	b.p.Stdout = &closedPipe{err: syscall.EPIPE}
	b.store.add(event.Record{Kind: event.KindEvent})
	b.expect(t, exitDone, "", "events", "--data", b.data(t))
	b = newBench(t)
	b.fill(1)
	b.p.Stdout = &closedPipe{err: syscall.ENOSPC}
	b.expect(t, exitError, "standard output: ", "tail", "pager", "incident.created")
}

type fsError struct{ err error }

func (e *fsError) Error() string { return "write |1: broken pipe" }

func (e *fsError) Unwrap() error { return e.err }

func TestTailEndsWithItsSubscription(t *testing.T) {
	for state, want := range map[event.State]struct {
		code int
		says string
	}{
		event.StateEnded:  {exitError, "the subscription has ended: gone"},
		event.StateDenied: {exitRefused, "refused by the server: gone"},
	} {
		b := newBench(t)
		b.subscribed = func(sub event.Subscription) {
			b.store.change(sub.ID, func(s *event.Subscription) { s.State, s.Error = state, trust.Untrusted("gone\x1b") })
			b.arrive(event.Record{Kind: event.KindState, Sub: sub.ID, State: &event.StateChange{State: state}})
		}
		b.expect(t, want.code, want.says, "tail", "pager", "incident.created")
		if !strings.Contains(b.out.String(), `"state":"`+string(state)+`"`) {
			t.Errorf("the record was not printed: %q", b.out.String())
		}
	}
	b := newBench(t)
	b.standIn.view(host.ServerView{Name: "pager", SignIn: "more rights are needed: events:read"})
	b.subscribed = func(sub event.Subscription) {
		b.store.change(sub.ID, func(s *event.Subscription) { s.State, s.Error = event.StateDenied, trust.Untrusted("HTTP 403") })
		b.arrive(event.Record{Kind: event.KindState, Sub: sub.ID, State: &event.StateChange{State: event.StateDenied}})
	}
	b.expect(t, exitRefused, "HTTP 403; more rights are needed: events:read: `eventdeck sign-in pager`", "tail", "pager", "incident.created")
	b = newBench(t) // refused at once
	b.standIn.view(host.ServerView{Name: "pager", SignIn: "the server wants to know who is asking"})
	b.standIn.subscribe = func(context.Context, host.Request) error { return fmt.Errorf("%w: HTTP 401", host.ErrRefused) }
	b.expect(t, exitRefused, "HTTP 401; the server wants to know who is asking: `eventdeck sign-in pager`", "tail", "pager", "incident.created")
	b = newBench(t) // a planned end is no error
	b.subscribed = func(sub event.Subscription) {
		b.store.change(sub.ID, func(s *event.Subscription) { s.State = event.StateEnded })
		b.arrive(event.Record{Kind: event.KindState, Sub: sub.ID, State: &event.StateChange{State: event.StateEnded}})
	}
	b.expect(t, exitDone, "the subscription ended as planned", "tail", "pager", "incident.created", "--count", "5")
	// Tokens that were revoked: nothing comes until the operator signs in.
	b = newBench(t)
	b.standIn.view(host.ServerView{Name: "pager", SignIn: "the server does not accept the token any more"})
	b.reason = event.ReasonSignIn
	b.subscribed = func(sub event.Subscription) {
		b.store.change(sub.ID, func(s *event.Subscription) { s.State, s.Error = event.StateBackoff, trust.Untrusted("HTTP 401") })
		b.arrive()
	}
	b.expect(t, exitRefused, "HTTP 401; the server does not accept the token any more: `eventdeck sign-in pager`", "tail", "pager", "incident.created", "--for", "1h")
	// A record of an end that was followed by a new beginning ends nothing.
	b = newBench(t)
	b.subscribed = func(sub event.Subscription) {
		b.arrive(event.Record{Kind: event.KindState, Sub: sub.ID, State: &event.StateChange{State: event.StateEnded}})
		b.arrive(occurrence(sub, "e1", "{}"))
	}
	b.expect(t, exitDone, "", "tail", "pager", "incident.created", "--count", "1")
}

func TestTailFormats(t *testing.T) {
	for name, tt := range map[string]struct {
		terminal bool
		args     []string
		want     string
	}{
		"pipe":           {false, nil, `{"seq":1,`},
		"pipe, plain":    {false, []string{"--plain"}, "  pager  incident.created  { \"n\": 1 }  e1\n"},
		"terminal":       {true, nil, "  pager  incident.created  { \"n\": 1 }  e1\n"},
		"terminal, JSON": {true, []string{"--json"}, `{"seq":1,`},
		"terminal, raw":  {true, []string{"--raw"}, `,"raw":"`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.p.StdoutTerminal = tt.terminal
			b.fill(1)
			b.expect(t, exitDone, "", append([]string{"tail", "pager", "incident.created", "--count", "1"}, tt.args...)...)
			if !strings.Contains(b.out.String(), tt.want) {
				t.Errorf("got %q, want %q", b.out.String(), tt.want)
			}
		})
	}
}

func TestTraceIsForStandardError(t *testing.T) {
	b := newBench(t)
	b.standIn.connect = func(context.Context, string) error {
		b.options.Trace("pager", "send", trust.Untrusted("{\"a\":\x1b}"))
		return nil
	}
	b.fill(1)
	b.expect(t, exitDone, "pager send {", "tail", "pager", "incident.created", "--count", "1", "--trace", "--callback-url", "https://h/hooks", "--listen", "127.0.0.1:0", "--plain-http")
	if o := b.options; o.CallbackURL != "https://h/hooks" || o.ListenAddr != "127.0.0.1:0" || !o.PlainHTTP {
		t.Errorf("%+v", o)
	}
	b = newBench(t)
	b.fill(1)
	b.expect(t, exitDone, "", "tail", "pager", "incident.created", "--count", "1")
	if b.options.Trace != nil {
		t.Error("traced without --trace")
	}
}

func TestTailPrintsWhileEventsArrive(t *testing.T) {
	b := newBench(t)
	const n = 5000
	arrived := make(chan struct{})
	b.subscribed = func(sub event.Subscription) {
		go func() {
			defer close(arrived)
			for i := range n {
				b.arrive(occurrence(sub, fmt.Sprint(i), `{"pad":"`+strings.Repeat("x", 200)+`"}`))
			}
		}()
	}
	b.expect(t, exitDone, "", "tail", "pager", "incident.created", "--count", fmt.Sprint(n), "--data", b.data(t))
	<-arrived
	ids := strings.Fields(b.ids())
	if len(ids) != n {
		t.Fatalf("%d events printed, want %d", len(ids), n)
	}
	for i, id := range ids {
		if id != fmt.Sprint(i) {
			t.Fatalf("event %d is %s", i, id)
		}
	}
}

func TestTailKeepsErrorsOfTheEnd(t *testing.T) {
	b := newBench(t)
	b.fill(1)
	b.store.closeAs = errors.New("close the store: no room")
	b.expect(t, exitError, "no room", "tail", "pager", "incident.created", "--count", "1")
}

// onSaying calls do when the words are written.
type onSaying struct {
	io.Writer
	words string
	do    func()
}

func (w *onSaying) Write(b []byte) (int, error) {
	if strings.Contains(string(b), w.words) {
		w.do()
	}
	return w.Writer.Write(b)
}

// A full disk is reported once, and tail goes on when there is room.
func TestTailWaitsForRoom(t *testing.T) {
	b := newBench(t)
	var begun event.Subscription
	b.subscribed = func(sub event.Subscription) {
		b.arrive(occurrence(sub, "e1", "{}"))
		b.store.fail(fmt.Errorf("%w: disk full", event.ErrFull))
		begun = sub
	}
	b.p.Stderr = &onSaying{b.p.Stderr, "room again", func() { b.arrive(occurrence(begun, "e2", "{}")) }}
	b.p.Stderr = &onSaying{b.p.Stderr, "goes on when there is room", func() {
		b.store.fail(nil)
		b.arrive()
	}}
	b.expect(t, exitDone, "there is room again in /data", "tail", "pager", "incident.created", "--data", b.data(t), "--count", "2")
	if b.ids() != "e1 e2" || strings.Count(b.err.String(), "nothing can be kept in /data: no room to store events: disk full") != 1 {
		t.Errorf("printed %q, said %q", b.ids(), b.err.String())
	}
}

// A read of records from a process whose connection is cut is begun anew when it is there again.
func TestTailOutlivesItsConnection(t *testing.T) {
	b := newBench(t)
	b.fill(3)
	silent := fmt.Errorf("%w: the connection is cut", event.ErrSilent)
	b.store.cut = func() error {
		b.store.mu.Lock()
		b.store.cut = nil
		b.store.mu.Unlock()
		b.store.fail(silent)
		return silent
	}
	b.p.Stderr = &onSaying{b.p.Stderr, "it goes on when that does", func() {
		b.store.fail(nil)
		b.arrive()
	}}
	b.expect(t, exitDone, "answers again", "tail", "pager", "incident.created", "--data", b.data(t), "--count", "3")
	if b.ids() != "e1 e2 e3" {
		t.Errorf("printed %q", b.ids())
	}
}

func TestTailEndsWhenNothingCanBeKept(t *testing.T) {
	b := newBench(t)
	b.subscribed = func(sub event.Subscription) {
		b.arrive(occurrence(sub, "e1", "{}"))
		b.store.fail(errors.New("the medium is gone"))
	}
	b.expect(t, exitError, "nothing can be kept in /data: the medium is gone", "tail", "pager", "incident.created", "--data", b.data(t))
	if b.ids() != "e1" || !b.closed || b.store.closed != 1 {
		t.Errorf("printed %q, closed %t %d", b.ids(), b.closed, b.store.closed)
	}
}
