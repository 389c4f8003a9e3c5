package tables

import (
	"bytes"
	"slices"

	"eventdeck/store/boltfile"
)

// notInSnapshot are the tables that are empty in a snapshot: the log, what belongs to its
// records, and what only tells of the past.
var notInSnapshot = [][]byte{Events, Dedup, Usage, Gone, Audit, Refusals}

// InSnapshot reports whether a snapshot has the content of a table.
func InSnapshot(table []byte) bool {
	return !slices.ContainsFunc(notInSnapshot, func(n []byte) bool { return bytes.Equal(n, table) })
}

// CopyControl copies the tables that a snapshot holds into an empty file.
//
// Errors: [event.ErrDamaged], those of bbolt.
func CopyControl(to, from *boltfile.Tx) error {
	if err := to.Mirror(from); err != nil {
		return err
	}
	names, err := from.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if !InSnapshot(name) {
			continue
		}
		if err := from.Bucket(name).Each(to.Bucket(name).Put); err != nil {
			return err
		}
	}
	return nil
}
