package incidents

import (
	"context"
	"fmt"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/filter"
	"eventdeck/host/trust"
	"eventdeck/store/storetest"
)

// stored returns a log of n events; every step-th has the incident INC-7.
func stored(t testing.TB, n, step int) *eventlog.Log {
	t.Helper()
	s := storetest.Open(t)
	storetest.Fill(t, s, n, func(i int) event.Record {
		id := fmt.Sprint("INC-", 999+i)
		if i%step == 0 {
			id = "INC-7"
		}
		return event.Record{Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("load.tick"), Mode: event.ModePush,
			ReceivedAt: noon.Add(time.Duration(i-1) * time.Second), EventID: trust.Untrusted(fmt.Sprint("e", i-1)),
			Raw: fmt.Appendf(nil, `{"incidentId":%q,"severity":"warning","title":"queue grows","service":"checkout","note":"%0400d"}`, id, i-1)}
	})
	return eventlog.New(s)
}

func following(t testing.TB) *filter.Filter {
	t.Helper()
	f, err := filter.Parse(filter.ValueTerm(trust.Untrusted("INC-7")), noon)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFinderFindsAllInSteps(t *testing.T) {
	log := stored(t, 30_000, 100)
	f := NewFinder(log, following(t).Match)
	first, err := f.Next(t.Context(), 1_000)
	if err != nil || len(first) == 0 || f.End || f.Examined > 20_000 {
		t.Fatalf("the first step found %d after %d, %v", len(first), f.Examined, err)
	}
	found, steps := len(first), 1
	for !f.End {
		more, err := f.Next(t.Context(), 1_000)
		if err != nil {
			t.Fatal(err)
		}
		found += len(more)
		steps++
	}
	if found != 300 || f.Hits != 300 || f.Examined != 30_000 || steps < 3 {
		t.Errorf("%d found, %d hits, %d examined in %d steps", found, f.Hits, f.Examined, steps)
	}
	all, hits, err := All(t.Context(), log, following(t).Match)
	if err != nil || len(all) != 300 || hits != 300 || all[0].Seq != 100 {
		t.Errorf("%d of %d, %v", len(all), hits, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewFinder(log, following(t).Match).Next(ctx, 1_000); err == nil {
		t.Error("it searches although it was cancelled")
	}
}

// BenchmarkRelated searches a million stored events for those with an id, the newest of them
// 125,000 records back: for the first one, and for all in the steps of the screen.
func BenchmarkRelated(b *testing.B) {
	log, match := stored(b, 1_000_000, 125_000), following(b).Match
	first := func(f *Finder) bool { return f.Hits > 0 }
	for name, enough := range map[string]func(*Finder) bool{"first": first, "all": func(f *Finder) bool { return f.End }} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f := NewFinder(log, func(r *event.Record) bool { return match(r) && r.Seq <= 875_000 })
				for !enough(f) && !f.End {
					if _, err := f.Next(context.Background(), 50_000); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// Entries are bounded; those beyond the bound are counted.
func TestEntriesAreBounded(t *testing.T) {
	log := stored(t, EntriesMax+50, 1)
	all, hits, err := All(t.Context(), log, following(t).Match)
	if err != nil || len(all) != EntriesMax || hits != EntriesMax+50 || all[0].Seq != 51 {
		t.Errorf("%d entries of %d, %v", len(all), hits, err)
	}
}
