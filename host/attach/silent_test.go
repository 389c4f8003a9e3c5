package attach

import (
	"context"
	"encoding/gob"
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/event"
)

// stopping is an owner that answers until it is stopped, and again once it continues.
type stopping struct {
	stopped chan struct{} // closed when the owner is stopped
	goesOn  chan struct{} // closed when the owner continues
}

func newStopping() *stopping {
	return &stopping{stopped: make(chan struct{}), goesOn: make(chan struct{})}
}

func (s *stopping) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(headerVersion, strconv.Itoa(version))
	w.Header().Set(headerPID, strconv.Itoa(os.Getpid()))
	if r.URL.Path == pathOf(pathSession) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush() // the client tells what is wrong
		<-r.Context().Done()
		return
	}
	select {
	case <-s.stopped:
		select {
		case <-s.goesOn:
		case <-r.Context().Done():
			return
		}
	default:
	}
	v := state{Snapshot: host.Snapshot{Version: 7, At: time.Now()}}
	for _, word := range []event.State{event.StateLive, event.StatePaused} {
		v.Snapshot.Subs = append(v.Snapshot.Subs, host.SubscriptionView{Status: delivery.Status{State: word}})
	}
	_ = gob.NewEncoder(w).Encode(v) // the client tells what is wrong
}

// serves runs an owner for the time of a test.
func (s *stopping) serves(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	l, unlisten, err := listen(dir)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	server := &http.Server{Handler: s, BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l) // until the test ends
	}()
	t.Cleanup(func() {
		cancel()
		must(t, server.Shutdown(context.Background()))
		<-ended
		must(t, unlisten())
	})
	return dir
}

// words returns the states that a snapshot shows.
func words(s host.Snapshot) (out [2]event.State) {
	for i, v := range s.Subs {
		out[i] = v.Status.State
	}
	return out
}

// An owner that was stopped holds the connection open and sends nothing.
func TestStoppedOwnerDoesNotLookAlive(t *testing.T) {
	owner := newStopping()
	dir := owner.serves(t)
	c, err := attach(t.Context(), dir, dialSocket(dir), false, time.Millisecond, 10*time.Millisecond)
	must(t, err)
	defer c.Close()
	changed, stop := c.Changed()
	defer stop()
	await := func(what string, want [2]event.State) host.Snapshot {
		t.Helper()
		late := time.After(time.Minute)
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
	before := await("alive", [2]event.State{event.StateLive, event.StatePaused})
	close(owner.stopped)
	old := await("silent", [2]event.State{event.StateStale, event.StatePaused})
	if !errors.Is(old.Store.Err, event.ErrSilent) || old.Version <= before.Version {
		t.Errorf("%v, version %d after %d", old.Store.Err, old.Version, before.Version)
	}
	if before.Subs[0].Status.State != event.StateLive {
		t.Error("a snapshot that a reader holds was changed")
	}
	close(owner.goesOn)
	again := await("heard again", [2]event.State{event.StateLive, event.StatePaused})
	if again.Store.Err != nil || again.Version <= old.Version {
		t.Errorf("%v, version %d after %d", again.Store.Err, again.Version, old.Version)
	}
}

// An owner that was stopped reads nothing: a request ends with its context, also while it cannot be
// written.
func TestRequestThatCannotBeWrittenEndsWithItsContext(t *testing.T) {
	owner := newStopping()
	dir := owner.serves(t)
	c, err := attach(t.Context(), dir, dialSocket(dir), false, time.Hour, time.Hour)
	must(t, err)
	defer c.Close()
	close(owner.stopped)
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- c.SetSetting(ctx, "name", strings.Repeat("x", maxRequest/2)) }()
		select {
		case err := <-ended:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("it still waits")
		}
	}
	if c.Err() != nil {
		t.Errorf("the connection has ended: %v", c.Err())
	}
}
