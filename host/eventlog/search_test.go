package eventlog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/filter"
	"eventdeck/host/trust"
	"eventdeck/store/storetest"
)

// stored opens a log of n events of about 600 bytes, a second apart. Every
// hundredth has the word rare, every ten thousandth the word unique.
func stored(t testing.TB, n int) *Log {
	t.Helper()
	s := storetest.Open(t)
	fill(t, s, n)
	return New(s)
}

var began = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)

func fill(t testing.TB, s event.Store, n int) {
	t.Helper()
	words := []string{"latency", "above", "threshold", "connection", "pool", "exhausted", "deploy", "finished", "payment", "gateway", "timeout", "cluster", "replica", "queue", "backlog", "certificate"}
	random := rand.New(rand.NewPCG(1, 2))
	storetest.Fill(t, s, n, func(i int) event.Record {
		head := fmt.Sprintf(`{"eventId":"run-7f3a-%d","data":`, i)
		text := fmt.Appendf(nil, `%s{"severity":"P%d","n":%d,"title":"`, head, (i-1)%5, i)
		if i%100 == 0 {
			text = append(text, "rare "...)
		}
		if i%10_000 == 0 {
			text = append(text, "Unique "...)
		}
		for len(text) < 580 {
			text = append(append(text, words[random.IntN(len(words))]...), ' ')
		}
		text = append(text, `"}}`...)
		return event.Record{
			Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("load.tick"), Mode: event.ModePush,
			ReceivedAt: began.Add(time.Duration(i) * time.Second),
			EventID:    trust.Untrusted(fmt.Sprint("run-7f3a-", i)), Raw: text, Data: text[len(head) : len(text)-1],
		}
	})
}

func matcher(t testing.TB, text string) *filter.Filter {
	t.Helper()
	f, err := filter.Parse(text, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func searchAll(t testing.TB, l *Log, text string, before uint64) (hits []uint64, pages int, last Found) {
	t.Helper()
	edge := before
	if edge == 0 {
		edge = l.Last() + 1
	}
	wanted := matcher(t, text)
	err := l.Search(context.Background(), wanted.Match, before, func(f Found) bool {
		hits = append(hits, f.Seqs...)
		pages++
		if f.Edge >= edge && edge > 1 || f.Examined < last.Examined {
			t.Errorf("a part ends at %d behind %d, %d after %d examined", f.Edge, edge, f.Examined, last.Examined)
		}
		edge, last = f.Edge, f
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return hits, pages, last
}

func TestSearchFindsAllNewestFirst(t *testing.T) {
	l := stored(t, 50_000)
	texts := map[string]int{"": 50_000, "rare": 500, "UNIQUE": 5, "nothing": 0, ".n>49990": 10, "sev:P3": 10_000, "rare | unique": 500, "rare !unique": 495, "unique | .n=7": 6}
	for text, want := range texts {
		hits, pages, last := searchAll(t, l, text, 0)
		if len(hits) != want || !last.End || last.Edge != 1 || last.Examined != 50_000 || pages < 3 {
			t.Errorf("%q: %d hits, want %d, in %d parts, the last %+v", text, len(hits), want, pages, last)
		}
		if !slices.IsSortedFunc(hits, func(a, b uint64) int { return int(b) - int(a) }) {
			t.Errorf("%q: not newest first", text)
		}
	}
	if hits, _, last := searchAll(t, l, "unique", 20_000); !slices.Equal(hits, []uint64{10_000}) || last.Examined != 19_999 {
		t.Errorf("before 20,000: %v, %+v", hits, last)
	}
	if hits, pages, last := searchAll(t, l, "", 1); len(hits) != 0 || pages != 1 || !last.End {
		t.Errorf("before the first: %v, %d parts, %+v", hits, pages, last)
	}
	if hits, _, last := searchAll(t, stored(t, 0), "", 0); len(hits) != 0 || !last.End {
		t.Errorf("in an empty log: %v, %+v", hits, last)
	}
}

func TestSearchEndsOnRequest(t *testing.T) {
	l := stored(t, 20_000)
	pages := 0
	err := l.Search(context.Background(), matcher(t, "").Match, 0, func(f Found) bool {
		pages++
		return false
	})
	if err != nil || pages != 1 {
		t.Errorf("%d parts, %v", pages, err)
	}
	cause := errors.New("another filter")
	ctx, cancel := context.WithCancelCause(context.Background())
	err = l.Search(ctx, matcher(t, "").Match, 0, func(f Found) bool {
		if pages++; pages > 3 {
			t.Error("the search goes on")
		}
		cancel(cause)
		return true
	})
	if !errors.Is(err, cause) {
		t.Errorf("it ends with %v", err)
	}
}

func TestSeqAtAndHistogram(t *testing.T) {
	l := stored(t, 1000)
	for at, want := range map[time.Duration]uint64{-time.Hour: 1, 0: 1, time.Second: 1, 1500 * time.Millisecond: 2, 500 * time.Second: 500, 1000 * time.Second: 1000, time.Hour: 1001} {
		if got, err := l.SeqAt(began.Add(at)); err != nil || got != want {
			t.Errorf("%v: %d, %v, want %d", at, got, err, want)
		}
	}
	got, err := l.Histogram(context.Background(), began.Add(-100*time.Second), began.Add(1100*time.Second+1), 12)
	want := []uint64{0, 99, 100, 100, 100, 100, 100, 100, 100, 100, 100, 1}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if got, err := l.Histogram(context.Background(), began, began, 3); err != nil || !slices.Equal(got, []uint64{0, 0, 0}) {
		t.Errorf("no time: %v, %v", got, err)
	}
	if got, err := stored(t, 0).SeqAt(began); err != nil || got != 1 {
		t.Errorf("empty: %d, %v", got, err)
	}
}

// BenchmarkSearch looks through a million stored events: what a keystroke in the
// filter takes until the 10,000 rows of a window are found or the newest 100,000
// events are examined; the time to the first hits; and all of it.
func BenchmarkSearch(b *testing.B) {
	l := stored(b, 1_000_000)
	run := func(name, text string, enough func(hits int, f Found) bool) {
		wanted := matcher(b, text)
		b.Run(name+"/"+text, func(b *testing.B) {
			for b.Loop() {
				hits := 0
				err := l.Search(context.Background(), wanted.Match, 0, func(f Found) bool {
					hits += len(f.Seqs)
					return !enough(hits, f)
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	keystroke := func(hits int, f Found) bool { return hits >= 10_000 || f.Examined >= 100_000 }
	for _, text := range []string{"l", "zq", "P9", "rare", "unique", "latency !pool", ".severity=P3", ".n>999990"} {
		run("keystroke", text, keystroke)
	}
	// What shares a value: the newest that does is among the newest 125,000 events.
	for _, text := range []string{"rare", "unique", ".n=500000", "value:875001"} {
		run("first", text, func(hits int, _ Found) bool { return hits > 0 })
	}
	for _, text := range []string{"unique", ".n>5", "/uni.ue/", "value:875001"} {
		run("all", text, func(int, Found) bool { return false })
	}
}
