package timeline_test

import (
	"fmt"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/store/storetest"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/timeline"
	"eventdeck/ui/tui/widget"
)

// stored returns a log of n events a second apart, of which every hundredth is an error.
func stored(tb testing.TB, n int) *eventlog.Log {
	tb.Helper()
	s, began := storetest.Open(tb), tuitest.Start.Add(-time.Duration(n)*time.Second)
	storetest.Fill(tb, s, n, func(i int) event.Record {
		word := "info"
		if i%100 == 0 {
			word = "error"
		}
		return event.Record{Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("load.tick"), Mode: event.ModePush,
			ReceivedAt: began.Add(time.Duration(i) * time.Second), EventID: trust.Untrusted(fmt.Sprint(i)),
			Raw: fmt.Appendf(nil, `{"n":%d,"title":"latency above the threshold of the gateway %d","severity":%q}`, i, i, word)}
	})
	return eventlog.New(s)
}

// BenchmarkOpenOverAMillion opens the timeline of a million stored events. counted-ms is the time
// until the bars are drawn, graded-ms the time until all severities are.
func BenchmarkOpenOverAMillion(b *testing.B) {
	log := stored(b, 1_000_000)
	var counted, graded time.Duration
	b.ResetTimer()
	for b.Loop() {
		s := &tuitest.Screen{}
		began := time.Now()
		cmd := timeline.Open(tuitest.Env(), s, log, timeline.Subset{})
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
