package host

import (
	"maps"
	"math/bits"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Stats are the numbers of this run. A caller may keep them.
type Stats struct {
	At      time.Time
	Started time.Time

	Events     uint64 // stored
	Duplicates uint64 // events that were stored before, and dropped
	Replayed   uint64 // events from a server's history
	Flagged    uint64 // events with flags
	Gaps       uint64
	Rejected   uint64 // payloads that strict parsing refused
	Refusals   uint64 // webhook deliveries that were not taken
	Bytes      uint64 // of events and rejected payloads

	Store event.StoreLoad

	// Lag is the time from an event's timestamp to its receipt, Ingest the time from there
	// to its commit, both of the last one to two minutes.
	Lag, Ingest Quantiles

	Total  Rate
	BySub  map[event.SubID]Rate
	ByType map[TypeKey]Rate
}

// TypeKey names an event type of a server.
type TypeKey struct {
	Server string
	Type   trust.Text
}

// Quantiles are the median and the 95th percentile of N durations, exact to about a fifth of
// their value.
type Quantiles struct {
	P50, P95 time.Duration
	N        uint64
}

// Rate counts events in buckets by the time of receipt. The last bucket is the present one,
// which is not over yet.
type Rate struct {
	Seconds [60]uint32 // of one second each
	Minutes [60]uint32 // of one minute each
}

// meter gathers [Stats]. The store's writer feeds it.
type meter struct {
	mu      sync.Mutex
	sum     Stats
	total   counter
	subs    map[event.SubID]*counter
	types   map[TypeKey]*counter
	lag     histogram
	ingest  histogram
	started time.Time
}

func newMeter(now time.Time) *meter {
	return &meter{started: now, subs: map[event.SubID]*counter{}, types: map[TypeKey]*counter{}}
}

// maxTimed bounds how many records of one commit are timed.
const maxTimed = 64

// stored counts what a commit stored.
func (m *meter) stored(records []event.Record, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range records {
		r := &records[i]
		m.sum.Bytes += uint64(len(r.Raw))
		switch r.Kind {
		case event.KindGap:
			m.sum.Gaps++
		case event.KindRejected:
			m.sum.Rejected++
		case event.KindEvent:
			m.event(r, now, i < maxTimed)
		}
	}
}

func (m *meter) event(r *event.Record, now time.Time, timed bool) {
	m.sum.Events++
	if r.Replayed {
		m.sum.Replayed++
	}
	if len(r.Flags) > 0 {
		m.sum.Flagged++
	}
	m.total.add(r.ReceivedAt)
	entryOf(m.subs, r.Sub).add(r.ReceivedAt)
	entryOf(m.types, TypeKey{r.Server, r.Type}).add(r.ReceivedAt)
	if !timed {
		return
	}
	m.ingest.add(now.Sub(r.ReceivedAt), now)
	if at, ok := r.Timestamp.Time(); ok && !r.Replayed {
		m.lag.add(r.ReceivedAt.Sub(at), now)
	}
}

// entryOf returns the entry of a map, which it makes if there is none.
func entryOf[K comparable, V any](all map[K]*V, key K) *V {
	p := all[key]
	if p == nil {
		p = new(V)
		all[key] = p
	}
	return p
}

func (m *meter) refused() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sum.Refusals++
}

// forgetSub drops the rates of a subscription that was removed.
func (m *meter) forgetSub(id event.SubID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.subs, id)
}

// forgetServer drops the rates of the types of a server that was removed.
func (m *meter) forgetServer(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.types, func(key TypeKey, _ *counter) bool { return key.Server == name })
}

func (m *meter) stats(now time.Time) Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sum
	s.At, s.Started = now, m.started
	s.Lag, s.Ingest = m.lag.quantiles(now), m.ingest.quantiles(now)
	s.Total = m.total.rate(now)
	s.BySub = make(map[event.SubID]Rate, len(m.subs))
	for id, p := range m.subs {
		s.BySub[id] = p.rate(now)
	}
	s.ByType = make(map[TypeKey]Rate, len(m.types))
	for key, p := range m.types {
		s.ByType[key] = p.rate(now)
	}
	return s
}

// counter counts in two rings of buckets. The zero counter is ready.
type counter struct{ seconds, minutes buckets }

func (p *counter) add(at time.Time) {
	p.seconds.add(at.Unix())
	p.minutes.add(at.Unix() / 60)
}

func (p *counter) rate(now time.Time) Rate {
	return Rate{Seconds: p.seconds.upTo(now.Unix()), Minutes: p.minutes.upTo(now.Unix() / 60)}
}

// buckets count by a clock that ticks in whole steps; only the newest 60 are kept.
type buckets struct {
	last   int64 // newest bucket
	counts [60]uint32
}

func (b *buckets) add(tick int64) {
	if tick > b.last {
		b.clear(tick)
	}
	if tick > b.last-int64(len(b.counts)) {
		b.counts[tick%int64(len(b.counts))]++
	}
}

// clear empties the buckets that come into use up to tick.
func (b *buckets) clear(tick int64) {
	n := int64(len(b.counts))
	for t := max(b.last, tick-n) + 1; t <= tick; t++ {
		b.counts[t%n] = 0
	}
	b.last = tick
}

// upTo returns the counts in order, the newest last.
func (b *buckets) upTo(tick int64) (out [60]uint32) {
	n := int64(len(b.counts))
	for i := range out {
		if t := tick - n + 1 + int64(i); t <= b.last && t > b.last-n && t >= 0 {
			out[i] = b.counts[t%n]
		}
	}
	return out
}

// histogram counts durations of the last one to two minutes in classes, four for each power of
// two of microseconds. The zero histogram is ready.
type histogram struct {
	began            time.Time // of current
	current, earlier [classes]band
}

// classes are enough for every duration that is counted.
const classes = 212

// longestDuration is 146 years; longer durations count as this, since their mean might not fit
// into a duration.
const longestDuration time.Duration = 1 << 62

// band sums up the durations of one class.
type band struct {
	n   uint64
	sum float64 // nanoseconds
}

const histogramWindow = time.Minute

// add counts a duration; a negative one counts as 0.
func (s *histogram) add(d time.Duration, at time.Time) {
	s.rotate(at)
	d = min(max(d, 0), longestDuration)
	b := &s.current[class(d)]
	b.n++
	b.sum += float64(d)
}

// rotate begins a new window when the present one is over.
func (s *histogram) rotate(at time.Time) {
	switch age := at.Sub(s.began); {
	case age < histogramWindow:
		return
	case age < 2*histogramWindow:
		s.earlier = s.current
	default:
		s.earlier = [classes]band{}
	}
	s.began, s.current = at, [classes]band{}
}

// class returns the class of a duration that is not negative.
func class(d time.Duration) int {
	us := uint64(d / time.Microsecond)
	if us < 4 {
		return int(us)
	}
	power := bits.Len64(us) - 1
	return 4*(power-1) + int(us>>(power-2)&3)
}

// quantiles returns, for each quantile, the mean of the durations in its class.
func (s *histogram) quantiles(at time.Time) Quantiles {
	s.rotate(at)
	var q Quantiles
	for i := range s.current {
		q.N += s.current[i].n + s.earlier[i].n
	}
	var seen uint64
	for i := range s.current {
		before, n := seen, s.current[i].n+s.earlier[i].n
		if n == 0 {
			continue
		}
		seen += n
		mean := time.Duration((s.current[i].sum + s.earlier[i].sum) / float64(n))
		if half := (q.N + 1) / 2; before < half && seen >= half {
			q.P50 = mean
		}
		if most := (q.N*95 + 99) / 100; before < most && seen >= most {
			q.P95 = mean
		}
	}
	return q
}

// Stats implements [API].
func (r *reader) Stats() Stats {
	s := r.subs.stats()
	s.Store = r.opts.Store.Info().Load
	return s
}
