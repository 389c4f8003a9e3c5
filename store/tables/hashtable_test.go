package tables

import (
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// entry is one of a table.
type entry struct{ hash, seq uint64 }

// held is what a table should hold.
type held map[uint64][]uint64

func (h held) insert(hash, seq uint64) { h[hash] = append(h[hash], seq) }

func (h held) remove(hash, seq uint64) {
	if i := slices.Index(h[hash], seq); i >= 0 {
		h[hash] = slices.Delete(h[hash], i, i+1)
	}
}

// check checks that the table finds all held entries, and no others.
func (h held) check(t *testing.T, tab *HashTable) {
	t.Helper()
	n := 0
	for hash, want := range h {
		n += len(want)
		got := tab.Find(nil, hash)
		slices.Sort(got)
		want = slices.Sorted(slices.Values(want))
		if !slices.Equal(got, want) {
			t.Fatalf("hash %x: found %v, not %v", hash, got, want)
		}
	}
	if got := tab.Len(); got != n {
		t.Fatalf("%d entries, not %d", got, n)
	}
}

func TestTableAgainstAMap(t *testing.T) {
	const first = 1<<32 - 5000 // numbers pass 2^32
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 20_000} {
		tab, want := NewHashTable(size), held{}
		var order []entry
		for n := range uint64(60_000) {
			h := entry{random.Uint64(), first + n}
			tab.Insert(h.hash, h.seq)
			want.insert(h.hash, h.seq)
			order = append(order, h)
			if len(order) > 30_000 { // the oldest go, as in a store at its bound
				tab.Remove(order[0].hash, order[0].seq)
				want.remove(order[0].hash, order[0].seq)
				order = order[1:]
			}
		}
		want.check(t, tab)
		for _, h := range order {
			tab.Remove(h.hash, h.seq)
			tab.Remove(h.hash, h.seq) // there is no second one
		}
		for hash := range maps.Keys(want) {
			if got := tab.Find(nil, hash); len(got) > 0 {
				t.Fatalf("%x is still found: %v", hash, got)
			}
		}
	}
}

// FuzzTable crowds one part, so that entries wrap around its end and many have the
// same home.
func FuzzTable(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x01\x00\x00\xff\x00\x80\x00\xff\x80\x00\x00"))
	seed := make([]byte, 300)
	for i := range seed {
		seed[i] = byte(i * 37)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, ops []byte) {
		tab, want := NewHashTable(0), held{}
		var in []entry
		seq := uint64(1)
		for ; len(ops) >= 3; ops = ops[3:] {
			if ops[0]&1 == 1 && len(in) > 0 {
				i := int(ops[1]) % len(in)
				tab.Remove(in[i].hash, in[i].seq)
				want.remove(in[i].hash, in[i].seq)
				in = slices.Delete(in, i, i+1)
				continue
			}
			mark := uint64(binary.BigEndian.Uint16(ops[1:])&0xf00f) << 16
			tab.Insert(mark+1, seq)
			want.insert(mark+1, seq)
			in = append(in, entry{mark + 1, seq})
			seq++
		}
		want.check(t, tab)
	})
}

// TestTableIsSmall: a million hashes take at most fourteen megabytes, whether they
// came one by one or at once.
func TestTableIsSmall(t *testing.T) {
	const n = 1_000_000
	for _, size := range []int{0, n} {
		random := rand.New(rand.NewPCG(3, 4))
		tab := NewHashTable(size)
		for seq := range uint64(n) {
			tab.Insert(random.Uint64(), seq)
		}
		slots := 0
		for i := range tab.parts {
			slots += len(tab.parts[i].slots)
		}
		if bytes := 8 * slots; bytes > 14_000_000 {
			t.Errorf("made for %d: %d bytes", size, bytes)
		}
		runtime.KeepAlive(tab)
	}
}

func BenchmarkTableInsert(b *testing.B) {
	random := rand.New(rand.NewPCG(5, 6))
	tab := NewHashTable(0)
	seq := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		seq++
		tab.Insert(random.Uint64(), seq)
	}
}

func BenchmarkTableFind(b *testing.B) {
	random := rand.New(rand.NewPCG(5, 6))
	tab := NewHashTable(0)
	for seq := range uint64(1_000_000) {
		tab.Insert(random.Uint64(), seq)
	}
	var room [4]uint64
	for b.Loop() {
		tab.Find(room[:0], random.Uint64())
	}
}
