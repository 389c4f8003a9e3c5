package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
)

// maxFindings bounds what one check reports.
const maxFindings = 20

const recoverAdvice = "`eventdeck store check` tells more, `eventdeck store recover` keeps what can be read"

// Check reads the whole store in dir and calls say for what is wrong with it, at
// most 20 times. No process may have the store open. A file whose pages make no sense
// may end the process: run it in one of its own.
//
// Errors: [ErrLocked]; [ErrForeign]; [ErrNewer]; [ErrDamaged] when something is wrong; those of ctx and of
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
	k := &checker{say: say}
	db, err := openReadOnly(filepath.Split(path))
	if err != nil {
		return err
	}
	err = boltfile.Guard(nil, func() error { return k.check(ctx, db) })
	switch err = errors.Join(err, db.Close()); {
	case errors.Is(err, ErrForeign), errors.Is(err, ErrNewer):
		return misplaced(path, err)
	case errors.Is(err, ErrDamaged):
		return &fileError{path, err, "`eventdeck store recover` keeps what can be read"}
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
	return openBolt(path, boltfile.Options{ReadOnly: true})
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

func (k *checker) check(ctx context.Context, db *bolt.DB) error {
	err := db.View(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			k.found("page: %v", err)
		}
		return nil
	})
	if err != nil || k.wrong > 0 {
		return err // what pages hold that make no sense says nothing
	}
	return boltfile.View(db, func(tx *boltfile.Tx) error { return k.content(ctx, tx) })
}

func (k *checker) content(ctx context.Context, tx *boltfile.Tx) error {
	if tx.Version() < countedVersion {
		k.say(fmt.Sprintf("its layout has version %d; the pages are sound, and what they hold is checked after this program has opened it once", tx.Version()))
		return nil
	}
	if err := tx.Verify(ctx, func(err error) { k.found("%v", err) }); err != nil {
		return err
	}
	for _, name := range tablesOf(tx.Version()) {
		if !tx.Bucket(name).Exists() {
			k.found("the table %s is missing", name)
		}
	}
	if k.wrong > 0 {
		return nil
	}
	bySub, records, err := k.records(ctx, tx)
	if err != nil {
		return err
	}
	k.usage(tx, bySub)
	if err := k.others(ctx, tx); err != nil {
		return err
	}
	k.say(fmt.Sprintf("%s of %s, %d bytes", event.Some(records, "record", "records"), event.Some(len(bySub), "subscription", "subscriptions"), tx.Size()))
	switch left := tx.Unsummed(); {
	case !tx.Checked():
		k.say("it has no checksums: they come when this program has opened it once")
	case left > 0:
		k.say(fmt.Sprintf("%d entries have no checksum of their own yet; whether all of them are as they were written is known", left))
	}
	return nil
}

// records decodes every record.
func (k *checker) records(ctx context.Context, tx *boltfile.Tx) (bySub map[event.SubID]usage, n int, err error) {
	bySub = map[event.SubID]usage{}
	b := tx.Bucket(bucketEvents)
	last := uint64(0)
	err = b.Each(func(key, v []byte) error {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(key) != 8 {
			k.found("a record has the key %x", key)
			return nil
		}
		last = binary.BigEndian.Uint64(key)
		r, err := decodeRecord(last, v)
		if err != nil {
			k.found("record %d: %v", last, err)
			return nil
		}
		bySub[r.Sub] = bySub[r.Sub].plus(usage{1, recordSize(v)})
		return nil
	})
	if last > b.Counter() {
		k.found("record %d is newer than the last number given, %d", last, b.Counter())
	}
	return bySub, n, err
}

func (k *checker) usage(tx *boltfile.Tx, counted map[event.SubID]usage) {
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

// others looks at the tables beside the log and what is counted of it.
func (k *checker) others(ctx context.Context, tx *boltfile.Tx) error {
	for _, name := range tablesOf(tx.Version()) {
		switch string(name) {
		case string(bucketMeta), string(bucketEvents), string(bucketUsage):
			continue
		}
		err := tx.Bucket(name).Each(func(key, v []byte) error {
			if err := readable(name, key, v); err != nil {
				k.found("%v", err)
			}
			return context.Cause(ctx)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readSub decodes a subscription without its secrets.
func readSub(id event.SubID, value []byte) (keptSub, error) {
	opensNothing, err := newSealer(make([]byte, 32), nil)
	if err != nil {
		return keptSub{}, err
	}
	return decodeSub(id, value, opensNothing)
}

// readable reports whether an entry is one of its table. What is sealed is not opened:
// the key is not needed here.
//
// Error: [ErrDamaged].
func readable(table, key, value []byte) error {
	var err error
	switch string(table) {
	case string(bucketEvents):
		_, err = decodeRecord(0, value)
	case string(bucketGone):
		_, err = decodeHead(value)
	case string(bucketDedup):
		err = eachHash(value, func(uint64, uint64) {})
	case string(bucketUsage):
		_, err = decodeUsage(value)
	case string(bucketSubs):
		_, err = readSub(event.SubID(key), value)
	case string(bucketMarks), string(bucketServers), string(bucketRefusals), string(bucketEnded), string(bucketAudit):
		if !json.Valid(value) {
			err = errCodec
		}
	}
	if err == nil {
		return nil
	}
	if slices.ContainsFunc(numbered, func(n []byte) bool { return bytes.Equal(n, table) }) && len(key) == 8 {
		return fmt.Errorf("%w: entry %d of %s cannot be read: %w", ErrDamaged, binary.BigEndian.Uint64(key), table, err)
	}
	return fmt.Errorf("%w: the entry %q of %s cannot be read: %w", ErrDamaged, key, table, err)
}

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
