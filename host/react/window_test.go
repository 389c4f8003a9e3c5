package react

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// naive is a window as its definition says it: all members are kept.
type naive struct {
	n     int
	span  time.Duration
	times map[Key][]time.Time
	was   map[Key]bool
}

// add reports whether the window became true with this member.
func (v *naive) add(key Key, at time.Time) bool {
	count := func(span time.Duration) int {
		c := 0
		for _, t := range v.times[key] {
			if at.Sub(t) < span {
				c++
			}
		}
		return c
	}
	if count(v.span+1) < v.n { // right before this moment
		v.was[key] = false
	}
	v.times[key] = append(v.times[key], at)
	is := count(v.span) >= v.n
	fires := is && !v.was[key]
	v.was[key] = is
	return fires
}

// again returns the watch as it comes back from the store.
func again(t *testing.T, w *Watch, r *Rule) *Watch {
	t.Helper()
	raw, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	back := NewWatch(r)
	if err := json.Unmarshal(raw, back); err != nil {
		t.Fatal(err)
	}
	return back
}

func TestCountsAreThoseOfANaiveWindow(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 2))
		n, span := 1+rng.IntN(6), time.Duration(1+rng.IntN(20))*time.Second
		r := &Rule{Key: []string{".k"}, Window: Window{Count: n, Within: span}}
		if rng.IntN(2) == 0 {
			r.Window = Window{Rate: n, Per: span}
		}
		w := NewWatch(r)
		model := &naive{n: n, span: span, times: map[Key][]time.Time{}, was: map[Key]bool{}}
		at := noon
		for seq := range uint64(200) {
			at = at.Add(time.Duration(rng.IntN(8)) * 500 * time.Millisecond)
			key := Key(fmt.Sprint(rng.IntN(3)))
			fired, ok := w.Add(key, seq+1, at)
			if want := model.add(key, at); ok != want {
				t.Fatalf("seed %d, member %d: fired %v, want %v", seed, seq, ok, want)
			}
			if ok && (fired.Key != key || fired.From == 0 || fired.From > seq+1) {
				t.Fatalf("seed %d: fired %+v", seed, fired)
			}
			if rng.IntN(10) == 0 {
				w = again(t, w, r)
			}
		}
	}
}

// A stream at the very rate is one reaction, not one for each event.
func TestASteadyStreamFiresOnce(t *testing.T) {
	w := NewWatch(&Rule{Window: Window{Rate: 5, Per: 5 * time.Second}})
	fired := 0
	for i := range 100 {
		if _, ok := w.Add("", uint64(i+1), noon.Add(time.Duration(i)*time.Second)); ok {
			fired++
		}
	}
	if fired != 1 {
		t.Errorf("fired %d times, want once", fired)
	}
}

func TestLargeCountNeedsLittleMemory(t *testing.T) {
	r := &Rule{Window: Window{Count: 100_000, Within: time.Minute}}
	w := NewWatch(r)
	fired := 0
	for i := range 1_000_000 { // 5,000 a second
		at := noon.Add(time.Duration(i) * 200 * time.Microsecond)
		if _, ok := w.Add("", uint64(i+1), at); ok {
			if fired++; i < 99_999 {
				t.Fatalf("fired at member %d", i+1)
			}
		}
	}
	if fired != 1 {
		t.Errorf("fired %d times, want once", fired)
	}
	if marks := len(w.groups[""].marks); marks > exactCount {
		t.Errorf("%d marks are kept", marks)
	}
}

func TestGroupsBeyondTheBoundAreCounted(t *testing.T) {
	r := &Rule{Key: []string{".k"}, Window: Window{Count: 2, Within: time.Minute}}
	w := NewWatch(r)
	for i := range 3 * WindowKeys {
		w.Add(Key(fmt.Sprint(i)), uint64(i+1), noon)
	}
	if len(w.groups) != WindowKeys || w.over != 2*WindowKeys {
		t.Fatalf("%d groups, %d members not counted", len(w.groups), w.over)
	}
	w = again(t, w, r)
	if w.over != 2*WindowKeys {
		t.Errorf("after a restart %d", w.over)
	}
	later := noon.Add(time.Hour)
	w.Add("new", 9000, later)
	if _, ok := w.Add("new", 9001, later); !ok {
		t.Error("groups of which nothing counts any more leave no room")
	}
}

func TestTheClockGoesBack(t *testing.T) {
	w := NewWatch(&Rule{Window: Window{Count: 2, Within: time.Second}})
	w.Add("", 1, noon)
	if _, ok := w.Add("", 2, noon.Add(-time.Hour)); !ok {
		t.Error("a time before the last one does not stand for the last one")
	}
}

func TestAbsence(t *testing.T) {
	r := &Rule{Window: Window{Absent: 5 * time.Minute}}
	at := func(m int) time.Time { return noon.Add(time.Duration(m) * time.Minute) }
	w := NewWatch(r)
	silent := func(m int) {
		t.Helper()
		if fired := w.Tick(at(m)); len(fired) > 0 {
			t.Errorf("minute %d: fired %v", m, fired)
		}
	}
	fires := func(m int) {
		t.Helper()
		if fired := w.Tick(at(m)); len(fired) != 1 {
			t.Errorf("minute %d: fired %v, want once", m, fired)
		}
	}
	silent(60)
	if !w.Due().IsZero() {
		t.Error("an absence is due without a subscription")
	}
	w.Alive(true, at(60))
	silent(64)
	if w.Due() != at(65) {
		t.Errorf("due at %v", w.Due())
	}
	w.Alive(false, at(64)) // away: not absence
	silent(70)
	w.Alive(true, at(70))
	w.Alive(true, at(73)) // no change
	fires(75)
	silent(90)
	w = again(t, w, r) // told before the restart
	w.Alive(true, at(91))
	silent(120)
	w.Add("", 7, at(121))
	silent(125)
	w = again(t, w, r) // begins again
	silent(130)
	w.Alive(true, at(131))
	silent(135)
	fires(136)
}

func TestAbsenceOfGroups(t *testing.T) {
	r := &Rule{Key: []string{".k"}, Window: Window{Absent: time.Minute}}
	w := NewWatch(r)
	w.Alive(true, noon)
	if w.Tick(noon.Add(time.Hour)) != nil {
		t.Error("a group fired that was never there")
	}
	start := noon.Add(time.Hour)
	w.Add("b", 1, start)
	w.Add("a", 2, start)
	w.Add("c", 3, start.Add(30*time.Second))
	got := w.Tick(start.Add(time.Minute))
	if want := []Fired{{Key: "a"}, {Key: "b"}}; !slices.Equal(got, want) {
		t.Errorf("fired %v, want %v", got, want)
	}
	if got := w.Tick(start.Add(time.Minute)); got != nil {
		t.Errorf("fired again: %v", got)
	}
	if len(w.groups) != 1 {
		t.Errorf("%d groups are kept", len(w.groups))
	}
}

func FuzzStoredWindow(f *testing.F) {
	f.Add([]byte(`{"last":"2026-05-01T12:00:00Z","groups":[{"key":"a","fired":true,"marks":[[1,1,5,5]]}]}`))
	f.Add([]byte(`{"groups":[{"marks":[[-1,0,-5,9]]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := &Rule{Key: []string{".k"}, Window: Window{Count: 3, Within: time.Minute}}
		w := NewWatch(r)
		if json.Unmarshal(raw, w) != nil {
			return
		}
		w.Add("a", 1, noon)
		w.Tick(noon)
		if len(w.groups) > WindowKeys {
			t.Fatalf("%d groups", len(w.groups))
		}
	})
}
