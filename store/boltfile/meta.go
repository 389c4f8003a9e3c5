package boltfile

import (
	"encoding/binary"
	"hash/fnv"
	"io"
	"math"
	"os"
)

// The meta page of bbolt, of which a file begins with two: see its package common.
const (
	metaMagic   = 0xED0CDAED
	metaAt      = 16 // behind the page's head
	metaRoot    = metaAt + 16
	metaCount   = metaAt + 40
	metaTx      = metaAt + 48
	metaSum     = metaAt + 56
	metaEnd     = metaSum + 8
	metaPageLen = metaAt + 8
)

// MetaPage is what a meta page says.
type MetaPage struct {
	Tx     uint64 // the transaction that has written it
	Root   uint64 // the page of the buckets
	Length uint64 // of the file, in bytes
}

// MetaPages returns the newest meta page, and how many of the two are sound. bbolt silently
// goes on with the older one when the newer one is damaged. A file that is too short has none.
//
// Errors: those of reading.
func MetaPages(f io.ReaderAt) (newest MetaPage, sound int, err error) {
	for _, at := range []int64{0, int64(os.Getpagesize())} {
		page := make([]byte, metaEnd)
		if _, err := f.ReadAt(page, at); err == io.EOF {
			break // bbolt says that it is too small
		} else if err != nil {
			return newest, sound, err
		}
		if m, ok := readMeta(page); ok {
			sound++
			if m.Tx >= newest.Tx {
				newest = m
			}
		}
	}
	return newest, sound, nil
}

// ContentLength returns how many bytes a file with this beginning had at most when it
// was written last; 0 if it is none of bbolt's.
func ContentLength(head []byte) int64 {
	var most uint64
	for at := 0; at+metaEnd <= len(head); at = max(2*at, 1<<10) { // the second meta page begins where the first ends
		if m, ok := readMeta(head[at:]); ok && m.Length < math.MaxInt64/4 {
			most = max(most, m.Length)
		}
	}
	return int64(most)
}

// readMeta reads a meta page; ok is false if it is none or damaged.
func readMeta(page []byte) (m MetaPage, ok bool) {
	sum := fnv.New64a()
	_, _ = sum.Write(page[metaAt:metaSum]) // never fails
	if binary.NativeEndian.Uint32(page[metaAt:]) != metaMagic || binary.NativeEndian.Uint64(page[metaSum:]) != sum.Sum64() {
		return m, false
	}
	size := uint64(binary.NativeEndian.Uint32(page[metaPageLen:]))
	return MetaPage{
		Tx:     binary.NativeEndian.Uint64(page[metaTx:]),
		Root:   binary.NativeEndian.Uint64(page[metaRoot:]),
		Length: binary.NativeEndian.Uint64(page[metaCount:]) * size,
	}, true
}
