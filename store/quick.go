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
			return fmt.Errorf("%w: the table %s is missing; %s", ErrDamaged, name, recoverAdvice)
		}
	}
	events := tx.Bucket(bucketEvents)
	newest := events.Cursor()
	key, value := newest.Last()
	switch {
	case newest.Err() != nil:
		return fmt.Errorf("%w; %s", newest.Err(), recoverAdvice)
	case key == nil && events.Entries() > 0:
		return fmt.Errorf("%w: none of %d records is there; %s", ErrDamaged, events.Entries(), recoverAdvice)
	case key == nil:
		return nil
	}
	if len(key) != 8 {
		return fmt.Errorf("%w: a record has the key %x; %s", ErrDamaged, key, recoverAdvice)
	}
	seq := binary.BigEndian.Uint64(key)
	if seq > events.Counter() {
		return fmt.Errorf("%w: record %d is newer than the last number given, %d; %s", ErrDamaged, seq, events.Counter(), recoverAdvice)
	}
	if _, err := decodeRecord(seq, value); err != nil {
		return fmt.Errorf("%w: the newest record, %d: %w; %s", ErrDamaged, seq, err, recoverAdvice)
	}
	return nil
}
