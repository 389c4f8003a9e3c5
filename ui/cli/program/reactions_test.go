package program

import (
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/react"
)

// acting is the reactions of an open host.
type acting struct {
	react.Control
	closed bool
}

func (r *acting) Close() error { r.closed = true; return nil }

type noStore struct{ event.Store }

func (noStore) Info() event.StoreInfo { return event.StoreInfo{} }

type noHost struct{ host.API }

func (noHost) Close() error { return nil }

// An open host closes the reactions that it runs, and a read-only screen runs none.
func TestOnlyTheScreenAndReactRunRunReactions(t *testing.T) {
	r := &acting{}
	began := 0
	a := &App{Program: Program{RunReactions: func(ReactOptions) (Reactions, error) { began++; return r, nil }, Env: func(string) (string, bool) { return "", false }, Home: t.TempDir()}}
	d := &OpenHost{Store: noStore{}, API: noHost{}}
	a.startReactions(d, nil, nil)
	if began != 0 || d.Control() != nil {
		t.Fatal("a command that lists runs reactions")
	}
	a.Flags.Reacts = OwnReactions
	a.startReactions(d, nil, nil)
	if began != 1 || d.Control() != react.Control(r) {
		t.Fatal("the screen runs none")
	}
	if err := d.closeHost(); err != nil || !r.closed {
		t.Errorf("%v, closed %v", err, r.closed)
	}
}
