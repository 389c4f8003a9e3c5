package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/seal"
)

// onStore is a life with the log and the journal of a real store.
type onStore struct {
	*store.Store
	*life
}

func (s onStore) Last() uint64                         { return s.Store.Last() }
func (s onStore) Get(seq uint64) (event.Record, error) { return s.Store.Get(seq) }
func (s onStore) Journal() event.Journal               { return s.Store.Journal() }
func (s onStore) Watch(fn func([]event.Record)) func() { return s.Store.Watch(fn) }
func (s onStore) Scan(from, to uint64, fn func(*event.Record) bool) error {
	return s.Store.Scan(from, to, fn)
}

func openStore(t testing.TB, dir string, hooks store.Hooks) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: dir, Keyring: seal.NoKeyring(), Hooks: hooks})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// openOn begins an engine on a store.
func (w *world) openOn(s *store.Store) *Engine {
	w.t.Helper()
	l := &life{w: w, left: -1, passed: map[string]int{}}
	e, err := Open(Options{
		Store: onStore{s, l}, Runner: l, Path: w.path(), Dir: w.dir,
		Parse: func(string, []byte) (react.File, error) { return w.file, nil },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func submitTo(t testing.TB, s *store.Store, records ...event.Record) {
	t.Helper()
	for i := range records {
		records[i].Raw = nil
	}
	done := make(chan error, 1)
	b := event.Batch{Sub: records[0].Sub, Records: records, Awaited: true, Done: func(_ event.Outcome, err error) { done <- err }}
	for {
		if err := s.Submit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if <-done == nil {
			return
		}
	}
}

// Failed commits, before or after the data is in the file, are retried: each record is decided once
// despite them and despite restarts.
func TestFailedCommitsOfAStoreLoseAndRepeatNothing(t *testing.T) {
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 1))
		fail := func() error {
			if r.IntN(5) == 0 {
				return errors.New("the disk has a moment")
			}
			return nil
		}
		rule := noteRule("note")
		rule.Key, rule.Wait = []string{".k"}, 20*time.Millisecond
		w := newWorld(t, rule)
		dir := t.TempDir()
		s := openStore(t, dir, store.Hooks{})
		e := w.openOn(s)
		arm(t, e)
		closed(t, e)
		must(t, s.Close())
		n := uint64(0)
		for range 3 {
			s = openStore(t, dir, store.Hooks{FailBefore: fail, FailAfter: fail})
			e = w.openOn(s)
			for range 10 {
				n++
				rec := record("pager", "incident", fmt.Sprintf(`{"k":%d}`, n%3))
				rec.EventID = trust.Untrusted(fmt.Sprint(n))
				submitTo(t, s, rec)
			}
			closed(t, e)
			must(t, s.Close())
		}
		s = openStore(t, dir, store.Hooks{})
		e = w.openOn(s)
		seen := map[uint64]int{}
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			open := 0
			clear(seen)
			for _, run := range runsOf(t, e, react.Query{}) {
				if !run.State.Over() {
					open++
				}
				for _, seq := range slices.Concat(run.Members.First, run.Members.Last) {
					seen[seq]++
				}
			}
			if open == 0 && len(seen) == int(n) || time.Now().After(deadline) {
				break
			}
		}
		for seq := uint64(1); seq <= n; seq++ {
			if seen[seq] != 1 {
				t.Errorf("seed %d: record %d is in %d runs", seed, seq, seen[seq])
			}
		}
		for name, times := range w.begun {
			if times != 1 {
				t.Errorf("seed %d: attempt %s was begun %d times", seed, name, times)
			}
		}
		closed(t, e)
		must(t, s.Close())
	}
}

// BenchmarkIngest stores events without an engine, and with one of 200 rules that do not match:
// rules of another type, or of the same type with another filter.
func BenchmarkIngest(b *testing.B) {
	for _, name := range []string{"alone", "other types", "same type"} {
		b.Run(name, func(b *testing.B) {
			var rules []react.Rule
			for i := range 200 {
				rule := noteRule(fmt.Sprintf("rule-%d", i))
				if rule.When = ".severity=never"; name == "other types" {
					rule.On.Types = react.Types{fmt.Sprintf("type-%d", i)}
				}
				rules = append(rules, rule)
			}
			w := newWorld(b, rules...)
			s := openStore(b, b.TempDir(), store.Hooks{})
			if name != "alone" {
				e := w.openOn(s)
				defer closed(b, e)
			}
			defer s.Close()
			const batch = 500
			n := 0
			done := make(chan error, b.N/batch+1)
			data := []byte(`{"severity":"warning","service":"checkout","title":"a title of some length for an event","n":12345}`)
			b.ResetTimer()
			for n < b.N {
				records := make([]event.Record, min(batch, b.N-n))
				for i := range records {
					records[i] = event.Record{Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("incident"), ReceivedAt: time.Now(), EventID: trust.Untrusted(fmt.Sprint(n + i)), Raw: data, Data: data}
				}
				n += len(records)
				if err := s.Submit(b.Context(), event.Batch{Sub: "aa", Records: records, Done: func(_ event.Outcome, err error) { done <- err }}); err != nil {
					b.Fatal(err)
				}
			}
			for range (b.N + batch - 1) / batch {
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
		})
	}
}

// BenchmarkBurst decides about records of 50 groups that all match, and reports the heap afterwards.
func BenchmarkBurst(b *testing.B) {
	rule := noteRule("page")
	rule.Key, rule.Mode = []string{".k"}, react.ModeAsk
	w := newWorld(b, rule)
	e, _ := w.open("", 0)
	defer closed(b, e)
	records := make([]event.Record, 0, 1000)
	b.ResetTimer()
	for n := 0; n < b.N; {
		records = records[:0]
		for ; len(records) < 1000 && n < b.N; n++ {
			records = append(records, record("pager", "incident", fmt.Sprintf(`{"k":%d,"title":"a title of some length","n":%d}`, n%50, n)))
		}
		w.submit(records...)
	}
	for e.Reactions().Rules[0].Matched < uint64(b.N) {
		time.Sleep(time.Millisecond)
	}
	b.StopTimer()
	w.mu.Lock()
	clear(w.records)
	w.mu.Unlock()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MiB")
}

// BenchmarkStart reports the time from the commit of a match to the start of its act, at 100 matches
// a second, on a real store.
func BenchmarkStart(b *testing.B) {
	rule := noteRule("page")
	rule.Key, rule.Limits = []string{".k"}, react.Limits{Queue: 100}
	w := newWorld(b, rule)
	w.file.Limits = react.Limits{Running: 4}
	s := openStore(b, b.TempDir(), store.Hooks{})
	defer s.Close()
	e := w.openOn(s)
	defer closed(b, e)
	arm(b, e)
	began := map[uint64]time.Time{}
	b.ResetTimer()
	every := time.NewTicker(10 * time.Millisecond)
	defer every.Stop()
	for n := range b.N {
		<-every.C
		rec := record("pager", "incident", fmt.Sprintf(`{"k":%d}`, n))
		rec.EventID = trust.Untrusted(fmt.Sprint(n))
		submitTo(b, s, rec)
		began[uint64(n+1)] = time.Now()
	}
	for w.acts() < b.N {
		time.Sleep(time.Millisecond)
	}
	b.StopTimer()
	var took []time.Duration
	for _, r := range runsOf(b, e, react.Query{}) {
		if len(r.Members.First) == 1 && !r.Started.IsZero() {
			took = append(took, r.Started.Sub(began[r.Members.First[0]]))
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
