package eventserver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// stdioClient is the client's end of a server over stdio.
type stdioClient struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Scanner
	done chan error
}

// serveStdio answers "ping" at once, and "wait" with the end of its context.
func serveStdio(t *testing.T, most int) *stdioClient {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	s := eventserver.NewStdio(outWrite, most, slog.New(slog.DiscardHandler))
	c := &stdioClient{t: t, in: inWrite, out: bufio.NewScanner(outRead), done: make(chan error, 1)}
	handle := func(ctx context.Context, m wire.Message) {
		if m.Method == "ping" {
			s.Reply(m.RawID, map[string]any{}, nil, wire.ProfileSEP)
			return
		}
		s.Start(ctx, m, wire.ProfileSEP, func(ctx context.Context) {
			<-ctx.Done()
			s.Reply(m.RawID, nil, eventserver.Refuse(wire.NotFound, "cancelled", nil), wire.ProfileSEP)
		})
	}
	go func() {
		err := s.Run(t.Context(), inRead, wire.ProfileSEP, handle, func() {})
		outWrite.Close()
		c.done <- err
	}()
	return c
}

// ask sends a line and returns the next line that arrives.
func (c *stdioClient) ask(format string, args ...any) string {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		c.t.Fatal(err)
	}
	if !c.out.Scan() {
		c.t.Fatalf("no line: %v", c.out.Err())
	}
	return c.out.Text()
}

func TestStdioAnswersAndCancels(t *testing.T) {
	c := serveStdio(t, 2)
	ping := func(before string) {
		t.Helper()
		if got := c.ask(`%s{"jsonrpc":"2.0","id":1,"method":"ping"}`, before); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
			t.Errorf("ping: %s", got)
		}
	}
	ping("\n \n") // empty lines are skipped
	if got := c.ask("no json"); !strings.Contains(got, `"id":null,"error":{"code":-32600`) {
		t.Errorf("garbage: %s", got)
	}
	ping(`{"jsonrpc":"2.0","id":"a","method":"wait"}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/other"}` + "\n")
	if got := c.ask(`{"jsonrpc":"2.0","id":"a","method":"wait"}`); !strings.Contains(got, `"id":"a","error":{"code":-32600,"message":"the id is in use"`) {
		t.Errorf("an id in use: %s", got)
	}
	ping(`{"jsonrpc":"2.0","id":"b","method":"wait"}` + "\n")
	if got := c.ask(`{"jsonrpc":"2.0","id":"c","method":"wait"}`); !strings.Contains(got, `"data":{"limit":"streams","max":2}`) {
		t.Errorf("one too many: %s", got)
	}
	if got := c.ask(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`); !strings.Contains(got, `"id":"a","error":{"code":-32023`) {
		t.Errorf("cancelled: %s", got)
	}
	ping(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}}` + "\n")
	c.in.Close()
	if !c.out.Scan() || !strings.Contains(c.out.Text(), `"id":"b"`) || c.out.Scan() {
		t.Errorf("at the end: %s", c.out.Text())
	}
	if err := <-c.done; err != nil {
		t.Error(err)
	}
}

func TestStdioErrors(t *testing.T) {
	c := serveStdio(t, 1)
	broken := errors.New("broken")
	c.in.CloseWithError(broken)
	if err := <-c.done; !errors.Is(err, broken) {
		t.Errorf("reading: %v", err)
	}
	outRead, outWrite := io.Pipe()
	outRead.CloseWithError(broken)
	s := eventserver.NewStdio(outWrite, 1, slog.New(slog.DiscardHandler))
	inRead, inWrite := io.Pipe()
	defer inWrite.Close()
	go fmt.Fprintln(inWrite, `{"jsonrpc":"2.0","id":1,"method":"x"}`)
	err := s.Run(t.Context(), inRead, wire.ProfileSEP, func(_ context.Context, m wire.Message) {
		s.Reply(m.RawID, map[string]any{}, nil, wire.ProfileSEP)
	}, func() {})
	if !errors.Is(err, broken) {
		t.Errorf("writing: %v", err)
	}
	if err := s.Write([]byte("x\n")); !errors.Is(err, broken) {
		t.Errorf("after that: %v", err)
	}
}

// Run ends although the client does not read.
func TestStdioClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outRead, outWrite := io.Pipe()
		s := eventserver.NewStdio(outWrite, 1, slog.New(slog.DiscardHandler))
		err := s.Run(t.Context(), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"x"}`+"\n"), wire.ProfileSEP, func(ctx context.Context, m wire.Message) {
			s.Start(ctx, m, wire.ProfileSEP, func(context.Context) { s.Reply(m.RawID, map[string]any{}, nil, wire.ProfileSEP) })
		}, func() {})
		if !errors.Is(err, eventserver.ErrNotRead) {
			t.Error(err)
		}
		outRead.Close()
	})
}
