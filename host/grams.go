package host

import (
	"context"
	"math/bits"
	"sync"

	"eventdeck/host/event"
	"eventdeck/host/filter"
)

// The index covers the newest records, in chunks. Within a chunk it is stored by
// bits: for each bit of a signature the records that have it. So a search reads
// a few short rows to learn which of 4,096 records may match.
const (
	chunkRecords  = 4096
	chunkWords    = chunkRecords / 64
	indexedChunks = 32 // with the newest one, which is not full: at least 126,976 records
)

// gramIndex holds the signatures of the newest records. The zero index is empty.
type gramIndex struct {
	building sync.Mutex // one [Log.Prepare] at a time

	mu     sync.RWMutex
	chunks map[uint64]*gramChunk // by sequence number / chunkRecords
}

// gramChunk are the signatures of 4,096 records: half a megabyte.
type gramChunk struct {
	covered uint64 // groups of 64 records that are in
	rows    [filter.SignatureBits][chunkWords]uint64
}

// Prepare reads the newest 125,000 records into an index in memory, 17 MB of it,
// with which a [Log.Search] passes over those that cannot match. It is worth its
// time, some 0.2 s, before somebody types a filter; what was read before is not
// read again.
//
// Errors: the cause of ctx, those of the store.
func (l *Log) Prepare(ctx context.Context) error {
	x := &l.index
	x.building.Lock()
	defer x.building.Unlock()
	newest := l.store.Last() / chunkRecords
	oldest := newest - min(newest, indexedChunks-1)
	x.forget(oldest)
	var room [64]filter.Signature
	for chunk := newest; ; chunk-- {
		if err := l.prepareChunk(ctx, chunk, &room); err != nil || chunk == oldest {
			return err
		}
	}
}

// prepareChunk adds the groups of a chunk that are complete and not yet in.
// signatures is room to work in.
func (l *Log) prepareChunk(ctx context.Context, chunk uint64, signatures *[64]filter.Signature) error {
	last := l.store.Last()
	covered := l.index.covered(chunk)
	for group := range uint64(chunkWords) {
		from := chunk*chunkRecords + group*64
		if covered&(1<<group) != 0 || from+63 > last {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		*signatures = [64]filter.Signature{}
		err := l.store.Scan(from, from+63, func(r *event.Record) bool {
			signatures[r.Seq-from].Add(r)
			return true
		})
		if err != nil {
			return err
		}
		l.index.add(chunk, group, signatures)
	}
	return nil
}

func (x *gramIndex) covered(chunk uint64) uint64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if c := x.chunks[chunk]; c != nil {
		return c.covered
	}
	return 0
}

// forget lets go of the chunks before the oldest one.
func (x *gramIndex) forget(oldest uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for chunk := range x.chunks {
		if chunk < oldest {
			delete(x.chunks, chunk)
		}
	}
}

func (x *gramIndex) add(chunk, group uint64, signatures *[64]filter.Signature) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.chunks == nil {
		x.chunks = map[uint64]*gramChunk{}
	}
	c := x.chunks[chunk]
	if c == nil {
		c = &gramChunk{}
		x.chunks[chunk] = c
	}
	var square [64]uint64
	for word := range len(signatures[0]) {
		for i := range square {
			square[i] = signatures[i][word]
		}
		transpose(&square)
		for bit, row := range square {
			c.rows[word*64+bit][group] = row
		}
	}
	c.covered |= 1 << group
}

// transpose turns a square of bits, so that bit i of word j becomes bit j of
// word i: halves, then halves of these change places.
func transpose(a *[64]uint64) {
	mask := uint64(0x00000000ffffffff)
	for size := 32; size > 0; size >>= 1 {
		for i := 0; i < 64; i = (i + size + 1) &^ size {
			t := (a[i]>>size ^ a[i+size]) & mask
			a[i] ^= t << size
			a[i+size] ^= t
		}
		mask ^= mask << (size >> 1)
	}
}

// probe is what the signatures of matching records have: of each element all
// bits of at least one word.
type probe [][][]int

func newProbe(needs [][]string) probe {
	var p probe
	for _, words := range needs {
		var any [][]int
		for _, word := range words {
			any = append(any, filter.Bits(word))
		}
		p = append(p, any)
	}
	return p
}

// candidates tells which records of a chunk may match; those that are not
// indexed may. all is true if every record may.
func (x *gramIndex) candidates(chunk uint64, p probe) (may [chunkWords]uint64, all bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	c := x.chunks[chunk]
	if c == nil || len(p) == 0 {
		return may, true
	}
	for group := range may {
		may[group] = ^uint64(0)
	}
	for _, any := range p {
		var found [chunkWords]uint64
		for _, word := range any {
			has := may
			for _, bit := range word {
				row := &c.rows[bit]
				for group := range has {
					has[group] &= row[group]
				}
			}
			for group := range found {
				found[group] |= has[group]
			}
		}
		may = found
	}
	for group := range may {
		if c.covered&(1<<group) == 0 {
			may[group] = ^uint64(0)
		}
	}
	return may, false
}

// candidateGap is the number of records that cost as much to pass over as to
// begin anew behind them.
const candidateGap = 8

// scan calls fn for the records from..to that may match, oldest first, until fn
// returns false.
func (l *Log) scan(p probe, from, to uint64, fn func(*event.Record) bool) error {
	for start := from; start <= to; {
		chunk := start / chunkRecords
		end := min(to, chunk*chunkRecords+chunkRecords-1)
		may, all := l.index.candidates(chunk, p)
		more := true
		if all {
			err := l.store.Scan(start, end, func(r *event.Record) bool {
				more = fn(r)
				return more
			})
			if err != nil || !more {
				return err
			}
			start = end + 1
			continue
		}
		is := func(seq uint64) bool { return may[seq%chunkRecords/64]&(1<<(seq%64)) != 0 }
		for seq := nextSet(&may, start, end); seq <= end; {
			last := seq
			after := nextSet(&may, last+1, end)
			for after <= end && after-last <= candidateGap {
				last, after = after, nextSet(&may, after+1, end)
			}
			err := l.store.Scan(seq, last, func(r *event.Record) bool {
				more = !is(r.Seq) || fn(r)
				return more
			})
			if err != nil || !more {
				return err
			}
			seq = after
		}
		start = end + 1
	}
	return nil
}

// nextSet returns the first candidate in seq..end, all in one chunk, or end+1.
func nextSet(may *[chunkWords]uint64, seq, end uint64) uint64 {
	for seq <= end {
		word := may[seq%chunkRecords/64] >> (seq % 64)
		if word != 0 {
			return min(seq+uint64(bits.TrailingZeros64(word)), end+1)
		}
		seq = seq - seq%64 + 64
	}
	return end + 1
}
