package store

import (
	"fmt"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
)

// wordsCopied says why the journal of a copy may not know what was done.
const wordsCopied = "the store is a copy of another one, or was moved here from another file system"

// placeOf says which file a database is. A file that is renamed stays the same, also over
// restarts of the machine, and a copy of it is another one: that is told by when it was made.
// Where the file system does not tell, the path has to do, and a renamed file is another
// one too.
func placeOf(path string) string {
	if born := bornOf(path); born != "" {
		return "made " + born
	}
	return "at " + path
}

// storedPlace returns which file a database was when it was open last, "" where it does not say.
func storedPlace(db *bolt.DB) (place string, err error) {
	err = boltfile.View(db, func(tx *boltfile.Tx) error {
		value, err := tx.Bucket(bucketMeta).Get(metaPlace)
		place = string(value)
		return err
	})
	return place, err
}

func putPlace(tx *boltfile.Tx, place string) error {
	return tx.Bucket(bucketMeta).Put(metaPlace, []byte(place))
}

// notePlace keeps which file the database is, and notes in the journal of a copy that it may
// lag the acts: the one that it was copied from may have gone on. It writes only where
// something is new.
func (s *Store) notePlace() error {
	if s.temporary {
		return nil
	}
	now := placeOf(filepath.Join(s.dir, fileDB))
	was, err := storedPlace(s.db)
	if err != nil || was == now {
		return err
	}
	// A file system that came to tell when files are made says nothing of a copy.
	copied := was != "" && was[0] == now[0]
	err = boltfile.Update(s.db, func(tx *boltfile.Tx) error {
		if copied {
			told, err := tx.Bucket([]byte(event.TableReact)).Get([]byte(event.KeyLag))
			if err != nil {
				return err
			}
			if told == nil {
				if err := putLag(tx, wordsCopied); err != nil {
					return err
				}
			}
		}
		return putPlace(tx, now)
	})
	if err != nil && !copied && boltfile.IsNoSpace(err) {
		return nil // which must not keep the store from being read
	}
	if err != nil {
		return fmt.Errorf("note that it is another file than before: %w", err)
	}
	return nil
}

// keepPlace has a file that is to replace the one at path count as the same.
func keepPlace(to, from *bolt.DB, temp, path string) error {
	was, err := storedPlace(from)
	if err != nil || was != placeOf(path) {
		return err
	}
	if bornOf(temp) == "" {
		return nil // it comes to have the path
	}
	return boltfile.Update(to, func(tx *boltfile.Tx) error { return putPlace(tx, placeOf(temp)) })
}
