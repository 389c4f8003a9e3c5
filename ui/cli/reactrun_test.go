package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/store"
)

// What an import stores starts nothing, also when it was killed, and reactions are held.
func TestImportsAreKnownToReactions(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Keyring: store.NoKeyring()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	entry := func(key string) string {
		t.Helper()
		value, err := s.Journal().Entry(event.TableReact, key)
		if errors.Is(err, event.ErrNotFound) {
			return "(none)"
		}
		if err != nil {
			t.Fatal(err)
		}
		return string(value)
	}
	submit := func() {
		t.Helper()
		done := make(chan error, 1)
		b := event.Batch{Sub: "aa", Records: []event.Record{{Kind: event.KindState, State: &event.StateChange{State: event.StateLive}}}}
		b.Done = func(_ event.Outcome, err error) { done <- err }
		if err := errors.Join(s.Submit(t.Context(), b), <-done); err != nil {
			t.Fatal(err)
		}
	}
	const key = event.PrefixImported + "0000000000000001"

	done, err := noReactionTo(t.Context(), s)
	if err != nil || entry(key) != "" || entry(event.KeyLag) != "records were imported" {
		t.Fatalf("%v, %q, %q", err, entry(key), entry(event.KeyLag))
	}
	// Nothing was new: as if it had not been.
	if err := done(); err != nil || entry(key) != "(none)" || entry(event.KeyLag) != "(none)" {
		t.Fatalf("%v, %q, %q", err, entry(key), entry(event.KeyLag))
	}
	if done, err = noReactionTo(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	submit()
	submit()
	if err := done(); err != nil || entry(key) != "0000000000000002" || entry(event.KeyLag) != "records were imported" {
		t.Fatalf("%v, %q, %q", err, entry(key), entry(event.KeyLag))
	}
}

// running are reactions of a test.
type running struct {
	nowhere
	view   react.View
	closed bool
}

func (r *running) Reactions() react.View { return r.view }
func (r *running) Close() error          { r.closed = true; return nil }

func TestReactRunTellsWhatWaits(t *testing.T) {
	b := newBench(t)
	r := &running{view: react.View{On: true, Path: "rules.json", Held: "the store was restored", Waiting: []react.Run{{ID: "abc", Rule: "page"}}, Rules: []react.RuleView{{Armed: true}, {}}}}
	ctx, cancel := context.WithCancel(t.Context())
	a := &app{Program: Program{Stderr: &b.err}}
	cancel() // it tells once, and ends
	if err := a.tellReactions(ctx, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 rules of rules.json, 1 armed", "nothing acts: the store was restored", "run abc of page waits for you"} {
		if !strings.Contains(b.err.String(), want) {
			t.Errorf("%q is not told:\n%s", want, b.err.String())
		}
	}
}

// A deck closes the reactions that it runs, and a screen that only looks runs none.
func TestOnlyTheScreenAndReactRunRunReactions(t *testing.T) {
	r := &running{}
	began := 0
	a := &app{Program: Program{RunReactions: func(ReactOptions) (Reactions, error) { began++; return r, nil }, Env: func(string) (string, bool) { return "", false }, Home: t.TempDir()}}
	host := newStandIn()
	d := &deck{store: host.store, API: host}
	a.startReactions(d, nil, nil)
	if began != 0 || d.control() != nil {
		t.Fatal("a command that lists runs reactions")
	}
	a.flags.reacts = ownReactions
	a.startReactions(d, nil, nil)
	if began != 1 || d.control() != react.Control(r) {
		t.Fatal("the screen runs none")
	}
	if err := d.closeHost(); err != nil || !r.closed {
		t.Errorf("%v, closed %v", err, r.closed)
	}
}
