package delivery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/internal/pause"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

const subID = event.SubID("aaaaaaaa")

func text(s string) trust.Text { return trust.Untrusted(s) }

func cur(s string) wire.Cursor { return wire.Cursor{Present: true, Text: trust.Untrusted(s)} }

var null = wire.Cursor{Present: true, Null: true}

// doubling is a backoff without jitter.
type doubling struct{ min, max, next time.Duration }

func (d *doubling) Next(error) time.Duration {
	if d.next == 0 {
		d.next = d.min
	}
	wait := d.next
	d.next = min(2*d.next, d.max)
	return wait
}

func (d *doubling) Reset() { d.next = 0 }

// rig runs one subscription inside a synctest bubble.
type rig struct {
	t      *testing.T
	store  *memory
	src    *source
	deps   Deps
	sub    event.Subscription
	runner *Runner

	cancel context.CancelFunc
	ended  chan struct{}
}

func newRig(t *testing.T, mode event.Mode) *rig {
	r := &rig{t: t, store: newMemory(64), src: &source{}}
	r.sub = event.Subscription{ID: subID, Mode: mode, Key: event.Key{Server: "s", Type: trust.Untrusted("t"), Args: json.RawMessage("{}")}}
	r.deps = Deps{
		Source: r.src, Store: r.store, Now: time.Now, Jitter: func() float64 { return 0.5 },
		Random:   bytes.NewReader(bytes.Repeat([]byte("0123456789abcdef"), 64)),
		Backoff:  func() Backoff { return &doubling{min: time.Second, max: time.Minute} },
		Changed:  func() {},
		Callback: func(path string) (string, error) { return "https://here" + path, nil },
		Timing:   Timing{BackoffMin: time.Second},
	}
	t.Cleanup(func() { r.store.close() })
	t.Cleanup(r.stop)
	return r
}

// start starts a runner. The first time it stores the subscription.
func (r *rig) start() *rig {
	r.t.Helper()
	sub, err := r.store.Subscription(subID)
	if errors.Is(err, event.ErrNotFound) {
		sub = r.sub
		r.store.mu.Lock()
		r.store.subs[subID] = sub
		r.store.mu.Unlock()
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.runner, r.cancel, r.ended = New(r.deps, sub), cancel, make(chan struct{})
	go func(run *Runner, ended chan struct{}) {
		defer close(ended)
		run.Run(ctx)
	}(r.runner, r.ended)
	synctest.Wait()
	return r
}

// stop ends the runner and waits for it.
func (r *rig) stop() {
	if r.cancel != nil {
		r.cancel()
		<-r.ended
	}
}

// pass lets virtual time pass.
func (r *rig) pass(d time.Duration) { time.Sleep(d); synctest.Wait() }

func (r *rig) saved() event.Subscription {
	r.t.Helper()
	sub, err := r.store.Subscription(subID)
	if err != nil {
		r.t.Fatal(err)
	}
	return sub
}

// log returns the stored records in short: ids, "gap:cause", "rejected" and,
// with states, "state".
func (r *rig) log(states bool) string {
	var out []string
	for _, rec := range r.store.all() {
		switch rec.Kind {
		case event.KindEvent:
			out = append(out, rec.EventID.Raw())
		case event.KindGap:
			certain := ""
			if rec.Gap.Certain {
				certain = "!"
			}
			out = append(out, "gap:"+string(rec.Gap.Cause)+certain)
		case event.KindRejected:
			out = append(out, "rejected")
		case event.KindState:
			if states {
				out = append(out, "<"+string(rec.State.State)+">")
			}
		}
	}
	return strings.Join(out, " ")
}

func (r *rig) gaps() (out []event.Gap) {
	for _, rec := range r.store.all() {
		if rec.Kind == event.KindGap {
			out = append(out, *rec.Gap)
		}
	}
	return out
}

func (r *rig) wantLog(want string) {
	r.t.Helper()
	if got := r.log(false); got != want {
		r.t.Errorf("log: %s\nwant %s", got, want)
	}
}

func (r *rig) wantState(want event.State) {
	r.t.Helper()
	if got := r.runner.Status().State; got != want {
		r.t.Errorf("state %s, want %s", got, want)
	}
}

func (r *rig) wantCursor(want string) {
	r.t.Helper()
	c := r.saved().Cursor
	got := "-"
	if c.Valid {
		got = "=" + c.Text.Raw()
	}
	if got != want {
		r.t.Errorf("stored cursor %s, want %s", got, want)
	}
}

func (r *rig) wantEnded(want bool) {
	r.t.Helper()
	synctest.Wait()
	select {
	case <-r.ended:
		if !want {
			r.t.Error("the runner has ended")
		}
	default:
		if want {
			r.t.Error("the runner has not ended")
		}
	}
}

func equal[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func fault(code int, data string) *wire.Error {
	e := &wire.Error{Code: code}
	if data != "" {
		e.Data = json.RawMessage(data)
	}
	return e
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, mode event.Mode, fn func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { fn(newRig(t, mode)) })
}

// sleep waits, and reports whether ctx let it.
func sleep(ctx context.Context, d time.Duration) bool { return pause.For(ctx, d) == nil }
