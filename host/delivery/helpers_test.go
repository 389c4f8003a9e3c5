package delivery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

const subID = event.SubID("aaaaaaaa")

// memory is a store that keeps the promises of [event.Batch] in memory.
type memory struct {
	queue chan event.Batch
	done  chan struct{}

	mu      sync.Mutex
	subs    map[event.SubID]event.Subscription
	records []event.Record
	audit   []event.AuditEntry
	ids     map[string]bool
	fail    func(event.Batch) error // nil: every commit succeeds
	delay   time.Duration           // of every commit
	hold    chan struct{}           // not nil: commits wait until it is closed
}

func newMemory(depth int) *memory {
	m := &memory{
		queue: make(chan event.Batch, depth), done: make(chan struct{}),
		subs: map[event.SubID]event.Subscription{}, ids: map[string]bool{},
	}
	go func() {
		defer close(m.done)
		for b := range m.queue {
			m.commit(b)
		}
	}()
	return m
}

func (m *memory) close() { close(m.queue); <-m.done }

// Submit takes a batch even when ctx is done, if there is room: like the store.
func (m *memory) Submit(ctx context.Context, b event.Batch) error {
	b.Records = slices.Clone(b.Records)
	select {
	case m.queue <- b:
		return nil
	default:
	}
	select {
	case m.queue <- b:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *memory) commit(b event.Batch) {
	m.mu.Lock()
	fail, delay, hold := m.fail, m.delay, m.hold
	m.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if delay > 0 {
		time.Sleep(delay)
	}
	var out event.Outcome
	var err error
	switch {
	case b.Fence != nil && b.Fence.Broken():
		err = event.ErrFenced
	case fail != nil:
		err = fail(b)
	}
	if err != nil {
		if b.Fence != nil {
			b.Fence.Break()
		}
	} else {
		out = m.apply(b)
	}
	if b.Done != nil {
		b.Done(out, err)
	}
}

func (m *memory) apply(b event.Batch) (out event.Outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range b.Records {
		if r.Kind == event.KindEvent {
			if m.ids[r.EventID.Raw()] {
				out.Duplicates++
				for _, old := range m.records {
					if old.EventID == r.EventID && string(old.Data) != string(r.Data) {
						out.Changed++
					}
				}
				continue
			}
			m.ids[r.EventID.Raw()] = true
		}
		r.Seq = uint64(len(m.records) + 1)
		m.records = append(m.records, r)
		out.Stored++
		out.Last = r.Seq
	}
	m.audit = append(m.audit, b.Audit...)
	sub := m.subs[b.Sub]
	if b.Cursor != nil {
		sub.Cursor = *b.Cursor
	}
	if b.Update != nil {
		b.Update(&sub)
	}
	m.subs[b.Sub] = sub
	return out
}

func (m *memory) Subscription(id event.SubID) (event.Subscription, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sub, ok := m.subs[id]
	if !ok {
		return sub, event.ErrNotFound
	}
	return sub, nil
}

func (m *memory) HasEvent(_ event.SubID, id trust.Text) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ids[id.Raw()]
}

func (m *memory) failWith(fn func(event.Batch) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = fn
}

func (m *memory) all() []event.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.records)
}

func (m *memory) audits() []event.AuditEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.audit)
}

// source is a server whose answers a test writes.
type source struct {
	ready       func(context.Context) error
	poll        func(n int, r wire.PollRequest) (wire.PollResult, error)
	stream      func(n int, r wire.StreamRequest, s *stream) error
	open        func(n int) error // refuses to open a stream
	subscribe   func(n int, r wire.SubscribeRequest) (wire.SubscribeResult, error)
	unsubscribe func(r wire.UnsubscribeRequest) error

	mu    sync.Mutex
	at    []time.Time     // of every poll, stream and subscribe
	sent  []wire.Position // the same
	ended []string        // addresses that were unsubscribed
}

func (s *source) called(at wire.Position) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, time.Now())
	s.sent = append(s.sent, at)
	return len(s.at)
}

func (s *source) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.at)
}

// cursors returns the positions that were sent: "-" for null.
func (s *source) cursors() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, p := range s.sent {
		if p.Valid {
			out = append(out, "="+p.Cursor.Raw())
		} else {
			out = append(out, "-")
		}
	}
	return strings.Join(out, " ")
}

// pause returns the time between call n and the one after it, from 1.
func (s *source) pause(n int) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[n].Sub(s.at[n-1])
}

func (s *source) Ready(ctx context.Context) error {
	if s.ready != nil {
		return s.ready(ctx)
	}
	return ctx.Err()
}

func (s *source) Poll(_ context.Context, r wire.PollRequest) (wire.PollResult, error) {
	return s.poll(s.called(r.At), r)
}

func (s *source) Subscribe(_ context.Context, r wire.SubscribeRequest) (wire.SubscribeResult, error) {
	return s.subscribe(s.called(r.At), r)
}

func (s *source) Unsubscribe(_ context.Context, r wire.UnsubscribeRequest) error {
	s.mu.Lock()
	s.ended = append(s.ended, r.URL)
	s.mu.Unlock()
	if s.unsubscribe != nil {
		return s.unsubscribe(r)
	}
	return nil
}

func (s *source) Pause(context.Context, wire.UnsubscribeRequest) error { return nil }

func (s *source) Stream(ctx context.Context, r wire.StreamRequest, sink func(wire.Note)) (Stream, error) {
	n := s.called(r.At)
	if s.open != nil {
		if err := s.open(n); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	st := &stream{ctx: ctx, cancel: cancel, sink: sink, done: make(chan struct{})}
	st.byte()
	go func() {
		defer close(st.done)
		st.err = s.stream(n, r, st)
	}()
	return st, nil
}

type stream struct {
	ctx    context.Context
	cancel context.CancelFunc
	sink   func(wire.Note)
	done   chan struct{}
	err    error

	mu   sync.Mutex
	last time.Time
}

func (s *stream) Close()                { s.cancel() }
func (s *stream) Done() <-chan struct{} { return s.done }
func (s *stream) Err() error            { return s.err }

func (s *stream) LastByte() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// byte is a comment on the stream.
func (s *stream) byte() {
	s.mu.Lock()
	s.last = time.Now()
	s.mu.Unlock()
}

// note sends a notification, also after the stream was cancelled: it may have
// been on its way.
func (s *stream) note(method, params string) {
	s.byte()
	s.sink(wire.Note{Method: method, Params: json.RawMessage(params)})
}

func (s *stream) active(cursor string)    { s.note(wire.NoteActive, cursorJSON(cursor)) }
func (s *stream) heartbeat(cursor string) { s.note(wire.NoteHeartbeat, cursorJSON(cursor)) }
func (s *stream) event(id string)         { s.note(wire.NoteEvent, occurrence(id, time.Now(), id)) }

func cursorJSON(cursor string) string {
	if cursor == "" {
		return `{}`
	}
	return fmt.Sprintf(`{"cursor":%q}`, cursor)
}

// wait reports whether the stream is still wanted after d.
func (s *stream) wait(d time.Duration) bool { return sleep(s.ctx, d) }

// stay keeps the stream open in silence.
func (s *stream) stay() error {
	<-s.ctx.Done()
	return s.ctx.Err()
}

func occurrence(id string, at time.Time, cursor string) string {
	c := ""
	if cursor != "" {
		c = fmt.Sprintf(`,"cursor":%q`, cursor)
	}
	return fmt.Sprintf(`{"eventId":%q,"name":"t","timestamp":%q,"data":{"n":%q}%s}`, id, at.UTC().Format(time.RFC3339Nano), id, c)
}

func raw(occurrences ...string) (out []json.RawMessage) {
	for _, o := range occurrences {
		out = append(out, json.RawMessage(o))
	}
	return out
}

func text(s string) trust.Text { return trust.Untrusted(s) }

func cur(s string) wire.Cursor { return wire.Cursor{Present: true, Text: trust.Untrusted(s)} }

var null = wire.Cursor{Present: true, Null: true}

// doubling is a backoff without chance.
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

// start begins a life. The subscription is put into the store the first time.
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

// stop ends the life and waits for it.
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

func (r *rig) wantState(want State) {
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
