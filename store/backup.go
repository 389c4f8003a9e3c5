package store

import (
	"context"
	"errors"
	"fmt"

	berrors "go.etcd.io/bbolt/errors"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
)

// Backup copies the store as it is now to file, which must not exist, while it is in
// use. Commits go on meanwhile, unless the file must be mapped again to grow. The
// sealing key is not in the copy. It returns the bytes written.
//
// Errors: the cause of ctx, [event.ErrClosed], [ErrDamaged], those of the file system.
func (s *Store) Backup(ctx context.Context, file string) (int64, error) {
	if err := s.failed(); err != nil {
		return 0, fmt.Errorf("back up the store: %w", err)
	}
	n, err := boltfile.CopyOut(ctx, s.db, file)
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		err = event.ErrClosed
	}
	if err != nil {
		return 0, fmt.Errorf("back up the store: %w", err)
	}
	return n, nil
}
