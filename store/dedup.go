package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"sync"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store/boltfile"
	"eventdeck/store/tables"
)

// isChanged reports whether the data of an event differ from those of the stored record with
// its identity, apart from white space and the order of keys. It is false for a pruned record,
// whose data are gone.
func isChanged(stored []byte, r *event.Record) bool {
	var old event.Record
	if r.Kind != event.KindEvent || tables.DecodeShared(&old, 0, stored) != nil || old.Data == nil || r.Data == nil {
		return false
	}
	return !sameJSON(old.Data, r.Data)
}

func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	for raw, v := range map[*[]byte]*any{&a: &x, &b: &y} {
		dec := json.NewDecoder(bytes.NewReader(*raw))
		dec.UseNumber()
		if dec.Decode(v) != nil {
			return false
		}
	}
	return reflect.DeepEqual(x, y)
}

// index is a [tables.HashTable] that any goroutine may read while the writer changes it.
type index struct {
	mu    sync.RWMutex
	table *tables.HashTable
}

// find appends the sequence numbers that may have the hash to seqs.
func (x *index) find(seqs []uint64, hash uint64) []uint64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.table.Find(seqs, hash)
}

// loadIndex reads all dedup records.
func loadIndex(tx *boltfile.Tx) (*tables.HashTable, error) {
	const hashSize = 9
	b := tx.Bucket(tables.Dedup)
	size := 0
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		size += len(v) / hashSize
	}
	if c.Err() != nil {
		return nil, c.Err()
	}
	x := tables.NewHashTable(min(size, int(tx.Size()/hashSize))) // lengths may be damaged
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if len(k) != 8 {
			return nil, fmt.Errorf("%w: a dedup record has the key %x", ErrDamaged, k)
		}
		base := binary.BigEndian.Uint64(k)
		if err := tables.EachHash(v, func(distance, hash uint64) { x.Insert(hash, base+distance) }); err != nil {
			return nil, fmt.Errorf("%w: dedup record %d: %w", ErrDamaged, base, err)
		}
		runtime.Gosched() // a large index is loaded while the first screen is drawn
	}
	return x, c.Err()
}

// publish takes over what a commit has stored and forgotten.
func (x *index) publish(added, dropped []hashed) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, h := range dropped {
		x.table.Remove(h.hash, h.seq)
	}
	for _, h := range added {
		x.table.Insert(h.hash, h.seq)
	}
}

// loadDedup fills the index. It is the first thing that the writer does, so
// that opening a large store does not wait for it.
func (s *Store) loadDedup() error {
	return s.view(func(tx *boltfile.Tx) error {
		x, err := loadIndex(tx)
		if err != nil {
			return err
		}
		s.index.mu.Lock()
		defer s.index.mu.Unlock()
		s.index.table = x
		return nil
	})
}

// HasEvent implements [event.Store]. Right after Open it waits until the index is loaded. An
// entry that cannot be read counts as absent: storing the event again finds the duplicate, or
// the error.
func (s *Store) HasEvent(sub event.SubID, id trust.Text) bool {
	<-s.loaded
	if id.IsZero() {
		return false
	}
	want := tables.EventIdentity(sub, id)
	found := false
	err := s.view(func(tx *boltfile.Tx) error {
		for _, seq := range s.index.find(nil, want.Hashes(nil, s.hashID)[0]) {
			value, err := tables.Identified(tx.Bucket(tables.Events), tx.Bucket(tables.Gone), seq)
			if err != nil {
				continue
			}
			if stored, err := tables.DecodeRecordHead(value); err == nil && want.Same(&stored) {
				found = true
			}
		}
		return nil
	})
	return err == nil && found
}
