package query_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/store/storetest"
	"eventdeck/ui/tui/query"
)

var began = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)

// stored returns a log of n events a second apart. Every hundredth has the word rare; the third has
// the word unique.
func stored(t testing.TB, n int) *eventlog.Log {
	t.Helper()
	s := storetest.Open(t)
	storetest.Fill(t, s, n, func(i int) event.Record {
		word := "usual"
		if i%100 == 0 {
			word = "rare"
		}
		if i == 3 {
			word = "unique"
		}
		return event.Record{Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("load.tick"), Mode: event.ModePush,
			ReceivedAt: began.Add(time.Duration(i) * time.Second), EventID: trust.Untrusted(fmt.Sprint(i)),
			Raw: fmt.Appendf(nil, `{"n":%d,"title":"%s latency above the threshold of the gateway %d"}`, i, word, i)}
	})
	return eventlog.New(s)
}

func asked(t testing.TB, text string) query.Query {
	t.Helper()
	q, err := query.New(query.Node{}, text, began)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestAnswerReadsTheRequestedRows(t *testing.T) {
	log := stored(t, 10_000)
	for name, c := range map[string]struct {
		r              query.Request
		from, to       uint64
		oldest, newest bool
		rows           int
	}{
		"the newest":           {query.Request{Kind: query.Newest}, 10_000 - query.FirstRows + 1, 10_000, false, true, query.FirstRows},
		"the newest of a few":  {query.Request{Kind: query.Newest, Query: asked(t, "rare")}, 10_000 - query.FirstScan + 1, 10_000, false, true, query.FirstScan / 100},
		"the oldest":           {query.Request{Kind: query.Oldest}, 1, query.FirstRows, true, false, query.FirstRows},
		"round one":            {query.Request{Kind: query.Around, At: 5000}, 5000 - query.FirstRows + 1, 5000 + query.FirstRows, false, false, 2 * query.FirstRows},
		"round the first":      {query.Request{Kind: query.Around, At: 1}, 1, 1 + query.FirstRows, true, false, 1 + query.FirstRows},
		"after one":            {query.Request{Kind: query.Newer, At: 9_990}, 0, 10_000, false, true, 10},
		"arrivals":             {query.Request{Kind: query.Arrived, At: 9_990}, 0, 10_000, false, true, 10},
		"too many arrivals":    {query.Request{Kind: query.Arrived, At: 10}, 10_000 - query.FirstRows + 1, 10_000, false, true, query.FirstRows},
		"arrivals to be kept":  {query.Request{Kind: query.Arrived, At: 10, Keep: true}, 0, 10 + query.CatchUpMax, false, false, query.CatchUpMax},
		"nothing has arrived":  {query.Request{Kind: query.Arrived, At: 10_000}, 0, 10_000, false, true, 0},
		"before one, searched": {query.Request{Kind: query.Older, At: 200, Query: asked(t, "rare")}, 1, 0, true, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := query.Answer(context.Background(), log, c.r)
			if p.Err != nil || p.From != c.from || p.To != c.to || p.Oldest != c.oldest || p.Newest != c.newest || len(p.Seqs) != c.rows || !slices.IsSorted(p.Seqs) {
				t.Errorf("from %d to %d, ends %v %v, %d rows, %v", p.From, p.To, p.Oldest, p.Newest, len(p.Seqs), p.Err)
			}
		})
	}
}

func TestArrivalsAreCounted(t *testing.T) {
	log := stored(t, 6_000)
	for text, want := range map[string]int{"": 5_000, "rare": 40} {
		p := query.Answer(context.Background(), log, query.Request{Kind: query.Counted, At: 1_000, Query: asked(t, text)})
		if p.Count != want || p.Newest != (text == "") || len(p.Seqs) != 0 {
			t.Errorf("%q: %d, all of them %v, want %d", text, p.Count, p.Newest, want)
		}
	}
}

func TestRecordsComeWithRows(t *testing.T) {
	log := stored(t, 1_000)
	p := query.Answer(context.Background(), log, query.Request{Kind: query.Around, At: 500, Near: 3, Want: []uint64{7, 2_000}})
	var got []uint64
	for _, r := range p.Got {
		got = append(got, r.Seq)
	}
	if !slices.Equal(got, []uint64{497, 498, 499, 500, 501, 502, 7}) || !slices.Equal(p.Lost, []uint64{2_000}) {
		t.Errorf("%v came and %v are lost", got, p.Lost)
	}
}

func TestFindSearchesTheWholeLogBothWays(t *testing.T) {
	log := stored(t, 60_000)
	unique := asked(t, "unique")
	for name, c := range map[string]struct {
		f    query.Find
		want uint64
	}{
		"back":         {query.Find{Query: unique, From: 60_000, Back: true}, 3},
		"on":           {query.Find{Query: unique}, 3},
		"not itself":   {query.Find{Query: unique, From: 3}, 0},
		"nor back":     {query.Find{Query: unique, From: 3, Back: true}, 0},
		"of a query":   {query.Find{Query: asked(t, "rare"), Match: func(r *event.Record) bool { return r.Seq < 1_000 }, From: 60_000, Back: true}, 900},
		"the next one": {query.Find{Query: asked(t, "rare"), From: 900}, 1_000},
	} {
		t.Run(name, func(t *testing.T) {
			f := c.f
			for parts := 0; ; parts++ {
				p := f.Part(context.Background(), log)
				if p.Err != nil || parts > 60_000 {
					t.Fatalf("after %d parts: %v", parts, p.Err)
				}
				if p.Seq != 0 || p.End {
					if p.Seq != c.want {
						t.Errorf("found %d, want %d", p.Seq, c.want)
					}
					return
				}
				if p.At.IsZero() || p.Edge == f.From {
					t.Fatalf("it does not advance, or has no time: %+v", p)
				}
				f.From = p.Edge
			}
		})
	}
}

// source is a host with marks.
type source struct {
	marks []event.Mark
	read  int
}

func (s *source) Snapshot() host.Snapshot { s.read++; return host.Snapshot{Version: uint64(s.read)} }
func (s *source) Marks() []event.Mark     { return s.marks }

func TestLatestReadsStateAndArrivals(t *testing.T) {
	log := stored(t, 100)
	s := &source{marks: []event.Mark{{Seq: 3}, {Seq: 5, Note: "noted"}, {Seq: 500}}}
	f := query.NewFeed(s, func() eventlog.Records { return log })
	f.SetRequests(query.Request{Kind: query.Arrived, Gen: 4, At: 90})
	n := f.Latest(context.Background())
	if n.Snap.Version != 1 || len(n.Marks) != 3 || len(n.Pages) != 1 || n.Pages[0].Gen != 4 || len(n.Pages[0].Seqs) != 10 {
		t.Errorf("%+v", n)
	}
	if n.Marked[3].Seq != 3 || n.Marked[5].Seq != 5 || len(n.Marked) != 2 {
		t.Errorf("records of marks: %v", n.Marked)
	}
}

// BenchmarkNavigation reads rows and searches records of a million stored events: the time from a
// key press to the first rows. p99 is in milliseconds.
func BenchmarkNavigation(b *testing.B) {
	log := stored(b, 1_000_000)
	read := func(r query.Request) func() { return func() { query.Answer(context.Background(), log, r) } }
	part := func(f query.Find) func() { return func() { f.Part(context.Background(), log) } }
	rare, never := asked(b, "rare"), asked(b, "nothing of the kind")
	for name, fn := range map[string]func(){
		"g":               read(query.Request{Kind: query.Oldest, Near: 64}),
		"G":               read(query.Request{Kind: query.Newest, Near: 64}),
		"goto":            read(query.Request{Kind: query.Around, At: 500_000, Near: 64}),
		"filter":          read(query.Request{Kind: query.Newest, Query: rare, Near: 64}),
		"filter-page":     read(query.Request{Kind: query.Older, At: 900_000, Query: never}),
		"g-of-a-filter":   part(query.Find{Query: never}),
		"marker-back":     part(query.Find{From: 1_000_000, Back: true, Match: func(r *event.Record) bool { return r.Kind != event.KindEvent }}),
		"marker-on":       part(query.Find{Match: func(r *event.Record) bool { return r.Kind != event.KindEvent }}),
		"match-in-filter": part(query.Find{Query: rare, From: 1_000_000, Back: true, Match: func(*event.Record) bool { return false }}),
	} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				fn()
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
