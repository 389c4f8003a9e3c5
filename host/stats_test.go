package host

import (
	"math"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func TestRatesFollowTheClock(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	m := newMeter(start)
	a, b := TypeKey{"s", trust.Untrusted("a")}, TypeKey{"s", trust.Untrusted("b")}
	receive := func(after time.Duration, k TypeKey, n int) {
		for range n {
			m.stored([]event.Record{{Kind: event.KindEvent, Sub: event.SubID(k.Type.Raw()), Server: k.Server, Type: k.Type, ReceivedAt: start.Add(after), Raw: []byte("xx")}}, start.Add(after))
		}
	}
	receive(0, a, 3)
	receive(2*time.Second, b, 5)
	s := m.stats(start.Add(3 * time.Second))
	if got := [4]uint32(s.Total.Seconds[56:]); got != [4]uint32{3, 0, 5, 0} {
		t.Errorf("the last four seconds: %v", got)
	}
	if ofA, ofB := s.BySub["a"], s.ByType[b]; ofA.Seconds[56] != 3 || ofA.Seconds[58] != 0 || ofB.Seconds[58] != 5 {
		t.Errorf("a %v, b %v", ofA.Seconds[56:], ofB.Seconds[56:])
	}
	if s.Events != 8 || s.Bytes != 16 || s.Total.Minutes[59] != 8 {
		t.Errorf("%d events, %d bytes, %d in this minute", s.Events, s.Bytes, s.Total.Minutes[59])
	}
	s = m.stats(start.Add(61 * time.Second))
	if s.Total.Seconds != ([60]uint32{0: 5}) || s.Total.Minutes[58] != 8 {
		t.Errorf("after a minute: %v, %v", s.Total.Seconds, s.Total.Minutes)
	}
	receive(10*time.Hour, a, 1)
	if s = m.stats(start.Add(10 * time.Hour)); s.Total.Seconds != ([60]uint32{59: 1}) || s.Total.Minutes != ([60]uint32{59: 1}) {
		t.Errorf("after hours: %v, %v", s.Total.Seconds, s.Total.Minutes)
	}
}

func TestQuantilesOfTheLastMinutes(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	var s histogram
	for n := 1; n <= 1000; n++ {
		s.add(time.Duration(n)*time.Millisecond, start)
	}
	near := func(got, want time.Duration) bool { return got > want*8/10 && got < want*12/10 }
	q := s.quantiles(start.Add(time.Minute))
	if q.N != 1000 || !near(q.P50, 500*time.Millisecond) || !near(q.P95, 950*time.Millisecond) {
		t.Errorf("%+v", q)
	}
	if q := s.quantiles(start.Add(3 * time.Minute)); q != (Quantiles{}) {
		t.Errorf("long after: %+v", q)
	}
}

// A quantile is a measured number, not the middle of a class, for durations of any length.
func TestQuantilesAreMeasuredNumbers(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	const day = 24 * time.Hour
	for _, d := range []time.Duration{0, 1, 3 * time.Microsecond, 1234 * time.Millisecond, 20 * day, 31 * day, 20_650 * day, longestDuration} {
		var s histogram
		for range 3 {
			s.add(d, start)
		}
		if q := s.quantiles(start); q.P50 < 0 || q.P50-d > 1000 || d-q.P50 > 1000 || q.P50 != q.P95 {
			t.Errorf("%v is told as %v and %v", d, q.P50, q.P95)
		}
	}
	var s histogram
	s.add(math.MaxInt64, start)
	if q := s.quantiles(start); q.P50 != longestDuration {
		t.Errorf("the longest is told as %v", q.P50)
	}
	s = histogram{}
	s.add(-time.Second, start)
	if q := s.quantiles(start); q != (Quantiles{N: 1}) {
		t.Errorf("a negative one: %+v", q)
	}
	for i, d := 0, time.Duration(1); d > 0; d *= 2 {
		if c := class(d); c < i || c >= classes {
			t.Errorf("%v has class %d, behind %d", d, c, i)
		} else {
			i = c
		}
	}
}
