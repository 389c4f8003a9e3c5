package eventlog

import (
	"runtime"
	"testing"
	"weak"

	"eventdeck/host/event"
)

// What leaves the window leaves the memory, also when large records follow many
// small ones.
func TestWindowIsBoundedInBytes(t *testing.T) {
	const size = 1 << 20
	l := New(nil)
	var seq uint64
	for range recentRecords + 1 {
		seq++
		l.Append([]event.Record{{Seq: seq}})
	}
	var raws []weak.Pointer[byte]
	for range 4 * recentBytes / size {
		raw := make([]byte, size)
		raws = append(raws, weak.Make(&raw[0]))
		seq++
		l.Append([]event.Record{{Seq: seq, Raw: raw}})
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
func TestWindowBeginsAfterMissingRecords(t *testing.T) {
	l := New(nil)
	l.Append([]event.Record{{Seq: 1}, {Seq: 2}, {Seq: 5}, {Seq: 6}})
	for _, seq := range []uint64{5, 6} {
		if r, err := l.Get(seq); err != nil || r.Seq != seq {
			t.Errorf("record %d: got %d, %v", seq, r.Seq, err)
		}
	}
}

// Commits of all sizes: the newest records can be read one by one, forwards and
// backwards, and a reader that began earlier sees what was there then.
func TestWindowOfCommits(t *testing.T) {
	const last = 3 * recentRecords
	l := New(nil)
	sizes := []int{1, 3, pieceRecords - 1, 1, pieceRecords, 1024, 7, 2, pieceRecords + 1}
	for seq, i := 0, 0; seq < last; i++ {
		records := make([]event.Record, min(sizes[i%len(sizes)], last-seq))
		for k := range records {
			seq++
			records[k].Seq = uint64(seq)
		}
		l.Append(records)
	}
	oldest, next := uint64(last-recentRecords+1), uint64(last)
	for _, seq := range []uint64{oldest + 9, oldest + 10, last - 1025, last - 1, last} {
		if r, err := l.Get(seq); err != nil || r.Seq != seq {
			t.Errorf("record %d: got %d, %v", seq, r.Seq, err)
		}
		end := next
		want := seq
		err := l.After(seq-1, func(r event.Record) bool {
			if r.Seq != want {
				t.Fatalf("after %d: %d, want %d", seq-1, r.Seq, want)
			}
			if want++; want == end+1 {
				next++
				l.Append([]event.Record{{Seq: next}})
			}
			return true
		})
		if err != nil || want != end+1 {
			t.Errorf("after %d: up to %d, %v", seq-1, want-1, err)
		}
	}
	want := next
	err := l.Before(next+1, func(r event.Record) bool {
		if r.Seq != want {
			t.Fatalf("backwards: %d, want %d", r.Seq, want)
		}
		want--
		return want >= oldest+9
	})
	if err != nil || want != oldest+8 {
		t.Errorf("backwards to %d, %v", want+1, err)
	}
	held := 0
	for _, piece := range l.recent {
		held += len(piece)
	}
	if held != l.count || held > recentRecords+1024 {
		t.Errorf("%d records are held and %d counted", held, l.count)
	}
}
