package sim

import (
	"context"
	"fmt"
	"time"

	"eventdeck/host/event"
)

// quietRounds is the number of disturbances of the host or its connections in a [Quiet]
// world.
const quietRounds = 25

// runQuiet ends connections and processes and changes modes, with few events between, on a
// server that keeps its newest event.
func (w *World) runQuiet() error {
	for range 3 { // the host knows two positions
		w.addQuietly()
		if err := w.awaitAll(); err != nil {
			return err
		}
	}
	r := w.rand.chaos
	for range quietRounds {
		var err error
		switch r.N(6) {
		case 0:
			w.resumes += len(w.feeds)
			err = w.restart(false)
		case 1:
			w.resumes += len(w.feeds)
			w.host.die()
			err = w.restart(true)
		case 2:
			w.resumes += len(w.feeds)
			w.net.ResetAll(serverAddress)
		case 3:
			w.resumes += len(w.feeds)
			err = w.outage(r.Chance(0.5))
		case 4:
			w.resumes++
			err = w.changeMode()
		case 5:
			w.resumes++
			err = w.pause()
		}
		if err != nil {
			return err
		}
		if r.Chance(0.5) {
			w.addQuietly()
		}
		time.Sleep(r.Between(0, 40*time.Second))
		if err := w.awaitAll(); err != nil {
			return err
		}
		if r.Chance(0.3) {
			w.addQuietly()
			if err := w.awaitAll(); err != nil {
				return err
			}
		}
	}
	return nil
}

// addQuietly adds an event to some types. For a settled type the server first drops all but
// the newest event.
func (w *World) addQuietly() {
	settled := w.settledFeeds()
	for _, f := range w.feeds {
		if w.rand.feed.Chance(0.7) || f.Last() < 3 {
			if settled[f.Name] {
				f.Retain(1)
			}
			f.Add()
		}
	}
}

// settledFeeds returns the types whose older events the host will not request: continuity
// is proved, and the newest position is stored. The cursors of concurrent webhook
// deliveries may trail behind. Until a later cursor comes, a dropped event looks like one
// that was never delivered (docs/reliability.md).
func (w *World) settledFeeds() map[string]bool {
	settled := map[string]bool{}
	for _, v := range w.host.host.Snapshot().Subs {
		f := w.feed(v.Key.Type.Raw())
		sub, err := w.host.store.Subscription(v.ID)
		if f == nil || err != nil || v.Status.Proof == event.ProofProving {
			continue
		}
		opening := sub.Opening()
		_, at := f.parseCursor(opening.Text.Raw())
		settled[f.Name] = at == f.Last()
	}
	return settled
}

// feed returns the type with a name, nil if there is none.
func (w *World) feed(name string) *Feed {
	for _, f := range w.feeds {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// awaitAll waits until every event is stored.
func (w *World) awaitAll() error {
	for range 120 {
		if w.checker.Missing() == 0 {
			return nil
		}
		time.Sleep(time.Second)
	}
	return fmt.Errorf("%d events did not come within two minutes", w.checker.Missing())
}

// pause pauses a subscription and resumes it.
func (w *World) pause() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	f := w.feeds[w.rand.chaos.N(len(w.feeds))]
	h := w.host.host
	for _, v := range h.Snapshot().Subs {
		if v.Key.Type.Raw() != f.Name {
			continue
		}
		if err := h.Pause(ctx, v.ID); err != nil {
			return fmt.Errorf("pause %s: %w", f.Name, err)
		}
		time.Sleep(w.rand.chaos.Between(0, 10*time.Second))
		if err := h.Resume(ctx, v.ID); err != nil {
			return fmt.Errorf("resume %s: %w", f.Name, err)
		}
	}
	return nil
}
