package store

import (
	"encoding/binary"
	"fmt"
	"io"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
)

// schemaVersion is the layout that this program writes.
const schemaVersion = boltfile.Newest

// countedVersion is the first layout with all tables of the log.
const countedVersion = 3

// The buckets of the file.
var (
	bucketMeta     = boltfile.Meta      // the keys below
	bucketEvents   = []byte("events")   // sequence number -> record
	bucketDedup    = []byte("dedup")    // first sequence number of a commit -> hashes
	bucketSubs     = []byte("subs")     // subscription id -> subscription
	bucketEnded    = []byte("ended")    // path -> ended hook
	bucketSettings = []byte("settings") // key -> value
	bucketServers  = []byte("servers")  // server -> what was seen of it
	bucketRefusals = []byte("refusals") // own sequence -> refused delivery
	bucketAudit    = []byte("audit")    // own sequence -> entry of the audit log
	bucketMarks    = []byte("marks")    // sequence number and kind -> mark
	bucketUsage    = []byte("usage")    // subscription id -> records and bytes kept of it
	bucketGone     = []byte("gone")     // sequence number -> identity of a pruned record
)

// journalVersion is the first layout with the tables of the journal.
const journalVersion = 5

// journalTables are those of the journal, which are named as in package event: key of
// the caller -> value of the caller.
var journalTables = [][]byte{
	[]byte(event.TableRules), []byte(event.TableRuns), []byte(event.TableApprovals),
	[]byte(event.TableGrants), []byte(event.TableSpend), []byte(event.TableReact),
}

// tables are all of them.
var tables = append([][]byte{
	bucketMeta, bucketEvents, bucketDedup, bucketSubs, bucketEnded, bucketSettings,
	bucketServers, bucketRefusals, bucketAudit, bucketMarks, bucketUsage, bucketGone,
}, journalTables...)

// tablesOf returns the tables of a layout from countedVersion on.
func tablesOf(version uint64) [][]byte {
	if version < journalVersion {
		return tables[:len(tables)-len(journalTables)]
	}
	return tables
}

// numbered are the buckets that may be large. Their keys are numbers of eight bytes.
var numbered = [][]byte{bucketEvents, bucketDedup, bucketGone, bucketAudit}

// The keys of the meta bucket, beside those of package boltfile.
var (
	metaID      = []byte("id")    // random name of the store, in text
	metaHashKey = []byte("hash")  // key of the dedup hash
	metaSeal    = []byte("seal")  // sealInfo in JSON
	metaPlace   = []byte("place") // which file it was when it was open last
)

// migrations holds, at position n, what turns version n into n+1.
var migrations = []func(*boltfile.Tx, io.Reader) error{
	0: initSchema,
	1: addAudit,
	2: func(tx *boltfile.Tx, _ io.Reader) error { return addUsage(tx) },
	3: func(tx *boltfile.Tx, _ io.Reader) error { return tx.AddChecksums(numbered...) },
	4: func(tx *boltfile.Tx, _ io.Reader) error { return createAll(tx, journalTables) },
}

// migrate brings the file to the version of the program, in one transaction.
// It writes nothing when there is nothing to do, so that a full disk does not
// keep a store from being read.
//
// Errors: [ErrNewer], [ErrForeign].
func migrate(db *bolt.DB, random io.Reader) error {
	have, err := boltfile.Version(db)
	switch {
	case err != nil:
		return err
	case have == schemaVersion:
		return nil
	case have > schemaVersion:
		return boltfile.View(db, func(*boltfile.Tx) error { return nil }) // says so
	}
	return boltfile.Update(db, func(tx *boltfile.Tx) error { return upgrade(tx, random) })
}

// upgrade runs the migrations that a file needs; random is for an empty one.
func upgrade(tx *boltfile.Tx, random io.Reader) error {
	for v := tx.Version(); v < schemaVersion; v++ {
		if err := migrations[v](tx, random); err != nil {
			return fmt.Errorf("migrate from version %d: %w", v, err)
		}
	}
	return tx.SetVersion(schemaVersion)
}

// initSchema makes the first version in an empty file.
func initSchema(tx *boltfile.Tx, random io.Reader) error {
	for _, name := range [][]byte{bucketMeta, bucketEvents, bucketDedup, bucketSubs, bucketEnded, bucketSettings, bucketServers, bucketRefusals} {
		if err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	var b [48]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return fmt.Errorf("no randomness: %w", err)
	}
	meta := tx.Bucket(bucketMeta)
	if err := meta.Put(metaID, fmt.Appendf(nil, "%x", b[:16])); err != nil {
		return err
	}
	return meta.Put(metaHashKey, b[16:])
}

// addAudit makes room for the audit log and the operator's marks.
func addAudit(tx *boltfile.Tx, _ io.Reader) error {
	return createAll(tx, [][]byte{bucketAudit, bucketMarks})
}

func createAll(tx *boltfile.Tx, names [][]byte) error {
	for _, name := range names {
		if err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return nil
}

// seqKey is the key of a record: big endian, so that keys sort as numbers.
func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }
