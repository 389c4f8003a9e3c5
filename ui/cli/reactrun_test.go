package cli

import (
	"errors"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/store"
	"eventdeck/store/seal"
	"eventdeck/ui/cli/program"
)

// Imported records start nothing, even if the import was killed, and reactions are held.
func TestImportsAreKnownToReactions(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Keyring: seal.NoKeyring()})
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
	// The import added nothing, and leaves no trace.
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
	react.Control
	view react.View
}

func (r *running) Reactions() react.View { return r.view }

func (r *running) Close() error { return nil }

// When the program ends, it says what goes on waiting in the store.
func TestQuittingReportsWaitingRuns(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "1 run waits for you and stays stored", 3: "3 runs wait for you and stay stored"} {
		b := newBench(t)
		b.p.StdinTerminal, b.p.StdoutTerminal = true, true
		b.p.RunReactions = func(program.ReactOptions) (program.Reactions, error) {
			return &running{view: react.View{On: true, Asking: n}}, nil
		}
		b.expect(t, exitDone, want)
		if n == 0 && strings.Contains(b.err.String(), "wait for you") {
			t.Error(b.err.String())
		}
	}
}
