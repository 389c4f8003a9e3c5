// Package storetest makes stores for tests.
package storetest

import (
	"context"
	"testing"

	"eventdeck/host/event"
	"eventdeck/store"
	"eventdeck/store/seal"
)

// Open returns an empty store without a sealing key that keeps everything. It is closed at the
// end of the test, which fails if the closing fails.
func Open(t testing.TB) event.Store {
	t.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: t.TempDir(), Keyring: seal.NoKeyring()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.SetRetention(context.Background(), event.Retention{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// Commit submits a batch and returns after its commit. It replaces the batch's Done.
func Commit(t testing.TB, s event.Store, b event.Batch) {
	t.Helper()
	done := make(chan error, 1)
	b.Done = func(_ event.Outcome, err error) { done <- err }
	if err := s.Submit(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// batchRecords is the number of records that [Fill] commits at once.
const batchRecords = 1000

// Fill stores n records of one subscription, numbered from 1, and returns when they are
// committed. For a record with raw bytes and no data, the raw bytes are the data.
func Fill(t testing.TB, s event.Store, n int, record func(i int) event.Record) {
	t.Helper()
	for from := 1; from <= n; from += batchRecords {
		batch := event.Batch{Sub: "aaaaaaaa"}
		for i := from; i < min(from+batchRecords, n+1); i++ {
			r := record(i)
			if r.Data == nil {
				r.Data = r.Raw
			}
			batch.Records = append(batch.Records, r)
		}
		Commit(t, s, batch)
	}
}
