package boltfile

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// SumSize is the size of a checksum in bytes.
const SumSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum is the checksum of a value alone, which [Bucket.Append] completes.
func Sum(value []byte) uint32 { return crc32.Update(0, castagnoli, value) }

// finish completes the checksum of a value to that of its entry.
func finish(sum uint32, name, key []byte) uint32 {
	return crc32.Update(crc32.Update(sum, castagnoli, key), castagnoli, name)
}

// EntrySum is the checksum of an entry.
func EntrySum(bucket, key, value []byte) uint32 { return finish(Sum(value), bucket, key) }

// withSum returns the stored form of a value, and its checksum.
func withSum(name, key, value []byte) (stored []byte, sum uint32) {
	sum = finish(Sum(value), name, key)
	stored = make([]byte, 0, len(value)+SumSize)
	return binary.LittleEndian.AppendUint32(append(stored, value...), sum), sum
}

// Open returns the value of a stored entry whose checksum matches.
//
// Error: [ErrDamaged].
func Open(bucket, key, stored []byte) ([]byte, error) {
	n := len(stored) - SumSize
	if n < 0 || binary.LittleEndian.Uint32(stored[n:]) != finish(Sum(stored[:n]), bucket, key) {
		return nil, damaged(bucket, key, "its checksum is wrong")
	}
	return stored[:n:n], nil
}

// damaged returns the error for an entry; what says what is wrong with it.
func damaged(name, key []byte, what string) error {
	if len(key) == 8 {
		return fmt.Errorf("%w: %s %d: %s", ErrDamaged, name, binary.BigEndian.Uint64(key), what)
	}
	return fmt.Errorf("%w: %s %q: %s", ErrDamaged, name, key, what)
}
