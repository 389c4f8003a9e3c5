package host

import (
	"runtime"
	"testing"
	"weak"

	"eventdeck/host/event"
)

// What leaves the window leaves the memory, also when large records follow many
// small ones.
func TestWindowHoldsNoMoreThanItsBytes(t *testing.T) {
	const size = 1 << 20
	l := NewLog(nil)
	var seq uint64
	for range recentRecords + 1 {
		seq++
		l.add([]event.Record{{Seq: seq}})
	}
	var raws []weak.Pointer[byte]
	for range 4 * recentBytes / size {
		raw := make([]byte, size)
		raws = append(raws, weak.Make(&raw[0]))
		seq++
		l.add([]event.Record{{Seq: seq, Raw: raw}})
	}
	runtime.GC()
	held := 0
	for _, raw := range raws {
		if raw.Value() != nil {
			held += size
		}
	}
	if held > 2*recentBytes+size {
		t.Errorf("%d MiB are held", held>>20)
	}
	if r, err := l.Get(seq); err != nil || r.Seq != seq {
		t.Errorf("the newest is %d, %v", r.Seq, err)
	}
}

// Retention removes records between others; a process that is attached reads them
// page by page.
func TestExtendWithHoles(t *testing.T) {
	l := NewLog(nil)
	l.Extend([]event.Record{{Seq: 1}, {Seq: 2}, {Seq: 5}, {Seq: 6}})
	for _, seq := range []uint64{5, 6} {
		if r, err := l.Get(seq); err != nil || r.Seq != seq {
			t.Errorf("record %d: got %d, %v", seq, r.Seq, err)
		}
	}
}
