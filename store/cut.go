package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math"
	"os"
)

// The meta page of bbolt, of which a file begins with two: see its package common.
const (
	metaMagic   = 0xED0CDAED
	metaAt      = 16 // behind the page's head
	metaPages   = metaAt + 40
	metaTx      = metaAt + 48
	metaSum     = metaAt + 56
	metaEnd     = metaSum + 8
	metaPageLen = metaAt + 8
)

// checkNotCut refuses a file that is shorter than its newest meta page says: to read
// what is missing is a fault of memory, which ends the program when it happens on a
// goroutine of bbolt. What has no meta page is left to bbolt to name.
func checkNotCut(path string) error {
	f, err := openPrivate(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var newest, length uint64
	for _, at := range []int64{0, int64(os.Getpagesize())} {
		page := make([]byte, metaEnd)
		if _, err := f.ReadAt(page, at); err != nil {
			break // bbolt says that it is too small
		}
		if tx, n, ok := readMeta(page); ok && tx >= newest {
			newest, length = tx, n
		}
	}
	if uint64(info.Size()) < length {
		return fmt.Errorf("%w: the file is cut short: it has %d bytes of %d", ErrDamaged, info.Size(), length)
	}
	return nil
}

// contentLength returns how many bytes a file with this beginning had at most when it
// was written last; 0 if it is none of bbolt's.
func contentLength(head []byte) int64 {
	var most uint64
	for at := 0; at+metaEnd <= len(head); at = max(2*at, 1<<10) { // the second meta page begins where the first ends
		if _, n, ok := readMeta(head[at:]); ok && n < math.MaxInt64/4 {
			most = max(most, n)
		}
	}
	return int64(most)
}

// readMeta returns the transaction that has written a meta page, and how many bytes
// the file had then.
func readMeta(page []byte) (tx, length uint64, ok bool) {
	sum := fnv.New64a()
	_, _ = sum.Write(page[metaAt:metaSum]) // never fails
	if binary.NativeEndian.Uint32(page[metaAt:]) != metaMagic || binary.NativeEndian.Uint64(page[metaSum:]) != sum.Sum64() {
		return 0, 0, false
	}
	size := uint64(binary.NativeEndian.Uint32(page[metaPageLen:]))
	return binary.NativeEndian.Uint64(page[metaTx:]), binary.NativeEndian.Uint64(page[metaPages:]) * size, true
}
