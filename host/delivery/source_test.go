package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"eventdeck/host/wire"
)

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
