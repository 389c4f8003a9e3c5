// Package maintain works on a store that no process has open: it checks the file, makes it
// smaller, copies it and puts copies back, and recovers what can be read of a damaged one.
package maintain

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/tables"
)

// maxFindings bounds what one check reports.
const maxFindings = 20

// Check reads the whole store in dir and calls say with what is wrong with it, at most 20
// lines, and with how much it holds. No process may have the store open. Damaged pages may
// end the process (bbolt follows them): run it in one of its own.
//
// Errors: [boltfile.ErrLocked]; [boltfile.ErrForeign]; [boltfile.ErrNewer];
// [boltfile.ErrUnreleased]; [event.ErrDamaged] when something is wrong; the cause of ctx; those of the file system.
func Check(ctx context.Context, dir string, say func(string)) error {
	path := filepath.Join(dir, datadir.DB)
	err := datadir.CheckNotEmptied(path)
	if err == nil {
		err = checkDB(ctx, path, say)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = noStore(dir)
	}
	return during("check the store", err)
}

// during adds to an error what was being done.
func during(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func checkDB(ctx context.Context, path string, say func(string)) error {
	k := &checker{say: say}
	db, err := datadir.OpenReadOnly(filepath.Split(path))
	if err != nil {
		return err
	}
	err = boltfile.Guard(nil, func() error { return k.check(ctx, db) })
	switch err = errors.Join(err, db.Close()); {
	case datadir.IsMisplaced(err):
		return datadir.Misplaced(path, err)
	case err == nil && k.wrong > 0:
		err = fmt.Errorf("%w: %s", event.ErrDamaged, event.Some(k.wrong, "finding", "findings"))
	}
	if errors.Is(err, event.ErrDamaged) {
		return &datadir.FileError{Path: path, Err: err, Advice: "`eventdeck store recover` keeps what can be read"}
	}
	return err
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
		return err // the content of damaged pages says nothing
	}
	return boltfile.View(db, func(tx *boltfile.Tx) error { return k.content(ctx, tx) })
}

func (k *checker) content(ctx context.Context, tx *boltfile.Tx) error {
	if err := tx.Verify(ctx, func(err error) { k.found("%v", err) }); err != nil {
		return err
	}
	for _, name := range tables.All {
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
	return nil
}

// records decodes every record.
func (k *checker) records(ctx context.Context, tx *boltfile.Tx) (bySub map[event.SubID]tables.Amount, n int, err error) {
	bySub = map[event.SubID]tables.Amount{}
	b := tx.Bucket(tables.Events)
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
		r, err := tables.DecodeRecord(last, v)
		if err != nil {
			k.found("record %d: %v", last, err)
			return nil
		}
		bySub[r.Sub] = bySub[r.Sub].Plus(tables.Amount{Records: 1, Bytes: tables.RecordSize(v)})
		return nil
	})
	if last > b.Counter() {
		k.found("record %d is newer than the last number given, %d", last, b.Counter())
	}
	return bySub, n, err
}

func (k *checker) usage(tx *boltfile.Tx, counted map[event.SubID]tables.Amount) {
	_, noted, err := tables.LoadUsage(tx)
	if err != nil {
		k.found("%v", err)
		return
	}
	for sub, u := range counted {
		if noted[sub] != u {
			k.found("subscription %s has %s of %s, and %d of %d are noted", sub, event.Some(u.Records, "record", "records"), event.Some(u.Bytes, "byte", "bytes"), noted[sub].Records, noted[sub].Bytes)
		}
	}
	for sub := range noted {
		if _, ok := counted[sub]; !ok {
			k.found("records of subscription %s are noted, and there are none", sub)
		}
	}
}

// others checks the tables beside the log, its counts and the meta table.
func (k *checker) others(ctx context.Context, tx *boltfile.Tx) error {
	for _, name := range tables.All {
		switch string(name) {
		case string(tables.Meta), string(tables.Events), string(tables.Usage):
			continue
		}
		err := tx.Bucket(name).Each(func(key, v []byte) error {
			if err := tables.CheckEntry(name, key, v); err != nil {
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
