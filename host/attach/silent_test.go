package attach

import (
	"bufio"
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/event"
)

// answerState answers the next question, which must be for the state.
func answerState(f *frames, version uint64) error {
	h, err := f.next()
	if err != nil {
		return err
	}
	var a stateAsk
	if err := f.value(&a); err != nil {
		return err
	}
	s := state{Snapshot: host.Snapshot{Version: version, At: time.Now()}}
	for _, word := range []event.State{event.StateLive, event.StatePaused} {
		s.Snapshot.Subs = append(s.Snapshot.Subs, host.SubscriptionView{Status: delivery.Status{State: word}})
	}
	return f.write(header{ID: h.ID}, s)
}

// words returns the states that a snapshot shows.
func words(s host.Snapshot) (out [2]event.State) {
	for i, v := range s.Subs {
		out[i] = v.Status.State
	}
	return out
}

// A first process that was stopped holds the connection open and says nothing.
func TestAFirstThatIsStoppedDoesNotLookAlive(t *testing.T) {
	dir := t.TempDir()
	l, unlisten, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer unlisten()
	served := make(chan *frames, 1)
	go func() {
		conn, err := l.AcceptUnix()
		if err != nil {
			return
		}
		in := bufio.NewReader(conn)
		_, _ = greet(conn, in) // the client tells what is wrong
		served <- newFrames(conn, in, maxRequest, maxAnswer)
	}()
	attached := make(chan *Client, 1)
	go func() {
		c, err := attach(context.Background(), filepath.Clean(dir), time.Millisecond, 10*time.Millisecond)
		if err != nil {
			t.Error(err)
		}
		attached <- c
	}()
	f := <-served
	must(t, answerState(f, 7))
	c := <-attached
	var answers sync.WaitGroup
	defer answers.Wait()
	defer c.Close()
	changed, stop := c.Changed()
	defer stop()
	before := c.Snapshot()
	await := func(what string, want [2]event.State) host.Snapshot {
		t.Helper()
		late := time.After(20 * time.Second)
		for {
			if s := c.Snapshot(); words(s) == want {
				return s
			}
			select {
			case <-changed:
			case <-late:
				t.Fatalf("%s: %v", what, words(c.Snapshot()))
			}
		}
	}
	old := await("silent", [2]event.State{event.StateStale, event.StatePaused})
	if !errors.Is(old.Store.Err, event.ErrSilent) || old.Version <= before.Version {
		t.Errorf("%v, version %d after %d", old.Store.Err, old.Version, before.Version)
	}
	if before.Subs[0].Status.State != event.StateLive {
		t.Error("a snapshot that somebody holds was changed")
	}
	answers.Go(func() {
		for answerState(f, 7) == nil { // until the client is closed
		}
	})
	again := await("heard again", [2]event.State{event.StateLive, event.StatePaused})
	if again.Store.Err != nil || again.Version <= old.Version {
		t.Errorf("%v, version %d after %d", again.Store.Err, again.Version, old.Version)
	}
}
