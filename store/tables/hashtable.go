// Finds the sequence numbers of records by hashes of their identities,
// in little memory.

package tables

// HashTable maps 64-bit hashes to the sequence numbers of the records that have them, in
// some twelve bytes each: a slot holds half of the hash and half of the number. What
// it finds is therefore only likely to be right, and is compared with the record.
// The sequence numbers that are in it must lie within 2^32 of each other.
//
// It is open addressing with linear probing in many small parts, of which each grows
// by a quarter on its own: there is no long pause, and never much empty room.
type HashTable struct {
	parts  [tableParts]part
	newest uint64 // the largest number that was ever in it
}

const (
	tableParts = 1 << 10
	partSlots  = 8 // of a part that has its first entry
)

// part holds the hashes with the same first ten bits. Its slots are nil while it
// is empty.
type part struct {
	slots []slot
	used  int
}

// slot is empty when its mark is 0.
type slot struct {
	mark uint32 // of the hash, never 0
	seq  uint32 // the lower half of the number
}

// NewHashTable returns a table with room for size entries.
func NewHashTable(size int) *HashTable {
	t := &HashTable{}
	if each := size / tableParts; each > 0 {
		for i := range t.parts {
			t.parts[i].slots = make([]slot, each+each*2/5+partSlots)
		}
	}
	return t
}

func (t *HashTable) part(hash uint64) *part { return &t.parts[hash>>54] }

func markOf(hash uint64) uint32 { return max(uint32(hash), 1) }

// home is where the search for a mark begins.
func (p *part) home(mark uint32) int { return int(uint64(mark) * uint64(len(p.slots)) >> 32) }

func (p *part) next(i int) int {
	if i++; i < len(p.slots) {
		return i
	}
	return 0
}

// Insert adds an entry; the same one may be there several times.
func (t *HashTable) Insert(hash, seq uint64) {
	t.newest = max(t.newest, seq)
	p := t.part(hash)
	if 4*(p.used+1) > 3*len(p.slots) {
		p.grow()
	}
	p.put(slot{markOf(hash), uint32(seq)})
	p.used++
}

func (p *part) put(s slot) {
	i := p.home(s.mark)
	for p.slots[i].mark != 0 {
		i = p.next(i)
	}
	p.slots[i] = s
}

func (p *part) grow() {
	old := p.slots
	p.slots = make([]slot, max(partSlots, len(old)+len(old)/4))
	for _, s := range old {
		if s.mark != 0 {
			p.put(s)
		}
	}
}

// Remove takes out one entry with this hash and number, if there is one.
func (t *HashTable) Remove(hash, seq uint64) {
	p := t.part(hash)
	want := slot{markOf(hash), uint32(seq)}
	if p.used == 0 {
		return
	}
	i := p.home(want.mark)
	for p.slots[i] != want {
		if p.slots[i].mark == 0 {
			return
		}
		i = p.next(i)
	}
	p.used--
	// What comes behind it moves up, as far as it may: no empty slot may lie between
	// an entry and its home.
	for j := p.next(i); p.slots[j].mark != 0; j = p.next(j) {
		home := p.home(p.slots[j].mark)
		if between := i < j && i < home && home <= j || i > j && (home > i || home <= j); !between {
			p.slots[i] = p.slots[j]
			i = j
		}
	}
	p.slots[i] = slot{}
}

// Len counts the entries.
func (t *HashTable) Len() int {
	n := 0
	for i := range t.parts {
		n += t.parts[i].used
	}
	return n
}

// Find appends the sequence numbers that may have the hash to seqs.
func (t *HashTable) Find(seqs []uint64, hash uint64) []uint64 {
	p := t.part(hash)
	if p.used == 0 {
		return seqs
	}
	mark := markOf(hash)
	for i := p.home(mark); p.slots[i].mark != 0; i = p.next(i) {
		if s := p.slots[i]; s.mark == mark {
			seqs = append(seqs, t.newest-uint64(uint32(t.newest)-s.seq))
		}
	}
	return seqs
}
