package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
)

// The layout of bbolt's pages, as far as the search for records needs it: a page
// begins with its number, its kind, the number of its elements and how many
// further pages it takes; an element of a leaf says where its key lies, counted
// from the element, and how long key and value are. The value of a table is the
// page where it begins, 0 if it follows, and a counter. Numbers are in the order of
// the machine, which is little endian wherever this program is built for.
const (
	pageHead     = 16
	leafKind     = 0x02
	leafElement  = 16
	tableFlag    = 0x01
	tableHead    = 16
	maxPageBytes = 64 << 20
)

// pages are the records in a database file, found without following its tree: a
// tree that is damaged can lead in circles.
type pages struct {
	file  *os.File
	at    map[uint64]place
	twice map[uint64]struct{} // numbers with two different records: neither is trusted
}

// place is where a record's value lies in the file.
type place struct {
	offset int64
	length uint32
}

// span is a range of sequence numbers, both ends included.
type span struct{ first, last uint64 }

func (s span) String() string {
	switch {
	case s.last == math.MaxUint64:
		return fmt.Sprintf("%d and later", s.first)
	case s.first == s.last:
		return fmt.Sprint(s.first)
	}
	return fmt.Sprintf("%d to %d", s.first, s.last)
}

// readPages looks for records in all pages of the file. Records that were removed
// and whose pages were not used again are found too.
func readPages(ctx context.Context, path string) (*pages, error) {
	f, err := openPrivate(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	p := &pages{file: f, at: map[uint64]place{}, twice: map[uint64]struct{}{}}
	if err := p.read(ctx); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *pages) close() { _ = p.file.Close() } // it was only read

func (p *pages) read(ctx context.Context) error {
	size := int64(os.Getpagesize())
	buf := make([]byte, size)
	for offset := 2 * size; ; { // two meta pages come first
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := p.file.ReadAt(buf[:size], offset)
		if n < pageHead {
			if err == io.EOF {
				return nil
			}
			return err
		}
		head := buf[:n]
		further := int64(binary.LittleEndian.Uint32(head[12:]))
		leaf := binary.LittleEndian.Uint64(head) == uint64(offset/size) && binary.LittleEndian.Uint16(head[8:]) == leafKind
		step := size
		if leaf && (further+1)*size <= maxPageBytes {
			whole := make([]byte, (further+1)*size)
			n, err := p.file.ReadAt(whole, offset)
			if err != nil && err != io.EOF {
				return err
			}
			if p.leaf(whole[:n], offset, false) {
				step = (further + 1) * size
			}
		}
		offset += step
	}
}

// leaf takes the records of a page and reports whether there were any. A small
// table lies in the page of the tables itself.
func (p *pages) leaf(page []byte, offset int64, nested bool) (any bool) {
	if len(page) < pageHead {
		return false
	}
	count := int(binary.LittleEndian.Uint16(page[10:]))
	for i := range count {
		at := pageHead + i*leafElement
		if at+leafElement > len(page) {
			return any
		}
		e := page[at:]
		flags, pos := binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint32(e[4:])
		klen, vlen := binary.LittleEndian.Uint32(e[8:]), binary.LittleEndian.Uint32(e[12:])
		key := uint64(at) + uint64(pos)
		value := key + uint64(klen)
		if value+uint64(vlen) > uint64(len(page)) {
			continue
		}
		place := place{offset + int64(value), vlen}
		switch content := page[value:][:vlen]; {
		case flags == tableFlag && !nested && vlen >= tableHead && binary.LittleEndian.Uint64(content) == 0:
			any = p.leaf(content[tableHead:], place.offset+tableHead, true) || any
		case flags == 0 && klen == 8 && p.record(binary.BigEndian.Uint64(page[key:]), content, place):
			any = true
		}
	}
	return any
}

// record takes what is a record. The identities of pruned ones are stored in the
// same way, but without a server.
func (p *pages) record(seq uint64, value []byte, at place) bool {
	r, err := decodeRecord(seq, value)
	if err != nil || seq == 0 || r.Server == "" {
		return false
	}
	p.found(seq, value, at)
	return true
}

func (p *pages) found(seq uint64, value []byte, at place) {
	have, known := p.at[seq]
	if !known {
		p.at[seq] = at
		return
	}
	if first, err := p.value(have); err != nil || !bytes.Equal(first, value) {
		p.twice[seq] = struct{}{}
	}
}

func (p *pages) value(at place) ([]byte, error) {
	value := make([]byte, at.length)
	_, err := p.file.ReadAt(value, at.offset)
	return value, err
}

// missing returns which numbers between the first record and the last number
// that was given have no record. Without any everything is missing.
func (p *pages) missing(last uint64) []span {
	if p == nil || len(p.at) == 0 {
		return []span{{1, math.MaxUint64}}
	}
	var lost []span
	at := uint64(0)
	for _, seq := range p.numbers() {
		if at > 0 && seq > at+1 {
			lost = append(lost, span{at + 1, seq - 1})
		}
		at = seq
	}
	if at < last {
		lost = append(lost, span{at + 1, last})
	}
	return lost
}

// numbers are those of the records that are trusted, in order.
func (p *pages) numbers() []uint64 {
	var seqs []uint64
	for _, seq := range slices.Sorted(maps.Keys(p.at)) {
		if _, unsure := p.twice[seq]; !unsure {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}

// each calls fn for the records, in order.
func (p *pages) each(ctx context.Context, fn func(seq uint64, value []byte) error) error {
	if p == nil {
		return nil
	}
	for _, seq := range p.numbers() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		value, err := p.value(p.at[seq])
		if err != nil {
			return err
		}
		if err := fn(seq, value); err != nil {
			return err
		}
	}
	return nil
}
