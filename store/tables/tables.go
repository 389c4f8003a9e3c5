// Package tables says what the database of a store holds: its tables, and the stored form of
// what several readers share: subscriptions, usage of the log, times. It knows no commits and no
// files.
package tables

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
)

// Newest is the layout that this program writes.
const Newest = boltfile.Newest

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

// The keys of the meta table, beside those of package boltfile.
var (
	KeyGenerations = []byte("generations")
	KeyHash        = []byte("hash")  // key of the dedup hash
	KeySeal        = []byte("seal")  // what package seal remembers of the key
	KeyFileID      = []byte("place") // id of the file when it was open last
)

// Prepare makes the tables in an empty file. Of another file it only says whether this program
// may open it, and writes nothing, so that a store on a full disk can be read. random: see
// [Create]. isNew reports whether it was empty.
//
// Errors: [boltfile.ErrNewer], [boltfile.ErrUnreleased], [boltfile.ErrForeign],
// [event.ErrDamaged], those of bbolt and of random.
func Prepare(db *bolt.DB, random io.Reader) (isNew bool, err error) {
	switch have, err := boltfile.Version(db); {
	case err != nil:
		return false, err
	case have > 0:
		return false, boltfile.View(db, func(*boltfile.Tx) error { return nil }) // fails for a newer one
	}
	return true, boltfile.Update(db, func(tx *boltfile.Tx) error { return Create(tx, random) })
}

// Create makes the tables in an empty file. random makes its first generation
// and its hash key.
//
// Errors: those of bbolt and of random.
func Create(tx *boltfile.Tx, random io.Reader) error {
	for _, name := range All {
		if err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	id, err := NewGeneration(random)
	if err != nil {
		return err
	}
	key := make([]byte, 32)
	if _, err := io.ReadFull(random, key); err != nil {
		return fmt.Errorf("hash key: no randomness: %w", err)
	}
	var none event.Generations
	return errors.Join(PutGenerations(tx, none.Next(id, 0)), tx.Bucket(Meta).Put(KeyHash, key), tx.SetVersion(Newest))
}

// SeqKey is the key of a record: big endian, so that keys sort as numbers.
func SeqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

// IsJournal reports whether a table is one of the journal.
func IsJournal(name event.JournalTable) bool {
	return slices.ContainsFunc(Journal, func(t []byte) bool { return string(t) == string(name) })
}
