package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"eventdeck/host/event"
)

// quietRounds is how often something happens to the host or to its connections in a
// [Quiet] world.
const quietRounds = 25

// beQuiet ends connections and processes and changes modes, with hardly an event
// between, on a server that keeps its newest event.
func (w *World) beQuiet() error {
	for range 3 { // the host knows two positions
		w.happenQuietly()
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
			w.happenQuietly()
		}
		time.Sleep(r.Between(0, 40*time.Second))
		if err := w.awaitAll(); err != nil {
			return err
		}
		if r.Chance(0.3) {
			w.happenQuietly()
			if err := w.awaitAll(); err != nil {
				return err
			}
		}
	}
	return nil
}

// happenQuietly adds an event to some types. Those whose continuity is proved forget all
// older ones; the others begin again at an older position when they are cut now.
func (w *World) happenQuietly() {
	proving := map[string]bool{}
	for _, v := range w.host.host.Snapshot().Subs {
		proving[v.Key.Type.Raw()] = v.Status.Proof == event.ProofProving
	}
	for _, f := range w.feeds {
		if w.rand.feed.Chance(0.7) || f.Last() < 3 {
			if !proving[f.Name] {
				f.Retain(f.keeps())
			}
			f.Happen()
		}
	}
}

// keeps returns how many events a correct server has to keep, so that a position of the
// host is never too old. Positions of webhooks may trail what was delivered.
func (f *Feed) keeps() int {
	if slices.Contains(f.modes, event.ModeWebhook) {
		return 8
	}
	return 1
}

// awaitAll waits until all is stored that happened.
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
