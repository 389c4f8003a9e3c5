package session

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

func TestFiftyStreams(t *testing.T) {
	const streams, events = 50, 20
	handler := func(a ask) {
		for n := range events {
			a.note(wire.NoteEvent, n)
		}
		<-a.gone()
	}
	f := modernFake(t, map[string]func(ask){wire.MethodStream: handler, "m": func(a ask) { a.result("1") }})
	secure := httptest.NewUnstartedServer(f)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	for _, address := range []string{f.URL, secure.URL} {
		s := mustDial(t, event.Server{Name: "x", URL: address}, Options{TLS: &tls.Config{RootCAs: roots}})
		var all sync.WaitGroup
		for i := range streams {
			all.Go(func() {
				sink, c := notes()
				stream, err := s.Open(soon(t), wire.MethodStream, nil, sink)
				if err != nil {
					t.Error(err)
					return
				}
				for want := range events {
					select {
					case n := <-c:
						if n.Route() != stream.ID || number(t, n) != want {
							t.Errorf("stream %s got %s", stream.ID, n.Params)
						}
					case <-soon(t).Done():
						t.Errorf("event %d did not come", want)
						return
					}
				}
				if i%2 == 0 {
					stream.Close()
					<-stream.Done()
				}
			})
		}
		all.Wait()
		if _, err := s.Call(soon(t), "m", nil); err != nil {
			t.Error(err)
		}
		s.Close()
	}
	if a := f.wait(t, "m"); a.r.ProtoMajor != 1 {
		t.Errorf("plain: HTTP/%d", a.r.ProtoMajor)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if last := f.seen[len(f.seen)-1].r; last.ProtoMajor != 2 {
		t.Errorf("https: HTTP/%d", last.ProtoMajor)
	}
}

func TestStreamRefusedOrAnsweredWithJSON(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(ask)
		want   wire.Name
	}{
		"error":  {func(a ask) { a.fail(200, -32023, "null") }, wire.NotFound},
		"result": {func(a ask) { a.result("{}") }, ""},
		"SSE":    {func(a ask) { a.note(wire.NoteActive, 1); a.sse("data: {\"id\":" + a.id + ",\"result\":{}}\n\n") }, ""},
	} {
		s := mustDial(t, modernFake(t, map[string]func(ask){wire.MethodStream: c.answer}).server(), Options{})
		stream, err := s.Open(soon(t), wire.MethodStream, nil, func(wire.Note) {})
		if err != nil {
			t.Fatal(err)
		}
		if raw, err := stream.Result(); wire.NameFrom(err) != c.want || c.want == "" && string(raw) != "{}" {
			t.Errorf("%s: %s, %v", name, raw, err)
		}
	}
}

func TestSlowSinkStallsItsOwnStreamOnly(t *testing.T) {
	f := modernFake(t, map[string]func(ask){wire.MethodStream: func(a ask) { a.note(wire.NoteEvent, 1); <-a.gone() }})
	clock := newClock()
	s := mustDial(t, f.server(), Options{Now: clock.now})
	entered, hold := make(chan bool, 1), make(chan struct{})
	slow, err := s.Open(soon(t), wire.MethodStream, nil, func(wire.Note) { entered <- true; <-hold })
	if err != nil {
		t.Fatal(err)
	}
	get(t, "event", entered)
	sink, c := notes()
	if _, err := s.Open(soon(t), wire.MethodStream, nil, sink); err != nil {
		t.Fatal(err)
	}
	get(t, "event on the other stream", c)
	clock.add(time.Hour)
	if heard := slow.LastByte(); !heard.Equal(clock.now()) {
		t.Errorf("while the sink works the server counts as silent since %v", heard)
	}
	close(hold)
}

func TestCommentsCountAsActivity(t *testing.T) {
	more := make(chan struct{})
	f := modernFake(t, map[string]func(ask){wire.MethodStream: func(a ask) {
		a.note(wire.NoteActive, 1)
		<-more
		a.sse(": still here\n\n")
		<-a.gone()
	}})
	clock := newClock()
	s := mustDial(t, f.server(), Options{Now: clock.now})
	sink, c := notes()
	stream, err := s.Open(soon(t), wire.MethodStream, nil, sink)
	if err != nil {
		t.Fatal(err)
	}
	get(t, "active", c)
	clock.add(time.Minute)
	close(more)
	for ctx := soon(t); !stream.LastByte().Equal(clock.now()); runtime.Gosched() {
		if ctx.Err() != nil {
			t.Fatalf("last byte at %v, now %v", stream.LastByte(), clock.now())
		}
	}
}

// openStream is a server whose stream is confirmed and then stays quiet.
var openStream = map[string]func(ask){wire.MethodStream: func(a ask) { a.note(wire.NoteActive, 1); <-a.gone() }}

// streaming opens a stream and waits until it is confirmed.
func streaming(t *testing.T, f *fake) (*Session, *Stream) {
	t.Helper()
	s := mustDial(t, f.server(), Options{})
	sink, c := notes()
	stream, err := s.Open(soon(t), wire.MethodStream, nil, sink)
	if err != nil {
		t.Fatal(err)
	}
	get(t, "active", c)
	return s, stream
}

// The field retry of an event stream is the least time until the stream is opened again.
func TestCutStreamSaysWhenToReopenIt(t *testing.T) {
	f := modernFake(t, map[string]func(ask){wire.MethodStream: func(a ask) { a.sse("retry: 4000\n\n: and it is cut\n\n") }})
	s := mustDial(t, f.server(), Options{})
	stream, err := s.Open(soon(t), wire.MethodStream, nil, func(wire.Note) {})
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.Result()
	if got := RetryAfter(err); !errors.Is(err, ErrCut) || got != 4*time.Second {
		t.Errorf("%v, to be opened again after %v", err, got)
	}
}
