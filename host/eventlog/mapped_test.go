package eventlog

import (
	"testing"

	"eventdeck/host/event"
)

func TestMappedLogHandsOnWhatTheFunctionReturns(t *testing.T) {
	l := New(nil)
	for seq := uint64(1); seq <= 4; seq++ {
		l.Append([]event.Record{{Seq: seq, Data: []byte("secret")}})
	}
	m := &mappedReader{log: l, fn: func(r event.Record) event.Record { r.Data = []byte("***"); return r }}
	if r, err := m.Get(3); err != nil || string(r.Data) != "***" || r.Seq != 3 {
		t.Errorf("Get: %d %q %v", r.Seq, r.Data, err)
	}
	var seqs []uint64
	take := func(r event.Record) bool {
		if string(r.Data) != "***" {
			t.Errorf("%d is %q", r.Seq, r.Data)
		}
		seqs = append(seqs, r.Seq)
		return len(seqs) != 2
	}
	if err := m.Forward(2, take); err != nil || len(seqs) != 2 || seqs[0] != 2 {
		t.Errorf("Forward: %v %v", seqs, err)
	}
	seqs = nil
	if err := m.Backward(4, take); err != nil || len(seqs) != 2 || seqs[0] != 4 {
		t.Errorf("Backward: %v %v", seqs, err)
	}
	if r, err := l.Get(3); err != nil || string(r.Data) != "secret" {
		t.Errorf("the log itself was changed: %q %v", r.Data, err)
	}
}

func TestMappedRing(t *testing.T) {
	ring := NewRing[int](4, 100)
	for i := range 6 {
		ring.Add(i, 1)
	}
	mapped, seen := ring.Mapped(func(i int) int { return 10 * i }), 0
	mapped.After(0, func(seq uint64, v int) bool {
		if v != 10*(int(seq)-1) {
			t.Errorf("entry %d is %d", seq, v)
		}
		seen++
		return true
	})
	if seen != 4 || mapped.Last() != 6 {
		t.Errorf("%d entries, the last is %d", seen, mapped.Last())
	}
	again := ring.Mapped(func(i int) int { return i }).Mapped(func(i int) int { return i })
	if !mapped.SameAs(again) || !again.SameAs(ring) || mapped.SameAs(NewRing[int](4, 100)) || ring.SameAs(nil) {
		t.Error("views of one ring are not told from other rings")
	}
}
