package store

import (
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

const recoverAdvice = "`eventdeck store check` tells more, `eventdeck store recover` keeps what can be read"

// quickCheck looks at what tells most about a file in well under a millisecond: are
// all tables there, can the newest record be read, does its number fit the next one.
//
// Error: [ErrDamaged].
func quickCheck(tx *bolt.Tx) error {
	for _, name := range tables {
		if tx.Bucket(name) == nil {
			return fmt.Errorf("%w: the table %s is missing; %s", ErrDamaged, name, recoverAdvice)
		}
	}
	events := tx.Bucket(bucketEvents)
	key, value := events.Cursor().Last()
	if key == nil {
		return nil
	}
	if len(key) != 8 {
		return fmt.Errorf("%w: a record has the key %x; %s", ErrDamaged, key, recoverAdvice)
	}
	seq := binary.BigEndian.Uint64(key)
	if seq > events.Sequence() {
		return fmt.Errorf("%w: record %d is newer than the last number given, %d; %s", ErrDamaged, seq, events.Sequence(), recoverAdvice)
	}
	if _, err := decodeRecord(seq, value); err != nil {
		return fmt.Errorf("%w: the newest record, %d: %w; %s", ErrDamaged, seq, err, recoverAdvice)
	}
	return nil
}
