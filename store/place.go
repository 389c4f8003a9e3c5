package store

import (
	"fmt"
	"path/filepath"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/tables"
)

// wordsCopied says why the journal of a copy may not know what was done.
const wordsCopied = "the store is a copy of another one, or was moved here from another file system"

// notePlace keeps which file the database is, and notes in the journal of a copy that it may
// lag the acts: the one that it was copied from may have gone on. It writes only where
// something is new.
func (s *Store) notePlace() error {
	if s.temporary {
		return nil
	}
	now := datadir.PlaceOf(filepath.Join(s.dir, datadir.DB))
	was, err := tables.StoredPlace(s.db)
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
				if err := tables.PutLag(tx, wordsCopied); err != nil {
					return err
				}
			}
		}
		return tables.PutPlace(tx, now)
	})
	if err != nil && !copied && boltfile.IsNoSpace(err) {
		return nil // which must not keep the store from being read
	}
	if err != nil {
		return fmt.Errorf("note that it is another file than before: %w", err)
	}
	return nil
}
