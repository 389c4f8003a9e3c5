package stream

import (
	"strconv"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
)

// Bounds of the records that are held: those of visible rows, and of rows on both sides, so that
// scrolling shows them at once.
const (
	recordsMax = 2_048
	recordsMem = 16 << 20 // bytes
	screens    = 4        // on each side, in heights of the pane
	unknown    = 64       // rows on each side while the height of the pane is not known
)

// records has the records of rows that were read.
type records struct {
	held  map[uint64]event.Record
	lost  map[uint64]bool // not in the log
	bytes int
	gen   int  // grows with every answer
	busy  bool // a request is running
}

func newRecords() records {
	return records{held: map[uint64]event.Record{}, lost: map[uint64]bool{}}
}

func (r *records) add(got []event.Record, lost []uint64) {
	if len(got)+len(lost) > 0 {
		r.gen++
	}
	for i := range got {
		if _, ok := r.held[got[i].Seq]; !ok {
			r.held[got[i].Seq] = got[i]
			r.bytes += len(got[i].Raw)
		}
	}
	for _, seq := range lost {
		r.lost[seq] = true
	}
}

// full reports whether records must be dropped.
func (r *records) full() bool { return len(r.held) > recordsMax || r.bytes > recordsMem }

// keep drops all records that are not wanted.
func (r *records) keep(wanted func(seq uint64) bool) {
	for seq, x := range r.held {
		if !wanted(seq) {
			delete(r.held, seq)
			r.bytes -= len(x.Raw)
		}
	}
	clear(r.lost)
}

func (r *records) has(seq uint64) bool {
	_, ok := r.held[seq]
	return ok || r.lost[seq]
}

// Record returns a record if it is held: the chosen one and those of visible and nearby rows are,
// once they were read.
func (s *Stream) Record(seq uint64) (event.Record, bool) {
	r, ok := s.records.held[seq]
	return r, ok
}

// Lost reports whether a record was requested and is no longer in the log.
func (s *Stream) Lost(seq uint64) bool { return s.records.lost[seq] }

// Next returns the next request, if the stream needs one: for the rows of a new query, rows beyond
// an end of the window, or records. The answer must be given to [Stream.Take].
func (s *Stream) Next() (query.Request, bool) {
	if r, ok := s.nextRows(); ok {
		s.Fetching = true
		r.Stream, r.Gen, r.Query = s.id, s.Gen, s.Query
		return r, true
	}
	if want := s.missing(); len(want) > 0 && !s.records.busy {
		s.records.busy = true
		return query.Request{Kind: query.Records, Stream: s.id, Want: want}, true
	}
	return query.Request{}, false
}

func (s *Stream) nextRows() (query.Request, bool) {
	if s.Fetching {
		return query.Request{}, false
	}
	if !s.Loaded {
		r := s.loading
		if r.Near = screens * s.Height; s.Height == 0 {
			r.Near = unknown
		}
		return r, true
	}
	switch older, newer := s.wants(); {
	case older:
		return query.Request{Kind: query.Older, At: s.From}, true
	case newer:
		return query.Request{Kind: query.Newer, At: s.Seen}, true
	}
	return query.Request{}, false
}

// wants reports whether rows beyond an end of the window are needed.
func (s *Stream) wants() (older, newer bool) {
	if s.Height == 0 {
		return false, false
	}
	at, top := s.Index(s.At), s.Index(s.Top)
	older = !s.Oldest && (len(s.Seqs) < s.Height || top == 0 || at < s.Height) && !(s.Follow && len(s.Seqs) >= s.Height)
	older = older || !s.Oldest && !s.Cut && s.Query.Filters() && len(s.Seqs) < query.PageRows
	newer = s.Cut && !s.Paused && at+s.Height >= len(s.Seqs)
	return older, newer && !older
}

// missing returns the records to read: none while those of visible and adjacent rows are held.
func (s *Stream) missing() (want []uint64) {
	n, h, top := len(s.Seqs), s.Height, s.Index(s.Top)
	if n == 0 || h == 0 {
		return nil
	}
	add := func(from, to int) {
		for _, seq := range s.Seqs[max(0, min(from, n)):max(0, min(to, n))] {
			if !s.records.has(seq) {
				want = append(want, seq)
			}
		}
	}
	if s.Follow && !s.held {
		add(top-1, top+h)
		return want
	}
	if add(top-h, top+2*h); len(want) > 0 && s.records.bytes < recordsMem {
		add(top-screens*h, top-h)
		add(top+2*h, top+(screens+1)*h)
	}
	return want
}

// Arrivals returns the request to make when the log has grown.
func (s *Stream) Arrivals() query.Request {
	r := query.Request{Stream: s.id, Gen: s.Gen, Query: s.Query}
	switch {
	case !s.Loaded:
		r.Kind = query.Records // loading the rows includes new ones
	case s.Cut || s.Paused:
		r.Kind, r.At = query.Counted, s.tally.to
	default:
		r.Kind, r.At, r.Keep = query.Arrived, s.Seen, !s.Follow || s.held
		if s.Follow {
			r.Near = max(s.Height, 1)
		}
	}
	return r
}

// Take takes the answer to a request. again reports whether new records must be read again: there
// are more, or the answer was stale.
func (s *Stream) Take(p query.Page) (again bool) {
	s.records.add(p.Got, p.Lost)
	taken := true
	switch p.Kind {
	case query.Records:
		s.records.busy = s.records.busy && len(p.Want) == 0
	case query.Arrived, query.Counted:
		taken = s.arrive(&p)
	default:
		if taken = s.take(&p); taken {
			if s.measured != p.Query && p.Kind != query.Older && p.Kind != query.Newer {
				s.measured, s.widest = p.Query, widest{}
			}
			s.Settle()
		}
	}
	if s.records.full() {
		top, h := s.Index(s.Top), s.Height
		s.records.keep(func(seq uint64) bool {
			i := s.Index(seq)
			return seq == s.At || i >= top-h && i < top+2*h
		})
	}
	switch p.Kind {
	case query.Arrived, query.Counted:
		return s.Loaded && (!taken || !p.Newest)
	case query.Newest, query.Around, query.Oldest:
		return taken // records may have arrived meanwhile
	}
	return false
}

// arrive takes new rows, or their number if the stream is paused or the window is cut. It reports
// false for a stale answer.
func (s *Stream) arrive(p *query.Page) bool {
	if !s.Loaded || (p.Kind == query.Counted) != (s.Cut || s.Paused) || !s.take(p) {
		return false
	}
	switch {
	case p.Kind == query.Counted && s.Paused:
		s.Waiting += p.Count
	case p.Kind == query.Counted:
	case s.Follow:
		s.trimFront()
		s.Settle()
	default:
		s.cutEnd()
		if s.At == 0 {
			s.Settle()
		}
	}
	return true
}

// row returns the formed row of a record.
func (s *Stream) row(seq uint64) *row {
	env := s.env
	if r, ok := s.Formed[seq]; ok && (r.kind != event.KindState || r.folded == s.folds[seq].Rows) {
		return r
	}
	rec, ok := s.records.held[seq]
	switch {
	case s.records.lost[seq]:
		return &row{marker: true, role: themes.Bad, Text: cells.Sanitize("cannot be read: it is not in the log any more")}
	case !ok:
		return &row{role: themes.Dim, Text: cells.Sanitize(env.Glyphs.More)}
	}
	if len(s.Formed) >= formedMax {
		clear(s.Formed)
	}
	s.plan.clock = env.Times
	r := Row(rec, s.pick(&rec), &s.plan)
	fold := s.folds[seq]
	if r.folded = fold.Rows; r.folded > 1 {
		times := " x" + strconv.Itoa(r.folded)
		if fold.Many { // what the server did to several subscriptions
			r.Type, r.sub = trust.Rendered{}, ""
			times += " of several subscriptions"
		}
		if span := fold.Until.Sub(fold.Since); span >= time.Second {
			times += " over " + cells.Span(span)
		}
		r.Text = cells.Join(r.Text, cells.Sanitize(times))
	}
	s.Formed[seq] = r
	return r
}
