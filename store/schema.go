package store

import (
	"encoding/binary"
	"fmt"
	"io"

	bolt "go.etcd.io/bbolt"
)

// schemaVersion is the layout that this program writes.
const schemaVersion = 3

// The buckets of the file.
var (
	bucketMeta     = []byte("meta")     // the keys below
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

// tables are all of them.
var tables = [][]byte{
	bucketMeta, bucketEvents, bucketDedup, bucketSubs, bucketEnded, bucketSettings,
	bucketServers, bucketRefusals, bucketAudit, bucketMarks, bucketUsage, bucketGone,
}

// The keys of the meta bucket.
var (
	metaVersion = []byte("version") // uint64
	metaID      = []byte("id")      // random name of the store, in text
	metaHashKey = []byte("hash")    // key of the dedup hash
	metaSeal    = []byte("seal")    // sealInfo in JSON
)

// migrations holds, at position n, what turns version n into n+1.
var migrations = []func(*bolt.Tx, io.Reader) error{
	0: initSchema,
	1: addAudit,
	2: func(tx *bolt.Tx, _ io.Reader) error { return addUsage(tx) },
}

// migrate brings the file to the version of the program, in one transaction.
// It writes nothing when there is nothing to do, so that a full disk does not
// keep a store from being read.
//
// Errors: [ErrNewer], [ErrForeign].
func migrate(db *bolt.DB, random io.Reader) error {
	have, err := fileVersion(db)
	if err != nil {
		return err
	}
	switch {
	case have == schemaVersion:
		return nil
	case have > schemaVersion:
		return fmt.Errorf("%w: its layout has version %d and this program knows versions up to %d; use a newer eventdeck, or --data DIR for another place", ErrNewer, have, schemaVersion)
	}
	return db.Update(func(tx *bolt.Tx) error { return upgrade(tx, random) })
}

// upgrade runs the migrations that a file needs; random is for an empty one.
func upgrade(tx *bolt.Tx, random io.Reader) error {
	have, err := versionOf(tx)
	if err != nil {
		return err
	}
	if have > schemaVersion {
		return fmt.Errorf("%w: its layout has version %d", ErrNewer, have)
	}
	for v := have; v < schemaVersion; v++ {
		if err := migrations[v](tx, random); err != nil {
			return fmt.Errorf("migrate from version %d: %w", v, err)
		}
	}
	return tx.Bucket(bucketMeta).Put(metaVersion, binary.BigEndian.AppendUint64(nil, schemaVersion))
}

// fileVersion returns 0 for a file in which nothing was written yet.
func fileVersion(db *bolt.DB) (version uint64, err error) {
	err = db.View(func(tx *bolt.Tx) error {
		version, err = versionOf(tx)
		return err
	})
	return version, err
}

func versionOf(tx *bolt.Tx) (uint64, error) {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		if k, _ := tx.Cursor().First(); k != nil {
			return 0, ErrForeign
		}
		return 0, nil
	}
	v := meta.Get(metaVersion)
	if len(v) != 8 {
		return 0, fmt.Errorf("%w: it has no version", ErrDamaged)
	}
	return binary.BigEndian.Uint64(v), nil
}

// initSchema makes the first version in an empty file.
func initSchema(tx *bolt.Tx, random io.Reader) error {
	for _, name := range [][]byte{bucketMeta, bucketEvents, bucketDedup, bucketSubs, bucketEnded, bucketSettings, bucketServers, bucketRefusals} {
		if _, err := tx.CreateBucket(name); err != nil {
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
func addAudit(tx *bolt.Tx, _ io.Reader) error {
	for _, name := range [][]byte{bucketAudit, bucketMarks} {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return nil
}

// seqKey is the key of a record: big endian, so that keys sort as numbers.
func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }
