// Package tables says what the database of a store holds: its tables and their layouts, the
// migrations of older files, and the stored form of what several readers share: subscriptions,
// usage of the log, times. It knows no commits and no files.
package tables

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
)

// Newest is the layout that this program writes.
const Newest = boltfile.Newest

// FirstCounted is the first layout with all tables of the log, its counts among them.
const FirstCounted = 3

// The names of the tables.
var (
	Meta     = boltfile.Meta      // the keys below
	Events   = []byte("events")   // sequence number -> record
	Dedup    = []byte("dedup")    // first sequence number of a commit -> hashes
	Subs     = []byte("subs")     // subscription id -> subscription
	Ended    = []byte("ended")    // path -> ended hook
	Settings = []byte("settings") // key -> value
	Servers  = []byte("servers")  // server -> what was seen of it
	Refusals = []byte("refusals") // own sequence -> refused delivery
	Audit    = []byte("audit")    // own sequence -> entry of the audit log
	Marks    = []byte("marks")    // sequence number and kind -> mark
	Usage    = []byte("usage")    // subscription id -> records and bytes kept of it
	Gone     = []byte("gone")     // sequence number -> identity of a pruned record
)

// FirstJournal is the first layout with the tables of the journal.
const FirstJournal = 5

// Journal are the tables of the journal, named as in package event: key of the caller ->
// value of the caller.
var Journal = [][]byte{
	[]byte(event.TableRules), []byte(event.TableRuns), []byte(event.TableApprovals),
	[]byte(event.TableGrants), []byte(event.TableSpend), []byte(event.TableReact),
}

// All are the names of all tables.
var All = append([][]byte{
	Meta, Events, Dedup, Subs, Ended, Settings,
	Servers, Refusals, Audit, Marks, Usage, Gone,
}, Journal...)

// Of returns the tables of a layout, which is [FirstCounted] or a later one.
func Of(version uint64) [][]byte {
	if version < FirstJournal {
		return All[:len(All)-len(Journal)]
	}
	return All
}

// Numbered are the tables that may be large. Their keys are numbers of eight bytes.
var Numbered = [][]byte{Events, Dedup, Gone, Audit}

// The keys of the meta table, beside those of package boltfile.
var (
	KeyID     = []byte("id")    // random name of the store, in text
	KeyHash   = []byte("hash")  // key of the dedup hash
	KeySeal   = []byte("seal")  // what package seal remembers of the key
	KeyFileID = []byte("place") // id of the file when it was open last
)

// migrations holds, at position n, what turns version n into n+1.
var migrations = []func(*boltfile.Tx, io.Reader) error{
	0: initSchema,
	1: func(tx *boltfile.Tx, _ io.Reader) error { return createAll(tx, [][]byte{Audit, Marks}) },
	2: func(tx *boltfile.Tx, _ io.Reader) error { return addUsage(tx) },
	3: func(tx *boltfile.Tx, _ io.Reader) error { return tx.AddChecksums(Numbered...) },
	4: func(tx *boltfile.Tx, _ io.Reader) error { return createAll(tx, Journal) },
}

// Migrate brings the file to the layout of the program, in one transaction. It writes
// nothing when there is nothing to do, so that a store on a full disk can be read. random:
// see [Upgrade].
//
// Errors: [boltfile.ErrNewer], [boltfile.ErrForeign], [event.ErrDamaged], those of bbolt.
func Migrate(db *bolt.DB, random io.Reader) error {
	have, err := boltfile.Version(db)
	switch {
	case err != nil:
		return err
	case have == Newest:
		return nil
	case have > Newest:
		return boltfile.View(db, func(*boltfile.Tx) error { return nil }) // fails with ErrNewer
	}
	return boltfile.Update(db, func(tx *boltfile.Tx) error { return Upgrade(tx, random) })
}

// Upgrade runs the migrations that a file needs. random makes the id and the hash key of an
// empty one; other files need none.
//
// Errors: [event.ErrDamaged], those of bbolt and of random.
func Upgrade(tx *boltfile.Tx, random io.Reader) error {
	for v := tx.Version(); v < Newest; v++ {
		if err := migrations[v](tx, random); err != nil {
			return fmt.Errorf("migrate from version %d: %w", v, err)
		}
	}
	return tx.SetVersion(Newest)
}

// initSchema makes the tables of the first layout in an empty file.
func initSchema(tx *boltfile.Tx, random io.Reader) error {
	if err := createAll(tx, [][]byte{Meta, Events, Dedup, Subs, Ended, Settings, Servers, Refusals}); err != nil {
		return err
	}
	var b [48]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return fmt.Errorf("no randomness: %w", err)
	}
	meta := tx.Bucket(Meta)
	if err := meta.Put(KeyID, fmt.Appendf(nil, "%x", b[:16])); err != nil {
		return err
	}
	return meta.Put(KeyHash, b[16:])
}

func createAll(tx *boltfile.Tx, names [][]byte) error {
	for _, name := range names {
		if err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return nil
}

// SeqKey is the key of a record: big endian, so that keys sort as numbers.
func SeqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

// IsJournal reports whether a table is one of the journal.
func IsJournal(name event.JournalTable) bool {
	return slices.ContainsFunc(Journal, func(t []byte) bool { return string(t) == string(name) })
}
