package tables

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
)

// CheckEntry decodes an entry of a table. Sealed values are not opened: that would need the
// key.
//
// Error: [event.ErrDamaged].
func CheckEntry(table, key, value []byte) error {
	var err error
	switch string(table) {
	case string(Events):
		_, err = DecodeRecord(0, value)
	case string(Gone):
		_, err = DecodeRecordHead(value)
	case string(Dedup):
		err = EachHash(value, func(uint64, uint64) {})
	case string(Usage):
		_, err = DecodeUsage(value)
	case string(Subs):
		_, err = ReadSub(event.SubID(key), value)
	case string(Marks), string(Servers), string(Refusals), string(Ended), string(Audit):
		if !json.Valid(value) {
			err = ErrInvalidRecord
		}
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: the entry %s of %s cannot be read: %w", event.ErrDamaged, showKey(key), table, err)
}

func showKey(key []byte) string {
	if len(key) == 8 {
		return fmt.Sprint(binary.BigEndian.Uint64(key))
	}
	return fmt.Sprintf("%q", key)
}

// QuickCheck finds most damage in well under a millisecond: it checks that all tables are
// there, that the newest record can be read, and that its number is at most the last one
// given.
//
// Error: [event.ErrDamaged].
func QuickCheck(tx *boltfile.Tx) error {
	for _, name := range All {
		if !tx.Bucket(name).Exists() {
			return fmt.Errorf("%w: the table %s is missing", event.ErrDamaged, name)
		}
	}
	events := tx.Bucket(Events)
	newest := events.Cursor()
	key, value := newest.Last()
	switch {
	case newest.Err() != nil:
		return newest.Err()
	case key == nil && events.Entries() > 0:
		return fmt.Errorf("%w: none of %d records is there", event.ErrDamaged, events.Entries())
	case key == nil:
		return nil
	}
	if len(key) != 8 {
		return fmt.Errorf("%w: a record has the key %x", event.ErrDamaged, key)
	}
	seq := binary.BigEndian.Uint64(key)
	if seq > events.Counter() {
		return fmt.Errorf("%w: record %d is newer than the last number given, %d", event.ErrDamaged, seq, events.Counter())
	}
	if _, err := DecodeRecord(seq, value); err != nil {
		return fmt.Errorf("%w: the newest record, %d: %w", event.ErrDamaged, seq, err)
	}
	return nil
}

// Identified returns the stored record, or the identity of a pruned one; nil if there is
// neither.
//
// Error: [event.ErrDamaged].
func Identified(events, gone boltfile.Bucket, seq uint64) ([]byte, error) {
	value, err := events.Get(SeqKey(seq))
	if value != nil || err != nil {
		return value, err
	}
	return gone.Get(SeqKey(seq))
}

// PutLag notes in the journal that it may lack acts that were carried out, and why.
//
// Errors: [event.ErrDamaged], those of bbolt.
func PutLag(tx *boltfile.Tx, why string) error {
	return tx.Bucket([]byte(event.TableReact)).Put([]byte(event.KeyLag), []byte(why))
}

// StoredFileID returns the id that the file of a database had when it was open last, "" if
// none is stored; see package datadir.
//
// Errors: those of [boltfile.View].
func StoredFileID(db *bolt.DB) (id string, err error) {
	err = boltfile.View(db, func(tx *boltfile.Tx) error {
		value, err := tx.Bucket(Meta).Get(KeyFileID)
		id = string(value)
		return err
	})
	return id, err
}

// PutFileID stores the id of the database's file.
//
// Errors: [event.ErrDamaged], those of bbolt.
func PutFileID(tx *boltfile.Tx, id string) error {
	return tx.Bucket(Meta).Put(KeyFileID, []byte(id))
}

// Timestamp is a time in JSON that holds every year and every nanosecond.
type Timestamp [2]int64

// Stamp is a time as it is stored.
func Stamp(t time.Time) Timestamp { return Timestamp{t.Unix(), int64(t.Nanosecond())} }

// Time is the reverse of [Stamp], in UTC.
func (t Timestamp) Time() time.Time { return time.Unix(t[0], t[1]).UTC() }
