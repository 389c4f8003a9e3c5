//go:build !windows

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/seal"
)

// longAgo fills the store with n events, of which the sixth is a needle and the eighth
// record is a gap.
func (w *world) longAgo(n int) {
	w.t.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: w.data(), Keyring: seal.NoKeyring()})
	if err != nil {
		w.t.Fatal(err)
	}
	key := event.Key{Server: "pager", Type: trust.Untrusted("load.tick"), Args: []byte("{}")}
	began := time.Now().Add(-time.Hour)
	stored := make(chan error, 1)
	for i := 0; i < n; {
		batch := event.Batch{Sub: key.ID(), Update: func(sub *event.Subscription) {
			sub.Key, sub.Mode, sub.Created, sub.State, sub.Paused = key, event.ModePush, began, event.StatePaused, true
		}}
		for ; len(batch.Records) < 500 && i < n; i++ {
			title := fmt.Sprintf("tick number %d.", i+1)
			if i == 5 {
				title = "the needle"
			}
			data := []byte(`{"title":"` + title + `"}`)
			r := event.Record{Kind: event.KindEvent, Sub: key.ID(), Server: key.Server, Type: key.Type, Mode: event.ModePush,
				ReceivedAt: began.Add(time.Duration(i) * time.Millisecond), EventID: trust.Untrusted(fmt.Sprint("evt_", i)), Raw: data, Data: data}
			if i == 7 {
				r.Kind, r.Raw, r.Data, r.EventID = event.KindGap, nil, nil, trust.Text{}
				r.Gap = &event.Gap{Cause: event.CauseTruncated, From: began, To: began.Add(time.Minute), Certain: true}
			}
			batch.Records = append(batch.Records, r)
		}
		if i == n {
			batch.Done = func(_ event.Outcome, err error) { stored <- err }
		}
		if err := s.Submit(context.Background(), batch); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := <-stored; err != nil {
		w.t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// The keys for the history reach everything that is stored, with a filter and without, and esc
// out of a filter returns to the row of before.
func TestKeysLeadThroughAllThatIsStored(t *testing.T) {
	w := newWorld(t)
	w.longAgo(30_000)
	c := w.terminal(120, 30, "--data", w.data())
	c.reads("tick number 30000.")
	c.keys("2g")
	c.reads("tick number 1.")
	c.keys("G")
	c.reads("tick number 30000.")
	c.keys("[")
	c.reads(": events are missing")
	c.keys("G")
	c.reads("tick number 30000.")
	c.keys("\\needle\r")
	c.reads("the needle")
	c.keys(esc + "G")
	c.reads("tick number 30000.")
	c.keys(":goto #15000\r")
	c.reads("tick number 15000.")
	c.keys("/needle")
	c.sees("the match alone", func(s string) bool {
		return strings.Contains(s, "the needle") && !strings.Contains(s, "tick number 15000.")
	})
	c.keys(esc)
	c.sees("the row of before", func(s string) bool {
		return strings.Contains(s, "tick number 15000.") && strings.Contains(s, "tick number 15001.") && !strings.Contains(s, "the needle")
	})
	c.keys("\x03")
	c.end()
}
