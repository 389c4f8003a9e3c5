package store

import (
	"encoding/binary"
	"fmt"

	"eventdeck/store/boltfile"
)

const recoverAdvice = "`eventdeck store check` tells more, `eventdeck store recover` keeps what can be read"

// quickCheck looks at what tells most about a file in well under a millisecond: are
// all tables there, can the newest record be read, does its number fit the next one.
//
// Error: [ErrDamaged].
func quickCheck(tx *boltfile.Tx) error {
	for _, name := range tables {
		if !tx.Bucket(name).Exists() {
			return fmt.Errorf("%w: the table %s is missing", ErrDamaged, name)
		}
	}
	events := tx.Bucket(bucketEvents)
	newest := events.Cursor()
	key, value := newest.Last()
	switch {
	case newest.Err() != nil:
		return newest.Err()
	case key == nil && events.Entries() > 0:
		return fmt.Errorf("%w: none of %d records is there", ErrDamaged, events.Entries())
	case key == nil:
		return nil
	}
	if len(key) != 8 {
		return fmt.Errorf("%w: a record has the key %x", ErrDamaged, key)
	}
	seq := binary.BigEndian.Uint64(key)
	if seq > events.Counter() {
		return fmt.Errorf("%w: record %d is newer than the last number given, %d", ErrDamaged, seq, events.Counter())
	}
	if _, err := decodeRecord(seq, value); err != nil {
		return fmt.Errorf("%w: the newest record, %d: %w", ErrDamaged, seq, err)
	}
	return nil
}
