package program

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"testing"

	"eventdeck/host/attach"
	"eventdeck/host/event"
)

// A store that this process must not open is not tried again and again, and the screen says
// why it ends.
func TestTakeoverWithoutRights(t *testing.T) {
	a := &App{Program: Program{
		OpenStore: func(context.Context, StoreOptions) (event.Store, error) { return nil, fs.ErrPermission },
		Env:       func(string) (string, bool) { return "", false }, Home: t.TempDir(),
	}}
	a.Flags.Observe.Level = "info"
	o := &takeover{app: a, options: StoreOptions{Dir: t.TempDir()}}
	if _, err := o.next(t.Context()); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("it ends with %v", err)
	}
}

// otherStore is a store of a generation of its own.
type otherStore struct {
	event.Store
	closed bool
}

func (o *otherStore) Generations() event.Generations { return event.Generations(nil).Next("other", 0) }
func (o *otherStore) Last() uint64                   { return 100 }
func (o *otherStore) Close() error {
	o.closed = true
	return nil
}

// A screen never continues with another store than the one that it was attached to.
func TestTakeoverOfAnotherStore(t *testing.T) {
	s := &otherStore{}
	a := &App{Program: Program{
		OpenStore: func(context.Context, StoreOptions) (event.Store, error) { return s, nil },
		Env:       func(string) (string, bool) { return "", false }, Home: t.TempDir(),
	}}
	a.Flags.Observe.Level = "info"
	o := &takeover{app: a, options: StoreOptions{Dir: t.TempDir(), Generation: "ours", Position: 7}}
	if _, err := o.next(t.Context()); !errors.Is(err, attach.ErrElsewhere) || !s.closed {
		t.Errorf("it ends with %v; closed %t", err, s.closed)
	}
}

// Lines that libraries log go to the log of the open host that took the store over: the file
// of the former one is closed.
func TestTakeoverLogsLinesOfLibraries(t *testing.T) {
	told := 0
	a := &App{Program: Program{
		OpenStore: func(context.Context, StoreOptions) (event.Store, error) { return nil, fs.ErrPermission },
		Libraries: func(*slog.Logger) { told++ },
		Env:       func(string) (string, bool) { return "", false }, Home: t.TempDir(),
	}}
	a.Flags.Observe.Level = "info"
	_, err := (&takeover{app: a, options: StoreOptions{Dir: t.TempDir()}}).next(t.Context())
	if told != 1 || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("told %d times: %v", told, err)
	}
}
