package timeline_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/timeline"
	"eventdeck/ui/tui/widget"
)

// stored is a log of n events a second apart, every hundredth an error.
func stored(tb testing.TB, n int) *eventlog.Log {
	tb.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: tb.TempDir(), Keyring: store.NoKeyring()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	if err := s.SetRetention(context.Background(), event.Retention{}); err != nil {
		tb.Fatal(err)
	}
	began, done := tuitest.Start.Add(-time.Duration(n)*time.Second), make(chan error, 1)
	for from := 1; from <= n; from += 1000 {
		batch := event.Batch{Sub: "aaaaaaaa"}
		for i := from; i < min(from+1000, n+1); i++ {
			word := "info"
			if i%100 == 0 {
				word = "error"
			}
			data := fmt.Appendf(nil, `{"n":%d,"title":"latency above the threshold of the gateway %d","severity":%q}`, i, i, word)
			batch.Records = append(batch.Records, event.Record{Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("load.tick"), Mode: event.ModePush,
				ReceivedAt: began.Add(time.Duration(i) * time.Second), EventID: trust.Untrusted(fmt.Sprint(i)), Raw: data, Data: data})
		}
		if from+1000 > n {
			batch.Done = func(_ event.Outcome, err error) { done <- err }
		}
		if err := s.Submit(context.Background(), batch); err != nil {
			tb.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		tb.Fatal(err)
	}
	return eventlog.New(s)
}

// BenchmarkOpenOverAMillion opens the timeline of a million stored events. It is shown at
// once; counted-ms is when the bars are there, graded-ms when all severities are.
func BenchmarkOpenOverAMillion(b *testing.B) {
	log := stored(b, 1_000_000)
	var counted, graded time.Duration
	b.ResetTimer()
	for b.Loop() {
		s := &tuitest.Screen{}
		began := time.Now()
		cmd := timeline.Open(tuitest.Env(), s, log)
		if s.Dialog == nil {
			b.Fatal("not shown at once")
		}
		step := func() {
			then, ok := cmd().(widget.Then)
			if !ok {
				b.Fatal("nothing was read")
			}
			cmd = then()
		}
		step() // when it begins and ends
		step() // the bars
		counted += time.Since(began)
		for cmd != nil {
			step()
		}
		graded += time.Since(began)
	}
	b.ReportMetric(float64(counted.Milliseconds())/float64(b.N), "counted-ms")
	b.ReportMetric(float64(graded.Milliseconds())/float64(b.N), "graded-ms")
}
