package feed_test

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
	"eventdeck/ui/tui/feed"
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
		r              feed.Request
		from, to       uint64
		oldest, newest bool
		rows           int
	}{
		"the newest":           {feed.Request{Kind: feed.Newest}, 10_000 - feed.FirstRows + 1, 10_000, false, true, feed.FirstRows},
		"the newest of a few":  {feed.Request{Kind: feed.Newest, Query: asked(t, "rare")}, 10_000 - feed.FirstScan + 1, 10_000, false, true, feed.FirstScan / 100},
		"the oldest":           {feed.Request{Kind: feed.Oldest}, 1, feed.FirstRows, true, false, feed.FirstRows},
		"round one":            {feed.Request{Kind: feed.Around, At: 5000}, 5000 - feed.FirstRows + 1, 5000 + feed.FirstRows, false, false, 2 * feed.FirstRows},
		"round the first":      {feed.Request{Kind: feed.Around, At: 1}, 1, 1 + feed.FirstRows, true, false, 1 + feed.FirstRows},
		"after one":            {feed.Request{Kind: feed.Newer, At: 9_990}, 0, 10_000, false, true, 10},
		"arrivals":             {feed.Request{Kind: feed.Arrived, At: 9_990}, 0, 10_000, false, true, 10},
		"too many arrivals":    {feed.Request{Kind: feed.Arrived, At: 10}, 10_000 - feed.FirstRows + 1, 10_000, false, true, feed.FirstRows},
		"arrivals to be kept":  {feed.Request{Kind: feed.Arrived, At: 10, Keep: true}, 0, 10 + feed.CatchUpMax, false, false, feed.CatchUpMax},
		"nothing has arrived":  {feed.Request{Kind: feed.Arrived, At: 10_000}, 0, 10_000, false, true, 0},
		"before one, searched": {feed.Request{Kind: feed.Older, At: 200, Query: asked(t, "rare")}, 1, 0, true, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := feed.Answer(context.Background(), log, c.r)
			if p.Err != nil || p.From != c.from || p.To != c.to || p.Oldest != c.oldest || p.Newest != c.newest || len(p.Seqs) != c.rows || !slices.IsSorted(p.Seqs) {
				t.Errorf("from %d to %d, ends %v %v, %d rows, %v", p.From, p.To, p.Oldest, p.Newest, len(p.Seqs), p.Err)
			}
		})
	}
}

func TestArrivalsAreCounted(t *testing.T) {
	log := stored(t, 6_000)
	for text, want := range map[string]int{"": 5_000, "rare": 40} {
		p := feed.Answer(context.Background(), log, feed.Request{Kind: feed.Counted, At: 1_000, Query: asked(t, text)})
		if p.Count != want || p.Newest != (text == "") || len(p.Seqs) != 0 {
			t.Errorf("%q: %d, all of them %v, want %d", text, p.Count, p.Newest, want)
		}
	}
}

func TestRecordsComeWithRows(t *testing.T) {
	log := stored(t, 1_000)
	p := feed.Answer(context.Background(), log, feed.Request{Kind: feed.Around, At: 500, Near: 3, Want: []uint64{7, 2_000}})
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
		f    feed.Find
		want uint64
	}{
		"back":         {feed.Find{Query: unique, From: 60_000, Back: true}, 3},
		"on":           {feed.Find{Query: unique}, 3},
		"not itself":   {feed.Find{Query: unique, From: 3}, 0},
		"nor back":     {feed.Find{Query: unique, From: 3, Back: true}, 0},
		"of a query":   {feed.Find{Query: asked(t, "rare"), Match: func(r *event.Record) bool { return r.Seq < 1_000 }, From: 60_000, Back: true}, 900},
		"the next one": {feed.Find{Query: asked(t, "rare"), From: 900}, 1_000},
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
	f := feed.New(s, func() feed.Log { return log })
	f.SetRequests(feed.Request{Kind: feed.Arrived, Gen: 4, At: 90})
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
	read := func(r feed.Request) func() { return func() { feed.Answer(context.Background(), log, r) } }
	part := func(f feed.Find) func() { return func() { f.Part(context.Background(), log) } }
	rare, never := asked(b, "rare"), asked(b, "nothing of the kind")
	for name, fn := range map[string]func(){
		"g":               read(feed.Request{Kind: feed.Oldest, Near: 64}),
		"G":               read(feed.Request{Kind: feed.Newest, Near: 64}),
		"goto":            read(feed.Request{Kind: feed.Around, At: 500_000, Near: 64}),
		"filter":          read(feed.Request{Kind: feed.Newest, Query: rare, Near: 64}),
		"filter-page":     read(feed.Request{Kind: feed.Older, At: 900_000, Query: never}),
		"g-of-a-filter":   part(feed.Find{Query: never}),
		"marker-back":     part(feed.Find{From: 1_000_000, Back: true, Match: func(r *event.Record) bool { return r.Kind != event.KindEvent }}),
		"marker-on":       part(feed.Find{Match: func(r *event.Record) bool { return r.Kind != event.KindEvent }}),
		"match-in-filter": part(feed.Find{Query: rare, From: 1_000_000, Back: true, Match: func(*event.Record) bool { return false }}),
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
