package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
)

// maxFindings bounds what one check reports.
const maxFindings = 20

// Check reads the whole store in dir and calls say for what is wrong with it, at
// most 20 times. Nobody may have the store open. A file whose pages make no sense
// may end the process: run it in one of its own.
//
// Errors: [ErrLocked]; [ErrForeign]; [ErrDamaged] when something is wrong; those of ctx and of
// the file system.
func Check(ctx context.Context, dir string, say func(string)) error {
	path := filepath.Join(dir, fileDB)
	if err := checkNotEmptied(path); err != nil {
		return fmt.Errorf("check the store: %w", err)
	}
	if err := checkDB(ctx, path, say); err != nil {
		return fmt.Errorf("check the store: %w", err)
	}
	return nil
}

func checkDB(ctx context.Context, path string, say func(string)) error {
	db, err := openReadOnly(filepath.Split(path))
	if err != nil {
		return err
	}
	k := &checker{say: say}
	err = guard(nil, func() error { return db.View(func(tx *bolt.Tx) error { return k.check(ctx, tx) }) })
	switch err = errors.Join(err, db.Close()); {
	case errors.Is(err, ErrForeign):
		return misplaced(path, ErrForeign)
	case err != nil:
		return err
	case k.wrong > 0:
		return &fileError{path, fmt.Errorf("%w: %s", ErrDamaged, event.Some(k.wrong, "finding", "findings")), "`eventdeck store recover` keeps what can be read"}
	}
	return nil
}

// openReadOnly opens a database file of dir without changing anything.
func openReadOnly(dir, name string) (*bolt.DB, error) {
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err // bbolt would make it
	}
	if info.Mode().IsRegular() && info.Size() == 0 {
		return nil, &fileError{path, fmt.Errorf("%w: the file is empty", ErrDamaged), damageAdvice}
	}
	return openBolt(path, &bolt.Options{ReadOnly: true})
}

type checker struct {
	say   func(string)
	wrong int
}

func (k *checker) found(format string, args ...any) {
	k.wrong++
	if k.wrong <= maxFindings {
		k.say(fmt.Sprintf(format, args...))
	}
}

func (k *checker) check(ctx context.Context, tx *bolt.Tx) error {
	for err := range tx.Check() {
		k.found("page: %v", err)
	}
	if k.wrong > 0 {
		return nil // what pages hold that make no sense says nothing
	}
	if _, err := versionOf(tx); errors.Is(err, ErrForeign) {
		return err
	}
	if !k.tables(tx) {
		return nil
	}
	bySub, records, err := k.records(ctx, tx)
	if err != nil {
		return err
	}
	k.usage(tx, bySub)
	k.hashes(tx)
	if err := k.small(tx); err != nil {
		return err
	}
	k.say(fmt.Sprintf("%s of %s, %d bytes", event.Some(records, "record", "records"), event.Some(len(bySub), "subscription", "subscriptions"), tx.Size()))
	return nil
}

// tables reports whether the file has all that this program's version has.
func (k *checker) tables(tx *bolt.Tx) bool {
	have, err := versionOf(tx)
	switch {
	case err != nil:
		k.found("%v", err)
	case have > schemaVersion:
		k.found("%v: its layout has version %d", ErrNewer, have)
	case have < schemaVersion:
		k.say(fmt.Sprintf("its layout has version %d; the pages are sound, and what they hold is checked after this program has opened it once", have))
		return false
	}
	for _, name := range tables {
		if tx.Bucket(name) == nil {
			k.found("the table %s is missing", name)
		}
	}
	return k.wrong == 0
}

// records decodes every record.
func (k *checker) records(ctx context.Context, tx *bolt.Tx) (bySub map[event.SubID]usage, n int, err error) {
	bySub = map[event.SubID]usage{}
	b := tx.Bucket(bucketEvents)
	cur := b.Cursor()
	last := uint64(0)
	for key, v := cur.First(); key != nil; key, v = cur.Next() {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return nil, n, context.Cause(ctx)
		}
		if len(key) != 8 {
			k.found("a record has the key %x", key)
			continue
		}
		last = binary.BigEndian.Uint64(key)
		r, err := decodeRecord(last, v)
		if err != nil {
			k.found("record %d: %v", last, err)
			continue
		}
		bySub[r.Sub] = bySub[r.Sub].plus(usage{1, recordSize(v)})
	}
	if last > b.Sequence() {
		k.found("record %d is newer than the last number given, %d", last, b.Sequence())
	}
	return bySub, n, nil
}

func (k *checker) usage(tx *bolt.Tx, counted map[event.SubID]usage) {
	_, noted, err := loadUsage(tx)
	if err != nil {
		k.found("%v", err)
		return
	}
	for sub, u := range counted {
		if noted[sub] != u {
			k.found("subscription %s has %s of %s, and %d of %d are noted", sub, event.Some(u.records, "record", "records"), event.Some(u.bytes, "byte", "bytes"), noted[sub].records, noted[sub].bytes)
		}
	}
	for sub := range noted {
		if _, ok := counted[sub]; !ok {
			k.found("records of subscription %s are noted, and there are none", sub)
		}
	}
}

func (k *checker) hashes(tx *bolt.Tx) {
	if _, err := loadIndex(tx); err != nil {
		k.found("%v", err)
	}
	cur := tx.Bucket(bucketGone).Cursor()
	for key, v := cur.First(); key != nil; key, v = cur.Next() {
		if _, err := newVictim(key, v); err != nil {
			k.found("identity of a pruned record: %v", err)
		}
	}
}

// small looks at the subscriptions and the tables in JSON. What is sealed is not
// opened: the key is not needed here.
func (k *checker) small(tx *bolt.Tx) error {
	sealed, err := newSealer(make([]byte, 32), nil) // opens nothing
	if err != nil {
		return err
	}
	err = tx.Bucket(bucketSubs).ForEach(func(id, v []byte) error {
		if _, err := decodeSub(event.SubID(id), v, sealed); err != nil {
			k.found("subscription %s: %v", id, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range [][]byte{bucketServers, bucketRefusals, bucketEnded} {
		err := tx.Bucket(name).ForEach(func(key, v []byte) error {
			if !json.Valid(v) {
				k.found("%s: the entry %q cannot be read", name, key)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
