package boltfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"os"
)

// The layout of bbolt's pages, as far as reading a damaged file needs it: a page
// begins with its number, its kind, the number of its elements and how many
// further pages it takes. An element of a leaf says where its key lies, counted
// from the element, and how long key and value are; one of a branch where its key lies
// and the page below. The value of a bucket is the page where it begins, 0 if it
// follows, and a counter. Numbers are in the order of the machine, which is little
// endian wherever this program is built for.
const (
	pageHead     = 16
	branchKind   = 0x01
	leafKind     = 0x02
	elementSize  = 16
	bucketFlag   = 0x01
	bucketHead   = 16
	maxPageBytes = 64 << 20
	maxDepth     = 64
)

// Entry is an entry as it stands in the file, unchecked.
type Entry struct {
	Key    []byte
	Stored []byte // the value, and the checksum where there is one
	Offset int64  // of Stored
}

// Pages reads a file page by page, without bbolt, which damage could lead in circles or to
// addresses outside of the file.
type Pages struct {
	file io.ReaderAt
	size int64 // of a page
}

// ReadPages returns the pages of a file.
func ReadPages(file io.ReaderAt) *Pages { return &Pages{file, int64(os.Getpagesize())} }

// page returns a page, as far as the file has it. It is nil if there is no valid page: one
// that begins with its own number.
func (p *Pages) page(id uint64) ([]byte, error) {
	if id > 1<<48 {
		return nil, nil
	}
	offset := int64(id) * p.size
	head := make([]byte, p.size)
	n, err := p.file.ReadAt(head, offset)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if n < pageHead || binary.LittleEndian.Uint64(head) != id {
		return nil, nil
	}
	length := (1 + int64(binary.LittleEndian.Uint32(head[12:]))) * p.size
	if length == p.size {
		return head[:n], nil
	}
	if length > maxPageBytes {
		return nil, nil
	}
	whole := make([]byte, length)
	n, err = p.file.ReadAt(whole, offset)
	if err == io.EOF {
		err = nil
	}
	return whole[:n], err
}

func kindOf(page []byte) uint16 { return binary.LittleEndian.Uint16(page[8:]) }
func countOf(page []byte) int   { return int(binary.LittleEndian.Uint16(page[10:])) }

// leafElements returns the elements of a leaf that begins at offset; sound reports
// whether all of them lie in it, in order.
func leafElements(page []byte, offset int64) (entries, buckets []Entry, sound bool) {
	sound = true
	var before []byte
	for i := range countOf(page) {
		at := pageHead + i*elementSize
		if at+elementSize > len(page) {
			return entries, buckets, false
		}
		e := page[at:]
		key := uint64(at) + uint64(binary.LittleEndian.Uint32(e[4:]))
		value := key + uint64(binary.LittleEndian.Uint32(e[8:]))
		end := value + uint64(binary.LittleEndian.Uint32(e[12:]))
		if end > uint64(len(page)) {
			sound = false
			continue
		}
		entry := Entry{page[key:value:value], page[value:end:end], offset + int64(value)}
		if i > 0 && bytes.Compare(before, entry.Key) >= 0 {
			sound = false
		}
		before = entry.Key
		if binary.LittleEndian.Uint32(e)&bucketFlag != 0 {
			buckets = append(buckets, entry)
		} else {
			entries = append(entries, entry)
		}
	}
	return entries, buckets, sound
}

// Each calls fn for the entries of every page that looks like a leaf, in use or not, in
// the order of the file.
//
// Errors: the cause of ctx; those of reading and of fn.
func (p *Pages) Each(ctx context.Context, fn func([]Entry) error) error {
	head := make([]byte, pageHead)
	for id := uint64(2); ; id++ { // two meta pages come first
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if n, err := p.file.ReadAt(head, int64(id)*p.size); n < pageHead {
			if err == io.EOF {
				return nil
			}
			return err
		}
		if binary.LittleEndian.Uint64(head) != id || kindOf(head) != leafKind {
			continue
		}
		page, err := p.page(id)
		if err != nil {
			return err
		}
		if page == nil {
			continue
		}
		if err := eachLeaf(page, int64(id)*p.size, fn); err != nil {
			return err
		}
	}
}

func eachLeaf(page []byte, offset int64, fn func([]Entry) error) error {
	entries, buckets, _ := leafElements(page, offset)
	if err := fn(entries); err != nil {
		return err
	}
	for _, b := range buckets {
		if len(b.Stored) < bucketHead+pageHead || binary.LittleEndian.Uint64(b.Stored) != 0 {
			continue
		}
		inner, _, _ := leafElements(b.Stored[bucketHead:], b.Offset+bucketHead)
		if err := fn(inner); err != nil {
			return err
		}
	}
	return nil
}

// walk is one traversal of the tree of a file, in which no page is visited twice.
type walk struct {
	*Pages
	ctx   context.Context
	seen  map[uint64]bool
	sound bool
	again bool // a page was met twice
	want  func(bucket []byte) bool
	fn    func(bucket []byte, entries []Entry) error
}

// Walk calls fn for the entries of the leaves in use of the buckets that are wanted, in
// the order of their keys; for an empty bucket once, without entries. root is the page of
// the buckets. It reports whether every page on the way was sound.
//
// Errors: the cause of ctx; those of reading and of fn.
func (p *Pages) Walk(ctx context.Context, root uint64, want func(bucket []byte) bool, fn func(bucket []byte, entries []Entry) error) (sound bool, err error) {
	w := &walk{Pages: p, ctx: ctx, seen: map[uint64]bool{}, sound: true, want: want, fn: fn}
	err = w.tree(root, 0, func(page []byte, offset int64) error {
		entries, buckets, ok := leafElements(page, offset)
		w.sound = w.sound && ok && len(entries) == 0
		for _, b := range buckets {
			if err := w.bucket(b); err != nil {
				return err
			}
		}
		return nil
	})
	return w.sound, err
}

func (w *walk) bucket(b Entry) error {
	if !w.want(b.Key) {
		return nil
	}
	if len(b.Stored) < bucketHead {
		w.sound = false
		return nil
	}
	root := binary.LittleEndian.Uint64(b.Stored)
	leaf := func(page []byte, offset int64) error {
		entries, buckets, ok := leafElements(page, offset)
		w.sound = w.sound && ok && len(buckets) == 0
		return w.fn(b.Key, entries)
	}
	if root != 0 {
		return w.tree(root, 0, leaf)
	}
	if len(b.Stored) < bucketHead+pageHead {
		w.sound = false
		return nil
	}
	return leaf(b.Stored[bucketHead:], b.Offset+bucketHead)
}

// tree calls leaf for the leaves at and below a page.
func (w *walk) tree(id uint64, depth int, leaf func(page []byte, offset int64) error) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if w.seen[id] || depth > maxDepth {
		w.sound, w.again = false, true
		return nil
	}
	w.seen[id] = true
	page, err := w.page(id)
	if err != nil {
		return err
	}
	switch {
	case page == nil || countOf(page) == 0 && depth > 0:
		w.sound = false
		return nil
	case kindOf(page) == leafKind:
		return leaf(page, int64(id)*w.size)
	case kindOf(page) != branchKind:
		w.sound = false
		return nil
	}
	for i := range countOf(page) {
		at := pageHead + i*elementSize
		if at+elementSize > len(page) {
			w.sound = false
			return nil
		}
		if err := w.tree(binary.LittleEndian.Uint64(page[at+8:]), depth+1, leaf); err != nil {
			return err
		}
	}
	return nil
}

// Shape counts the entries of a bucket, page by page in the file that is open, without
// bbolt, which damage could lead in circles. sound reports whether every page on the way
// was; circular whether one was met twice.
//
// Errors: [ErrDamaged] if there is no such bucket; the cause of ctx; those of reading.
func (b Bucket) Shape(ctx context.Context, file io.ReaderAt) (entries uint64, sound, circular bool, err error) {
	if err := b.missing(); err != nil {
		return 0, false, false, err
	}
	root := uint64(b.b.RootPage())
	if root == 0 { // within the page of the buckets
		err := b.Each(func(_, _ []byte) error { entries++; return nil })
		return entries, err == nil, false, err
	}
	w := &walk{Pages: ReadPages(file), ctx: ctx, seen: map[uint64]bool{}, sound: true}
	err = w.tree(root, 0, func(page []byte, offset int64) error {
		have, buckets, ok := leafElements(page, offset)
		entries += uint64(len(have))
		w.sound = w.sound && ok && len(buckets) == 0
		return nil
	})
	return entries, w.sound, w.again, err
}

// Layout is what a file says of its entries.
type Layout struct {
	Version uint64 // 0: it does not say
	tallies []*tally
}

// Layout reads what the file says of its entries, as far as it can be read. root is the
// page of the buckets.
//
// Errors: [ErrUnreleased]; the cause of ctx; those of reading.
func (p *Pages) Layout(ctx context.Context, root uint64) (l Layout, err error) {
	var version uint64
	before := uint64(maxVersion + 1)
	isMeta := func(bucket []byte) bool { return bytes.Equal(bucket, Meta) }
	_, err = p.Walk(ctx, root, isMeta, func(_ []byte, entries []Entry) error {
		for _, e := range entries {
			switch {
			case bytes.Equal(e.Key, keyLayout):
				version = versionIn(e.Stored)
			case bytes.Equal(e.Key, keyUnreleased):
				before = versionIn(e.Stored)
			}
			l.Look(e)
		}
		return nil
	})
	switch {
	case l.Version == 0 && version == 0 && before <= maxVersion && err == nil:
		err = unreleased(before)
	case l.Version == 0 && version > Newest && version <= maxVersion:
		l.Version = version
	}
	return l, err
}

// Look takes over what an entry says of the file, if it is an entry about the file and newer
// than the last one seen.
func (l *Layout) Look(e Entry) {
	if !bytes.Equal(e.Key, keyTallies) {
		return
	}
	content, err := Open(Meta, keyTallies, e.Stored)
	if err != nil {
		return
	}
	version, _ := binary.Uvarint(content)
	tallies, err := parseTallies(bytes.Clone(content))
	if err != nil {
		return
	}
	next := Layout{version, tallies}
	if l.tallies == nil || next.age() >= l.age() {
		*l = next
	}
}

// age orders what one file has said of itself: counters only grow.
func (l *Layout) age() (n uint64) {
	for _, y := range l.tallies {
		n += y.counter
	}
	return n
}

// Tally is what a file says of a bucket.
type Tally struct {
	Entries uint64
	Sums    uint32 // of all entries, combined by exclusive or; see [EntrySum]
	Counter uint64
}

// Tally returns what the file says of a bucket; known is false if it does not.
func (l *Layout) Tally(bucket []byte) (of Tally, known bool) {
	for _, y := range l.tallies {
		if bytes.Equal(y.name, bucket) {
			return Tally{y.entries, y.sums, y.counter}, true
		}
	}
	return Tally{}, false
}
