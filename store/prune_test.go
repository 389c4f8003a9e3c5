package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/tables"
)

// wallClock is a clock that tests set.
type wallClock struct{ at atomic.Int64 }

func newWallClock() *wallClock {
	c := &wallClock{}
	c.at.Store(newEvent("").ReceivedAt.UnixNano())
	return c
}

func (c *wallClock) now() time.Time          { return time.Unix(0, c.at.Load()).UTC() }
func (c *wallClock) advance(d time.Duration) { c.at.Add(int64(d)) }

// pruneAll prunes until nothing is beyond the bounds.
func pruneAll(t testing.TB, s *Store) {
	t.Helper()
	for s.pruneRound(t.Context()) {
	}
	if err := s.Info().Err; err != nil {
		t.Fatal(err)
	}
}

func keep(t testing.TB, s *Store, r event.Retention) {
	t.Helper()
	if err := s.SetRetention(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	pruneAll(t, s)
}

// eventsAt returns n events of a subscription, received now.
func eventsAt(c *wallClock, sub event.SubID, prefix string, n int) event.Batch {
	b := event.Batch{Sub: sub}
	for i := range n {
		r := newEvent(fmt.Sprint(prefix, i))
		r.ReceivedAt = c.now()
		b.Records = append(b.Records, r)
	}
	return b
}

func TestOldestRecordsGoFirst(t *testing.T) {
	clock := newWallClock()
	s := openTest(t, Options{Now: clock.now})
	store(t, s, eventsAt(clock, "aa", "a", 5))
	clock.advance(time.Hour)
	store(t, s, eventsAt(clock, "bb", "b", 5))

	keep(t, s, event.Retention{Total: event.Limits{Records: 8}})
	equal(t, ids(t, s), []string{"a2", "a3", "a4", "b0", "b1", "b2", "b3", "b4"})
	keep(t, s, event.Retention{Total: event.Limits{Age: 30 * time.Minute}})
	equal(t, ids(t, s), []string{"b0", "b1", "b2", "b3", "b4"})
	each := s.Info().Bytes / 5
	keep(t, s, event.Retention{Total: event.Limits{Bytes: 3*each + each/2}})
	equal(t, ids(t, s), []string{"b2", "b3", "b4"})
	equal(t, s.Info().Records, 3)
	if _, err := s.Get(1); !errors.Is(err, event.ErrNotFound) {
		t.Errorf("a pruned record: %v", err)
	}
	equal(t, store(t, s, eventsAt(clock, "aa", "new", 1)).Last, 11)
}

func TestEachSubscriptionHasItsOwnBound(t *testing.T) {
	clock := newWallClock()
	s := openTest(t, Options{Now: clock.now})
	for i := range 4 {
		store(t, s, eventsAt(clock, "aa", fmt.Sprint("a", i, "."), 2))
		store(t, s, eventsAt(clock, "bb", fmt.Sprint("b", i, "."), 1))
	}
	keep(t, s, event.Retention{PerSub: event.Limits{Records: 3}})
	equal(t, ids(t, s), []string{"b1.0", "a2.1", "b2.0", "a3.0", "a3.1", "b3.0"})
	store(t, s, eventsAt(clock, "aa", "late", 2))
	pruneAll(t, s)
	equal(t, ids(t, s), []string{"b1.0", "b2.0", "a3.1", "b3.0", "late0", "late1"})
	clock.advance(time.Hour)
	store(t, s, eventsAt(clock, "bb", "young", 1))
	keep(t, s, event.Retention{PerSub: event.Limits{Age: time.Minute}})
	equal(t, ids(t, s), []string{"young0"})
}

// A pruned event that comes again within a day is a duplicate, also after a restart; after
// that its identity is forgotten.
func TestPrunedEventIsKnownForADay(t *testing.T) {
	clock := newWallClock()
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir, Now: clock.now})
	store(t, s, eventsAt(clock, "aa", "a", 10))
	keep(t, s, event.Retention{Total: event.Limits{Records: 1}})
	equal(t, ids(t, s), []string{"a9"})
	equal(t, store(t, s, eventsAt(clock, "aa", "a", 10)).Duplicates, 10)
	if !s.HasEvent("aa", text("a0")) {
		t.Error("a pruned event is not known")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = openTest(t, Options{Dir: dir, Now: clock.now})
	equal(t, s.Retention(), event.Retention{Total: event.Limits{Records: 1}})
	equal(t, store(t, s, eventsAt(clock, "aa", "a", 10)).Duplicates, 10)
	clock.advance(25 * time.Hour)
	store(t, s, eventsAt(clock, "aa", "b", 1))
	pruneAll(t, s)
	if s.HasEvent("aa", text("a0")) {
		t.Error("a pruned event is known for ever")
	}
	err := s.view(func(tx *boltfile.Tx) error {
		if k, _ := tx.Bucket(tables.Gone).Cursor().First(); k != nil {
			t.Errorf("the identity of record %x stays", k)
		}
		n := 0
		cur := tx.Bucket(tables.Dedup).Cursor()
		for k, _ := cur.First(); k != nil; k, _ = cur.Next() {
			n++
		}
		equal(t, n, 1)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	s.index.mu.RLock()
	defer s.index.mu.RUnlock()
	equal(t, s.index.table.Len(), 1)
}

// Whatever is stored and pruned, what is kept is the newest, the counts are
// those of the records, and no id is stored twice within a day.
func TestRetentionAgainstAModel(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { retentionAgainstAModel(t, rand.New(rand.NewPCG(seed, 0))) })
	}
}

func retentionAgainstAModel(t *testing.T, r *rand.Rand) {
	clock := newWallClock()
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir, Now: clock.now})
	var order []string
	seen := map[string]bool{}
	bound := uint64(1 + r.IntN(50))
	keep(t, s, event.Retention{Total: event.Limits{Records: bound}})
	for range 60 {
		if r.IntN(10) == 0 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openTest(t, Options{Dir: dir, Now: clock.now})
		}
		b := event.Batch{Sub: "aa"}
		fresh := 0
		for range r.IntN(20) {
			id := fmt.Sprint(r.IntN(400))
			e := newEvent(id)
			e.ReceivedAt = clock.now()
			b.Records = append(b.Records, e)
			if !seen[id] {
				seen[id], order = true, append(order, id)
				fresh++
			}
		}
		equal(t, store(t, s, b).Stored, fresh)
		clock.advance(time.Duration(r.IntN(1000)) * time.Millisecond)
		pruneAll(t, s)
		have := ids(t, s)
		if uint64(len(have)) > bound {
			t.Fatalf("%d are kept of at most %d", len(have), bound)
		}
		equal(t, append([]string{}, have...), append([]string{}, order[len(order)-len(have):]...))
		equal(t, s.Info().Records, uint64(len(have)))
	}
}

func TestPrunedEventsAreKnownUpToABound(t *testing.T) {
	s := openTest(t, Options{Now: newWallClock().now})
	s.pruner.maxGone = 3
	keep(t, s, event.Retention{Total: event.Limits{Records: 1}})
	for i := range 10 {
		store(t, s, eventsBatch("aa", fmt.Sprint(i)))
		pruneAll(t, s)
	}
	for i := range 10 {
		if known := s.HasEvent("aa", text(fmt.Sprint(i))); known != (i >= 5) {
			t.Errorf("event %d: known is %v", i, known)
		}
	}
}

func TestRetentionRefusesNegativeBounds(t *testing.T) {
	s := openTest(t, Options{})
	if err := s.SetRetention(context.Background(), event.Retention{PerSub: event.Limits{Age: -1}}); !errors.Is(err, ErrBatch) {
		t.Errorf("a negative age: %v", err)
	}
	equal(t, s.Retention(), event.DefaultRetention())
}

// The file of a store at its bound does not grow.
func TestFileStaysAtItsBound(t *testing.T) {
	s := openTest(t, Options{})
	if err := s.SetRetention(t.Context(), event.Retention{Total: event.Limits{Records: 5_000}}); err != nil {
		t.Fatal(err)
	}
	fill := func(from, to int) int64 {
		for i := from; i < to; i++ {
			b := event.Batch{Sub: "aa"}
			for k := range 500 {
				e := newEvent(fmt.Sprint(i, "-", k))
				e.ReceivedAt = newEvent("").ReceivedAt.Add(-48 * time.Hour) // forgotten at once
				b.Records = append(b.Records, e)
			}
			store(t, s, b)
			pruneAll(t, s)
		}
		return s.Info().FileBytes
	}
	full, later := fill(0, 20), fill(20, 100)
	if later > full*11/10 {
		t.Errorf("the file grew from %d to %d bytes", full, later)
	}
}

// BenchmarkIngestAtTheBound stores events while the same number is pruned.
func BenchmarkIngestAtTheBound(b *testing.B) {
	s := openTest(b, Options{})
	<-s.loaded
	if err := s.SetRetention(context.Background(), event.Retention{Total: event.Limits{Records: 100_000}}); err != nil {
		b.Fatal(err)
	}
	const size = 64
	b.ResetTimer()
	for i := 0; i < b.N; i += size {
		batch := event.Batch{Sub: "aa"}
		for k := range size {
			e := newEvent(fmt.Sprint(i + k))
			e.Raw = append(e.Raw, make([]byte, 500)...)
			batch.Records = append(batch.Records, e)
		}
		if err := s.Submit(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
	<-submit(b, s, event.Batch{})
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(s.Info().Records), "kept")
}

func TestRetentionFitsWhatCanBeMapped(t *testing.T) {
	for _, c := range []struct{ bytes, file, want int64 }{
		{2 << 30, 1 << 30, 512 << 20}, {0, 1 << 30, 512 << 20}, {1 << 20, 1 << 30, 1 << 20}, {2 << 30, 1 << 62, 2 << 30}, {0, 1 << 62, 0},
	} {
		r := event.Retention{Total: event.Limits{Bytes: c.bytes}}
		if got := mappable(r, c.file).Total.Bytes; got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
