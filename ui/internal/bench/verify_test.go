//go:build linux

package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/seal"
)

// filled makes a store with events of the given numbers.
func filled(t *testing.T, numbers ...int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s, err := store.Open(t.Context(), store.Options{Dir: dir, Keyring: seal.NoKeyring()})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range numbers {
		done := make(chan error, 1)
		err := s.Submit(t.Context(), event.Batch{
			Sub: event.SubID(fmt.Sprint("s", i)), // the store deduplicates by subscription
			Records: []event.Record{{
				Kind: event.KindEvent, Server: "feeder", Type: trust.Untrusted(loadType), EventID: trust.Untrusted(fmt.Sprintf("tick-%010d", n)),
				Timestamp: trust.Untrusted("2026-01-01T00:00:00.0000Z"), ReceivedAt: time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC), Data: []byte("{}"), Raw: []byte("{}"),
			}},
			Done: func(_ event.Outcome, err error) { done <- err },
		})
		if err == nil {
			err = <-done
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestVerifyNamesTheWrongEvents(t *testing.T) {
	for _, c := range []struct {
		name    string
		stored  []int
		emitted int
		want    string
	}{
		{"all of them", []int{2, 1, 3}, 3, ""},
		{"twice", []int{1, 2, 3, 2}, 3, "event 2 is stored twice, as records 2 and 4"},
		{"more than were sent", []int{1, 2, 3}, 2, "event tick-0000000003, record 3, was never sent: the last one is 2"},
		{"some missing", []int{1, 2, 5}, 6, "events 3 to 4 were sent and are not stored; the one before is record 2\nevents 6 to 6 were sent and are not stored; the one before is record 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := verify(filled(t, c.stored...), false, &result{emitted: c.emitted})
			if got := fmt.Sprint(err); err == nil && c.want != "" || err != nil && got != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// A request under way at the end of the feed gets no events: the count is final then.
func TestNothingIsEmittedAfterTheCount(t *testing.T) {
	c := newClock()
	f, err := newFeeder(event.ModePoll, 1, 0, 0, false, c)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if n := strings.Count(polled(t, f.address), "eventId"); n != pageEvents {
		t.Fatalf("%d events at full speed, want %d", n, pageEvents)
	}
	if n := c.end(); n != pageEvents {
		t.Fatalf("%d events were emitted, want %d", n, pageEvents)
	}
	if answer := polled(t, f.address); strings.Contains(answer, "eventId") { // events are still due
		t.Errorf("behind the count came %.200s", answer)
	}
}

func polled(t *testing.T, address string) string {
	t.Helper()
	res, err := http.Post(address, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"events/poll"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
