package attach_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/host/attach"
	"eventdeck/host/event"
)

func TestEndOfTheOwnerIsReported(t *testing.T) {
	dir := t.TempDir()
	f := newOwner(t, dir, nil)
	c := f.client()
	if err := f.server.Close(); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	if err := c.Err(); !errors.Is(err, attach.ErrGone) || !strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
	if err := c.Pause(t.Context(), "aa"); !errors.Is(err, attach.ErrGone) {
		t.Error(err)
	}
	if err := c.Store().Close(); !errors.Is(err, attach.ErrGone) {
		t.Error(err)
	}
	if _, err := attach.Attach(t.Context(), dir); !errors.Is(err, attach.ErrNotListening) {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "attach.*")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	dir := t.TempDir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "attach.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := attach.Attach(t.Context(), dir); !errors.Is(err, attach.ErrNotListening) {
		t.Error(err)
	}
	f := newOwner(t, dir, nil)
	if c := f.client(); c.PID() != os.Getpid() {
		t.Error(c.PID())
	}
	if info, err := os.Stat(filepath.Join(dir, "attach.sock")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
}

func TestSocketOfDirectoryWithLongPath(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	dir := filepath.Join(t.TempDir(), strings.Repeat("long-", 30))
	f := newOwner(t, dir, nil)
	f.client()
	if err := f.server.Close(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{temp, dir} {
		if left, err := filepath.Glob(filepath.Join(d, "*attach*")); err != nil || len(left) > 0 {
			t.Error(left, err)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// A client that reads nothing costs the owner only its connection.
func TestClientThatReadsNothing(t *testing.T) {
	f := newOwner(t, t.TempDir(), nil)
	conn, err := net.Dial("unix", filepath.Join(f.dir, "attach.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("GET /v3/session HTTP/1.1\r\nHost: attach\r\nEventdeck-Token: " + token(t, f.dir) + "\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	c := f.client()
	last := f.events("aa", 0, 20_000)
	await(t, c, "what was stored", func() bool { return c.Log().Last() == last })
	n := 0
	if err := c.Log().After(0, func(event.Record) bool { n++; return true }); err != nil || n != 20_000 {
		t.Error(n, err) // also what it never fetched
	}
}

// Connections without a token would take places from others.
func TestConnectionWithoutTokenIsClosed(t *testing.T) {
	f := newOwner(t, t.TempDir(), nil)
	for _, request := range []string{"POST /v3/session", "POST /v3/approve"} {
		conn, err := net.Dial("unix", filepath.Join(f.dir, "attach.sock"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		// It announces a body, and never sends it.
		if _, err := conn.Write([]byte(request + " HTTP/1.1\r\nHost: attach\r\nContent-Length: 9\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 40") {
			t.Errorf("%s: %q, %v", request, answer, err)
		}
	}
}

// The error about another version names its process, also for version 1, which did not speak HTTP.
func TestOtherVersionIsReported(t *testing.T) {
	for _, greeting := range []string{
		"eventdeck-attach 1 4711\n",
		"HTTP/1.1 404 Not Found\r\nEventdeck-Attach: 99\r\nEventdeck-Pid: 4711\r\nContent-Length: 0\r\n\r\n",
	} {
		dir := t.TempDir()
		l, err := net.Listen("unix", filepath.Join(dir, "attach.sock"))
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			conn, err := l.Accept()
			if err == nil {
				if strings.HasPrefix(greeting, "HTTP") {
					_, _ = conn.Read(make([]byte, 1)) // the request
				}
				_, _ = conn.Write([]byte(greeting))
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
			}
		}()
		if _, err := attach.Attach(t.Context(), dir); !errors.Is(err, attach.ErrVersion) || !strings.Contains(err.Error(), "process 4711") {
			t.Errorf("%.20q: %v", greeting, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	}
}

func TestAttachEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "attach.sock"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := l.Accept()
		if err == nil {
			cancel() // it will never answer
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}
	}()
	if _, err := attach.Attach(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	<-ended
}
