package filter

import (
	"math/bits"
	"strconv"
	"unicode/utf8"

	"eventdeck/host/event"
	"eventdeck/host/internal/jsontext"
)

// Index finds, among items with filters, those whose filter may match a record. If several
// filters demand a value of one path, it reads that path once and looks up the filters by
// its value, so that the others need not be tried. It is immutable: any number of
// goroutines may use it.
type Index[T any] struct {
	items  []T
	always places // the items that are candidates for every record
	paths  []*pathIndex
}

// pathIndex finds items by the value that their filters demand at a path.
type pathIndex struct {
	path    []segment
	byKey   map[string]places
	longest int // longest key, in bytes
}

// NewIndex makes an index of items. filterOf returns the filter of an item.
func NewIndex[T any](items []T, filterOf func(T) *Filter) *Index[T] {
	x := &Index[T]{items: items, always: newPlaces(len(items))}
	byPath, byValue := map[string]int{}, map[string]int{} // number of filters that demand it
	for _, item := range items {
		for _, d := range filterOf(item).Demands() {
			byPath[d.Path.String()]++
			byValue[d.value()]++
		}
	}
	paths := map[string]*pathIndex{}
	for i, item := range items {
		var best *Demand // the one that the fewest filters have
		for _, d := range filterOf(item).Demands() {
			if byPath[d.Path.String()] == 1 { // reading the path is no cheaper than trying the filter
				continue
			}
			if best == nil || byValue[d.value()] < byValue[best.value()] {
				best = &d
			}
		}
		if best == nil {
			x.always.add(i)
			continue
		}
		p := paths[best.Path.String()]
		if p == nil {
			p = &pathIndex{path: best.Path.path, byKey: map[string]places{}}
			paths[best.Path.String()] = p
			x.paths = append(x.paths, p)
		}
		p.add(best.key(), i, len(items))
	}
	return x
}

// Candidates appends to out, in the order of the items, all whose filter may match the
// record; no other one matches. Apart from out it allocates only for values that are long
// or have escapes. It does not keep r.
func (x *Index[T]) Candidates(r *event.Record, out []T) []T {
	var room [4]uint64
	found := append(places(room[:0]), x.always...)
	data := jsontext.View(r.Data)
	if start := jsontext.SkipSpace(data, 0); start < len(data) {
		for _, p := range x.paths {
			p.find(data, start, found)
		}
	}
	for i, word := range found {
		for ; word != 0; word &= word - 1 {
			out = append(out, x.items[i*64+bits.TrailingZeros64(word)])
		}
	}
	return out
}

func (p *pathIndex) add(key string, i, of int) {
	if p.byKey[key] == nil {
		p.byKey[key] = newPlaces(of)
	}
	p.byKey[key].add(i)
	p.longest = max(p.longest, len(key))
}

// find adds the items that demand a value of the payload at data[start:].
func (p *pathIndex) find(data string, start int, found places) {
	var room [128]byte
	anyAt(data, start, len(data), p.path, false, 0, func(value string) bool {
		key := appendKey(room[:0], textOf(value), p.longest)
		found.addAll(p.byKey[string(key)])
		return false // there may be more
	})
}

// value returns a key of the demand, equal for demands that an index cannot distinguish.
func (d Demand) value() string { return d.Path.String() + "=" + d.key() }

func (d Demand) key() string {
	return string(appendKey(nil, d.Wants, len(d.Wants)*utf8.UTFMax))
}

// appendKey appends a key that is the same for texts that = treats as equal: the float
// value of a number, the folded letters of another text. Different texts may share a key. A
// key of more than most bytes is left incomplete.
func appendKey(key []byte, text string, most int) []byte {
	if number(text) {
		value, _ := strconv.ParseFloat(text, 64) // infinite beyond a float's range, as for compareNumbers
		if value == 0 {
			value = 0 // not -0
		}
		return strconv.AppendFloat(key, value, 'g', -1, 64)
	}
	for _, r := range text {
		if len(key) > most {
			break
		}
		key = utf8.AppendRune(key, lowerRune(r))
	}
	return key
}

// places is a set of indexes of a list, one bit each.
type places []uint64

func newPlaces(of int) places { return make(places, (of+63)/64) }

func (p places) add(i int) { p[i/64] |= 1 << (i % 64) }

// addAll adds others, which may be nil.
func (p places) addAll(others places) {
	for i, word := range others {
		p[i] |= word
	}
}
