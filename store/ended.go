package store

import (
	"encoding/json"
	"fmt"
	"slices"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/tables"
)

const maxEnded = 1000

// storedEnded is an [event.Ended] in the file; the path is its key.
type storedEnded struct {
	At      tables.Timestamp `json:"at"`
	Removed bool             `json:"removed,omitempty"`
}

// putEnded keeps the newest maxEnded hooks: a forgotten path is answered like one that never
// existed.
func (c *commit) putEnded(e event.Ended) error {
	value, err := json.Marshal(storedEnded{tables.Stamp(e.At), e.Removed})
	if err != nil {
		return fmt.Errorf("ended hook: %w", err)
	}
	b := c.tx.Bucket(tables.Ended)
	if err := b.Put([]byte(e.Path), value); err != nil {
		return fmt.Errorf("ended hook: %w", err)
	}
	ended, err := collectEnded(b)
	if err != nil || len(ended) <= maxEnded {
		return err
	}
	return b.Delete([]byte(ended[0].Path))
}

// collectEnded returns the ended hooks, oldest first.
func collectEnded(b boltfile.Bucket) (ended []event.Ended, err error) {
	err = b.Each(func(k, v []byte) error {
		var in storedEnded
		if json.Unmarshal(v, &in) == nil {
			ended = append(ended, event.Ended{Path: string(k), At: in.At.Time(), Removed: in.Removed})
		}
		return nil
	})
	slices.SortFunc(ended, func(a, b event.Ended) int { return a.At.Compare(b.At) })
	return ended, err
}

// EndedHooks implements [event.Store]: the newest 1,000, oldest first. It is
// empty when the store cannot be read.
func (s *Store) EndedHooks() []event.Ended {
	var ended []event.Ended
	if s.view(func(tx *boltfile.Tx) (err error) {
		ended, err = collectEnded(tx.Bucket(tables.Ended))
		return err
	}) != nil {
		return nil
	}
	return ended
}
