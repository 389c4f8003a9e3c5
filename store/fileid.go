package store

import (
	"fmt"
	"path/filepath"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/tables"
)

// wordsCopied says why the journal of a copy may lack acts.
const wordsCopied = "the store is a copy of another one, or was moved here from another file system"

// noteFileID stores the id of the database file. If another id is stored, this file is a copy
// whose original may have gone on, and the journal notes that it may lack acts. It writes
// nothing if nothing has changed.
func (s *Store) noteFileID() error {
	if s.temporary {
		return nil
	}
	now := datadir.FileID(filepath.Join(s.dir, datadir.DB))
	was, err := tables.StoredFileID(s.db)
	if err != nil || was == now {
		return err
	}
	// Ids of different kinds ("at", "made") say nothing: the file system has changed.
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
		return tables.PutFileID(tx, now)
	})
	if err != nil && !copied && boltfile.IsNoSpace(err) {
		return nil // a store on a full disk can be read
	}
	if err != nil {
		return fmt.Errorf("note that it is another file than before: %w", err)
	}
	return nil
}
