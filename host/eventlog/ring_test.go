package eventlog_test

import (
	"reflect"
	"sync"
	"testing"

	"eventdeck/host/eventlog"
)

func kept(r *eventlog.Ring[int], after uint64) (out []int) {
	r.After(after, func(_ uint64, v int) bool {
		out = append(out, v)
		return true
	})
	return out
}

func TestRingIsBoundedByCountAndBytes(t *testing.T) {
	r := eventlog.NewRing[int](4, 100)
	if r.Last() != 0 || kept(r, 0) != nil {
		t.Error("an empty ring holds something")
	}
	for i := 1; i <= 6; i++ {
		r.Add(i, 10)
	}
	if got := kept(r, 0); !reflect.DeepEqual(got, []int{3, 4, 5, 6}) {
		t.Errorf("by count: %v", got)
	}
	if got := kept(r, 5); !reflect.DeepEqual(got, []int{6}) {
		t.Errorf("after 5: %v", got)
	}
	r.Add(7, 75)
	if got := kept(r, 0); !reflect.DeepEqual(got, []int{5, 6, 7}) {
		t.Errorf("by bytes: %v", got)
	}
	r.Add(8, 1000)
	if got := kept(r, 0); !reflect.DeepEqual(got, []int{8}) {
		t.Errorf("the newest is larger than all: %v", got)
	}
	if r.Last() != 8 || kept(r, 8) != nil {
		t.Errorf("last %d", r.Last())
	}
}

// A reader that is slower than the writer sees rising numbers, never one twice.
func TestRingIsReadWhileWritten(t *testing.T) {
	r := eventlog.NewRing[int](100, 1<<20)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 1; i <= 5000; i++ {
			r.Add(i, 1)
		}
	})
	var last uint64
	for last < 5000 {
		r.After(last, func(seq uint64, v int) bool {
			if seq <= last || uint64(v) != seq {
				t.Errorf("entry %d holds %d after %d", seq, v, last)
			}
			last = seq
			return true
		})
	}
	wg.Wait()
}
