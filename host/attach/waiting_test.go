package attach

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// full is a listener of a process that has too many files open for a while.
type full struct {
	failures int
	times    []time.Time
}

func (l *full) AcceptUnix() (*net.UnixConn, error) {
	l.times = append(l.times, time.Now())
	if len(l.times) > l.failures {
		return nil, net.ErrClosed
	}
	return nil, &net.OpError{Op: "accept", Net: "unix", Err: syscall.EMFILE}
}

func TestListeningGoesOnWhenConnectionsCannotBeTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{opts: Options{Log: slog.New(slog.DiscardHandler)}, ctx: t.Context()}
		l := &full{failures: 20}
		s.accept(l)
		if len(l.times) != 21 {
			t.Fatalf("it was tried %d times", len(l.times))
		}
		if first, last := l.times[1].Sub(l.times[0]), l.times[20].Sub(l.times[19]); first != acceptPause || last != acceptLonger {
			t.Errorf("the pauses go from %v to %v", first, last)
		}
	})
}

// A first process that was stopped reads nothing: whoever asks waits for no longer
// than the context says, also while the question cannot be written.
func TestQuestionsEndThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	l, unlisten, err := listen(dir)
	must(t, err)
	served := make(chan error, 1)
	over := make(chan struct{})
	go func() {
		conn, err := l.AcceptUnix()
		if err != nil {
			served <- err
			return
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		if _, err = greet(conn, in); err == nil {
			err = answerState(newFrames(conn, in, maxRequest, maxAnswer), 7)
		}
		served <- err
		<-over
	}()
	c, err := attach(context.Background(), dir, time.Hour, time.Hour)
	must(t, err)
	must(t, <-served)
	defer func() {
		must(t, c.Close())
		close(over)
		must(t, unlisten())
	}()
	for range 2 { // the second waits behind the first
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- c.SetSetting(ctx, "name", strings.Repeat("x", maxRequest/2)) }()
		select {
		case err := <-ended:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("it still waits")
		}
	}
	if c.Err() != nil {
		t.Errorf("the connection has ended: %v", c.Err())
	}
}
