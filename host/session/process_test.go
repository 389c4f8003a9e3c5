package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

type flood struct {
	Count int `json:"count"`
	Size  int `json:"size"`
}

func stderr() (Options, chan string) {
	c := make(chan string, 100)
	return Options{OnStderr: func(t trust.Text) { c <- t.Raw() }}, c
}

func TestProcessStateless(t *testing.T) {
	s := mustDial(t, process(t, "modern"), Options{})
	if i := s.Info(); i.Era != EraStateless || i.Transport != TransportPipe || !i.Advertised {
		t.Errorf("info %+v", i)
	}
}

func TestProcessHandshake(t *testing.T) {
	s := mustDial(t, process(t, "handshake"), Options{})
	if i := s.Info(); i.Era != EraHandshake || i.Version != "2025-06-18" || i.Transport != TransportPipe {
		t.Errorf("info %+v", i)
	}
}

func TestProcessSilentOnDiscover(t *testing.T) {
	s := mustDial(t, process(t, "silent"), Options{ProbeTimeout: 50 * time.Millisecond})
	if s.Info().Era != EraHandshake {
		t.Errorf("info %+v", s.Info())
	}
}

func TestProcessThatCrashesOnDiscoverIsStartedForInitialize(t *testing.T) {
	s := mustDial(t, process(t, "crashes-before-initialize"), Options{})
	if s.Info().Era != EraHandshake {
		t.Errorf("info %+v", s.Info())
	}
}

func TestProcessContentLengthFramingIsNamed(t *testing.T) {
	_, err := Dial(soon(t), process(t, "framing"), Options{})
	if !errors.Is(err, ErrFraming) || !strings.Contains(err.Error(), "Content-Length framing is not supported") {
		t.Errorf("error %v", err)
	}
}

func TestProcessThatNeverSpeaksJSONRPCIsNamed(t *testing.T) {
	within(t, func(limit time.Duration) error { // it may not have written anything yet
		ctx, cancel := context.WithTimeout(t.Context(), 10*limit)
		defer cancel()
		_, err := Dial(ctx, process(t, "babbles"), Options{ProbeTimeout: limit})
		if err == nil || !strings.Contains(err.Error(), "is not JSON-RPC, e.g. starting up, please wait") {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
}

func TestProcessNotFound(t *testing.T) {
	_, err := Dial(soon(t), event.Server{Name: "x", Command: "no-such-program-here"}, Options{})
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "no-such-program-here") {
		t.Errorf("error %v", err)
	}
}

func TestProcessGetsEnvironment(t *testing.T) {
	server := process(t, "modern")
	server.Env["FLAVOUR"] = event.NewSecret("salty")
	s := mustDial(t, server, Options{})
	if raw, err := s.Call(soon(t), "test/env", nil); err != nil || string(raw) != `"salty"` {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestProcessDoesNotInheritSecrets(t *testing.T) {
	environ := []string{"HOME=/h", "PATH=/bin", "LC_ALL=C", "XDG_RUNTIME_DIR=/run", "https_proxy=http://p", "TZ=UTC",
		"OTHER_TOKEN=t", "AWS_SECRET_ACCESS_KEY=k", "EVENTDECK_MCP_TOKEN=m", "EVENTDECK_KEY=file", "WANTED=w"}
	if runtime.GOOS == "windows" {
		environ = append(environ, "SystemRoot=C:", "Path=C:", "TEMP=C:")
	}
	server := event.Server{Env: map[string]event.Secret{"OWN": event.NewSecret("o")}, Inherit: []string{"WANTED", "EVENTDECK_KEY", "ABSENT"}}
	passed, withheld := environment(server, environ)
	for _, secret := range []string{"OTHER_TOKEN", "AWS_SECRET_ACCESS_KEY", "EVENTDECK_MCP_TOKEN", "EVENTDECK_KEY"} {
		if !slices.Contains(withheld, secret) || slices.ContainsFunc(passed, func(v string) bool { return strings.HasPrefix(v, secret+"=") }) {
			t.Errorf("%s is passed on: %q", secret, passed)
		}
	}
	want := []string{"https_proxy=http://p", "WANTED=w", "OWN=o"}
	if runtime.GOOS == "windows" {
		want = append(want, "SystemRoot=C:", "Path=C:", "TEMP=C:")
	} else {
		want = append(want, "HOME=/h", "PATH=/bin", "LC_ALL=C", "XDG_RUNTIME_DIR=/run", "TZ=UTC")
	}
	for _, variable := range want {
		if !slices.Contains(passed, variable) {
			t.Errorf("%s is withheld: %q", variable, passed)
		}
	}
}

func TestDeadProcessNamesTheVariableThatItMissed(t *testing.T) {
	t.Setenv("NOTES_API_TOKEN", "a-secret-of-the-operator")
	server := event.Server{Name: "x", Command: "sh", Args: []string{"-c", `echo "error: NOTES_API_TOKEN is not set" >&2; echo "bye" >&2; exit 1`}}
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	_, err := Dial(soon(t), server, Options{})
	if err == nil || !strings.Contains(err.Error(), "NOTES_API_TOKEN") || !strings.Contains(err.Error(), "--inherit") || strings.Contains(err.Error(), "a-secret") {
		t.Errorf("%v; it should name the variable and how to pass it", err)
	}
}

func TestProcessGarbageOnStdoutIsSkipped(t *testing.T) {
	s := mustDial(t, process(t, "modern"), Options{})
	if raw, err := s.Call(soon(t), "test/garbage", nil); err != nil || string(raw) != `"ok"` {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestProcessIDsOfOtherTypes(t *testing.T) {
	s := mustDial(t, process(t, "handshake"), Options{})
	if raw, err := s.Call(soon(t), "test/stringid", nil); err != nil || string(raw) != "1" {
		t.Errorf("string id: %s, %v", raw, err)
	}
	if _, err := s.Call(soon(t), "test/nullid", nil); wire.NameFrom(err) != wire.InvalidRequest {
		t.Errorf("null id: %v", err)
	}
}

func TestProcessDeathLosesTheSession(t *testing.T) {
	s := mustDial(t, process(t, "modern"), Options{})
	stream, err := s.Open(soon(t), wire.MethodStream, flood{}, func(wire.Note) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.Call(soon(t), "test/exit", nil); !errors.Is(err, ErrLost) {
		t.Errorf("call: %v", err)
	}
	for _, want := range []string{"exit status 7", "memory"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not name %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "\x1b") {
		t.Errorf("error holds a live escape: %q", err)
	}
	get(t, "loss", s.Lost())
	if _, err := stream.Result(); !errors.Is(err, ErrLost) {
		t.Errorf("stream: %v", err)
	}
	if _, err := s.Call(soon(t), "test/env", nil); !errors.Is(err, ErrLost) {
		t.Errorf("later call: %v", err)
	}
}

func TestProcessThatClosesItsOutputIsLost(t *testing.T) {
	opts, _ := stderr()
	s := mustDial(t, process(t, "modern"), opts)
	if _, err := s.Call(soon(t), "test/close", nil); !errors.Is(err, ErrLost) {
		t.Errorf("error %v", err)
	}
}

func TestProcessStreamsAreRoutedAndCancelledAlone(t *testing.T) {
	opts, lines := stderr()
	s := mustDial(t, process(t, "handshake"), opts)
	const streams, events = 50, 40
	type got struct {
		stream *Stream
		notes  chan wire.Note
	}
	var all []got
	for range streams {
		sink, c := notes()
		stream, err := s.Open(soon(t), wire.MethodStream, flood{Count: events}, sink)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got{stream, c})
	}
	for _, g := range all {
		for want := range events {
			if n := get(t, "event", g.notes); n.Route() != g.stream.ID || number(t, n) != want {
				t.Fatalf("stream %s got %s, want n %d", g.stream.ID, n.Params, want)
			}
		}
	}
	first := all[0]
	first.stream.Close()
	first.stream.Close()
	get(t, "end", first.stream.Done())
	if line := get(t, "cancellation", lines); !strings.Contains(line, `"requestId":`+string(first.stream.ID)) {
		t.Errorf("server was told %s", line)
	}
	// The server has sent a late event before this answer.
	if _, err := s.Call(soon(t), "test/env", nil); err != nil {
		t.Fatal(err)
	}
	if len(first.notes) != 0 {
		t.Error("a closed stream got an event")
	}
	for _, g := range all[1:] {
		select {
		case <-g.stream.Done():
			t.Fatalf("stream %s ended too", g.stream.ID)
		default:
		}
	}
}

func TestProcessSlowSinkDoesNotStallOthersUntilItsQueueIsFull(t *testing.T) {
	s := mustDial(t, process(t, "modern"), Options{})
	hold, began := make(chan struct{}), make(chan struct{}, 20_000)
	slow := func(count int) *Stream {
		stream, err := s.Open(soon(t), wire.MethodStream, flood{Count: count, Size: 1000}, func(wire.Note) {
			began <- struct{}{}
			<-hold
		})
		if err != nil {
			t.Fatal(err)
		}
		get(t, "event", began)
		return stream
	}
	one := slow(3000)
	if _, err := s.Call(soon(t), "test/env", nil); err != nil {
		t.Errorf("call beside 3 MB for a slow sink: %v", err)
	}
	two := slow(9000)
	ctx, cancel := context.WithTimeout(soon(t), 300*time.Millisecond)
	defer cancel()
	if _, err := s.Call(ctx, "test/env", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("call beside a full queue: %v", err)
	}
	close(hold)
	one.Close()
	two.Close()
	if _, err := s.Call(soon(t), "test/env", nil); err != nil {
		t.Errorf("call after the queue moved: %v", err)
	}
}

func TestProcessLimits(t *testing.T) {
	s := mustDial(t, process(t, "handshake"), Options{MaxFrame: 1000})
	if _, err := s.Call(soon(t), "test/big", nil); err != nil {
		t.Errorf("an answer may be larger than a notification: %v", err)
	}
	sink, c := notes()
	stream, err := s.Open(soon(t), wire.MethodStream, flood{Count: 2, Size: 1500}, sink)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the stream goes on
		if n := get(t, "note", c); n.Method != wire.NoteSkipped || !errors.Is(n.Refused, ErrTooLarge) {
			t.Errorf("got %+v", n)
		}
	}
	stream.Close()
	if _, err := s.Call(soon(t), "test/huge", nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("huge answer: %v", err)
	}
	if _, err := s.Call(soon(t), "test/env", nil); err != nil {
		t.Errorf("the session did not go on: %v", err)
	}
}

func TestProcessRequestsAreAnswered(t *testing.T) {
	opts, lines := stderr()
	s := mustDial(t, process(t, "handshake"), opts)
	if _, err := s.Call(soon(t), "test/asks", nil); err != nil {
		t.Fatal(err)
	}
	if line := get(t, "pong", lines); !strings.Contains(line, `"id":"p","result":{}`) {
		t.Errorf("ping was answered with %s", line)
	}
	if line := get(t, "refusal", lines); !strings.Contains(line, `-32601`) {
		t.Errorf("roots/list was answered with %s", line)
	}
}

func TestProcessUnsolicitedNotifications(t *testing.T) {
	sink, c := notes()
	s := mustDial(t, process(t, "handshake"), Options{OnNote: sink})
	if _, err := s.Call(soon(t), "test/unsolicited", nil); err != nil {
		t.Fatal(err)
	}
	if n := get(t, "list_changed", c); n.Method != wire.NoteListChanged {
		t.Errorf("note %+v", n)
	}
}

func TestProcessStubbornIsKilled(t *testing.T) {
	s := mustDial(t, process(t, "stubborn"), Options{patience: 50 * time.Millisecond})
	s.Close()
	state := s.link.(*processLink).cmd.ProcessState
	if state.Success() || runtime.GOOS != "windows" && state.String() != "signal: killed" {
		t.Errorf("it was not killed: %v", state)
	}
	if err := s.Err(); !errors.Is(err, ErrClosed) {
		t.Errorf("cause %v", err)
	}
}

func TestProcessEndsByItselfWhenItsInputCloses(t *testing.T) {
	s := mustDial(t, process(t, "modern"), Options{})
	s.Close()
	if state := s.link.(*processLink).cmd.ProcessState; !state.Success() {
		t.Errorf("state %v", state)
	}
}

func TestInvalidProcessDirectoryIsNamed(t *testing.T) {
	server := event.Server{Name: "x", Command: os.Args[0], Dir: filepath.Join(t.TempDir(), "none")}
	_, err := Dial(soon(t), server, Options{})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("its directory %q cannot be used: ", server.Dir)) {
		t.Errorf("got %v", err)
	}
}
