package stream_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
)

// empty returns a stream of ten rows that has read nothing yet.
func empty() *stream.Stream {
	s := stream.New(tuitest.StreamEnv(tuitest.Env(), &host.Snapshot{}))
	s.Height = 10
	return &s
}

func seqs(from, to uint64) (out []uint64) {
	for ; from <= to; from++ {
		out = append(out, from)
	}
	return out
}

// answer answers the requests of the stream from a log of last events, until there are none. It
// returns the kinds of the requests.
func answer(t *testing.T, s *stream.Stream, last uint64) (kinds []query.Kind) {
	t.Helper()
	for range 100 {
		r, ok := s.Next()
		if !ok {
			return kinds
		}
		kinds = append(kinds, r.Kind)
		p := query.Page{Request: r, Last: last}
		switch r.Kind {
		case query.Newest:
			p.From, p.To, p.Newest = max(1, last-min(last, 300)+1), last, true
			p.Seqs, p.Oldest = seqs(p.From, p.To), p.From == 1
		case query.Around:
			p.From, p.To = max(1, r.At-min(r.At, 300)+1), min(last, r.At+300)
			p.Seqs, p.Oldest, p.Newest = seqs(p.From, p.To), p.From == 1, p.To == last
		case query.Oldest:
			p.From, p.To, p.Oldest = 1, min(last, 300), true
			p.Seqs, p.Newest = seqs(p.From, p.To), p.To == last
		case query.Older:
			p.From = max(1, r.At-min(r.At, 1000))
			p.To, p.Oldest = 0, p.From == 1
			p.Seqs = seqs(p.From, r.At-1)
		case query.Newer:
			p.To = min(last, r.At+1000)
			p.Seqs, p.Newest = seqs(r.At+1, p.To), p.To == last
		}
		for _, seq := range r.Want {
			p.Got = append(p.Got, event.Record{Seq: seq, Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("x"), Data: fmt.Appendf(nil, `{"title":"event %d."}`, seq)})
		}
		s.Take(p)
	}
	t.Fatal("it asks for ever")
	return nil
}

func text(s *stream.Stream) string { return tuitest.Plain(s.Draw(80, s.Height)) }

// Rows are placeholders until their records are read.
func TestRowsShowRecordsOnceTheyAreRead(t *testing.T) {
	s := empty()
	s.Show(query.Query{})
	answer(t, s, 1000)
	if got := text(s); !strings.Contains(got, "event 1000.") || !strings.Contains(got, "event 991.") || strings.Contains(got, "event 990.") {
		t.Errorf("at the newest:\n%s", got)
	}
	s.By(-3)
	answer(t, s, 1000) // the rows on both sides
	s.By(-15)
	if got := text(s); !strings.Contains(got, "event 982.") || strings.Contains(got, "…") {
		t.Errorf("scrolled a little:\n%s", got)
	}
	s.By(-200)
	if got := text(s); !strings.Contains(got, "…") || strings.Contains(got, "event") {
		t.Errorf("rows that are not read yet:\n%s", got)
	}
	if answer(t, s, 1000); !strings.Contains(text(s), "event 782.") {
		t.Errorf("and when they are:\n%s", text(s))
	}
	if r, ok := s.Record(s.At); !ok || r.Seq != s.At {
		t.Errorf("the chosen record is not held: %d", s.At)
	}
	s.Take(query.Page{Request: query.Request{Kind: query.Records, Want: []uint64{s.At}}, Lost: []uint64{s.At + 1}})
	if !s.Lost(s.At + 1) {
		t.Error("a record that is gone is not known as such")
	}
}

// Answers to a former query change nothing, and old rows stay until the new ones are read.
func TestAnswersToFormerQueriesAreDropped(t *testing.T) {
	s := empty()
	s.Show(query.Query{})
	answer(t, s, 100)
	s.Show(query.Query{Node: query.Node{Server: "chat"}})
	late, _ := s.Next()
	if len(s.Seqs) != 100 || s.Loaded {
		t.Errorf("%d rows meanwhile", len(s.Seqs))
	}
	s.Show(query.Query{Node: query.Node{Server: "pager"}})
	s.Take(query.Page{Request: late, Seqs: []uint64{5}, From: 1, To: 100, Newest: true, Oldest: true})
	if len(s.Seqs) != 100 {
		t.Errorf("the late answer was taken: %v", s.Seqs)
	}
	r, _ := s.Next()
	if again := s.Take(query.Page{Request: r, Seqs: []uint64{7, 9}, From: 1, To: 100, Newest: true, Oldest: true}); !again || s.At != 9 || len(s.Seqs) != 2 {
		t.Errorf("at %d of %v", s.At, s.Seqs)
	}
}

func TestArrivalsFollowOrAreCounted(t *testing.T) {
	arrived := func(s *stream.Stream, to uint64) (again bool) {
		r := s.Arrivals()
		p := query.Page{Request: r, To: to, Newest: true, Last: to}
		if r.Kind == query.Counted {
			p.Count = int(to - r.At)
		} else {
			p.Seqs = seqs(r.At+1, to)
		}
		return s.Take(p)
	}
	s := empty()
	s.Show(query.Query{})
	if r := s.Arrivals(); r.Kind != query.Records {
		t.Errorf("before it has rows it asks for arrivals: %v", r.Kind)
	}
	answer(t, s, 100)
	if arrived(s, 120); s.At != 120 || len(s.Seqs) != 120 {
		t.Errorf("following, at %d of %d rows", s.At, len(s.Seqs))
	}
	s.Hold(true)
	if arrived(s, 130); s.At != 120 || !s.Follow {
		t.Errorf("held, at %d", s.At)
	}
	if s.Hold(false); s.At != 130 {
		t.Errorf("let go, at %d", s.At)
	}
	stale := s.Arrivals()
	arrived(s, 140)
	if s.Take(query.Page{Request: stale, Seqs: seqs(131, 135), To: 135, Newest: true}); len(s.Seqs) != 140 || s.Seen != 140 {
		t.Errorf("taken twice: %d rows up to %d", len(s.Seqs), s.Seen)
	}
	s.Pause()
	if again := s.Take(query.Page{Request: query.Request{Kind: query.Arrived, Gen: s.Gen, At: 140}, Seqs: []uint64{141}, To: 141, Newest: true}); !again || len(s.Seqs) != 140 {
		t.Error("a frozen view takes rows, or does not have them counted")
	}
	if arrived(s, 150); s.Waiting != 10 || len(s.Seqs) != 140 {
		t.Errorf("frozen, %d wait behind %d rows", s.Waiting, len(s.Seqs))
	}
}

func TestSeekAndShowAtReturnToRecords(t *testing.T) {
	s := empty()
	s.Show(query.Query{})
	answer(t, s, 5000)
	s.Seek(2000)
	if kinds := answer(t, s, 5000); s.At != 2000 || kinds[0] != query.Around || s.Follow {
		t.Errorf("at %d by %v", s.At, kinds)
	}
	if n, _ := s.Below(); n != 5000-2000-5+1 && n != 5000-2000-4 {
		t.Errorf("%d below", n)
	}
	place, q := s.Place(), s.Query
	s.Show(query.Query{Node: query.Node{Server: "chat"}})
	r, _ := s.Next()
	s.Take(query.Page{Request: r, Seqs: []uint64{1900, 2100}, From: 1700, To: 2300})
	if s.At != 1900 || s.Anchor() != 2000 {
		t.Errorf("the nearest row is %d, the anchor %d", s.At, s.Anchor())
	}
	s.ShowAt(q, place)
	if answer(t, s, 5000); s.At != 2000 {
		t.Errorf("back at %d", s.At)
	}
	s.ToOldest()
	if answer(t, s, 5000); s.At != 1 || !s.Oldest {
		t.Errorf("the oldest is %d", s.At)
	}
	s.ToNewest()
	if answer(t, s, 5000); s.At != 5000 || !s.Follow {
		t.Errorf("the newest is %d", s.At)
	}
}

// Columns grow with longer names at once, and shrink only with another query.
func TestColumnsShrinkOnlyWithTheQuery(t *testing.T) {
	s := empty()
	long := "a.type.with.a.long.name"
	show := func(q query.Query, last uint64) {
		s.Show(q)
		for r, ok := s.Next(); ok; r, ok = s.Next() {
			p := query.Page{Request: r, From: 1, To: last, Oldest: true, Newest: true, Last: last}
			p.Seqs = seqs(1, last)
			for _, seq := range p.Seqs {
				typ := "x"
				if seq == 1 {
					typ = long
				}
				p.Got = append(p.Got, event.Record{Seq: seq, Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted(typ), Data: []byte(`{"title":"begins here"}`)})
			}
			s.Take(p)
		}
	}
	place := func() int {
		before, _, _ := strings.Cut(text(s), "begins")
		return utf8.RuneCountInString(before)
	}
	show(query.Query{}, 40)
	narrow := place()
	s.By(-100)
	wide := place()
	if wide <= narrow {
		t.Errorf("with a long type the summary begins at %d, before at %d", wide, narrow)
	}
	if s.By(100); place() != wide {
		t.Errorf("scrolled back it begins at %d, not at %d", place(), wide)
	}
	show(query.Query{Node: query.Node{Server: "pager"}, Text: "begins"}, 40)
	s.By(100)
	if s.Top == 1 || place() > narrow {
		t.Errorf("of another query it begins at %d, with short names at %d", place(), narrow)
	}
}
