package store

import (
	"context"
	"encoding/json"
	"fmt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/tables"
)

const maxKey = 4096 // bytes of a key that a caller chooses

// Setting implements [event.Store].
func (s *Store) Setting(key string) (string, error) {
	var value string
	err := s.view(func(tx *boltfile.Tx) error {
		v, err := tx.Bucket(tables.Settings).Get([]byte(key))
		if err != nil {
			return err
		}
		if v == nil {
			return fmt.Errorf("setting %q: %w", key, event.ErrNotFound)
		}
		value = string(v)
		return nil
	})
	return value, err
}

// SetSetting implements [event.Store]. It returns after the commit.
//
// Errors: [event.ErrClosed], [event.ErrFull], the cause of ctx, [ErrBatch] for a
// key that is empty or longer than 4 KiB.
func (s *Store) SetSetting(ctx context.Context, key, value string) error {
	return s.put(ctx, tables.Settings, key, []byte(value))
}

func (s *Store) put(ctx context.Context, bucket []byte, key string, value []byte) error {
	if key == "" || len(key) > maxKey {
		return fmt.Errorf("%w: a key in %s has %d bytes, must be 1 to %d", ErrBatch, bucket, len(key), maxKey)
	}
	return s.do(ctx, func(c *commit) error { return c.tx.Bucket(bucket).Put([]byte(key), value) })
}

// eachJSON calls fn for every entry of a small table whose values are JSON. The interface of
// its callers has no error: what cannot be read is absent, and the next commit reports it.
func eachJSON[T any](s *Store, table []byte, fn func(key []byte, in T)) {
	_ = s.view(func(tx *boltfile.Tx) error {
		return tx.Bucket(table).Each(func(k, v []byte) error {
			var in T
			if json.Unmarshal(v, &in) == nil {
				fn(k, in)
			}
			return nil
		})
	})
}
