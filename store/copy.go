package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/private"
)

// compactBytes is how much one transaction of [Compact] copies.
const compactBytes = 8 << 20

// Compact writes the store in dir anew, without the room that removed records
// have left. No process may have it open. It returns the bytes before and after.
//
// Records that have no checksum yet get one.
//
// Errors: [ErrLocked], [ErrForeign], [ErrNewer], [ErrDamaged], those of the file system.
func Compact(dir string) (before, after int64, err error) {
	if err := holdsOurs(dir); err != nil {
		return 0, 0, fmt.Errorf("compact the store: %w", err)
	}
	if before, err = sizeOf(filepath.Join(dir, fileDB)); err != nil {
		return 0, 0, fmt.Errorf("compact the store: %w", err)
	}
	err = replaceFile(dir, fileDB, func(temp string) error {
		// The lock on the old file is held until the new one is in its place, or
		// not at all: a second program would find the old content.
		from, err := openReadOnly(dir, fileDB)
		if err != nil {
			return err
		}
		to, err := openBolt(temp, boltfile.Options{NoSync: true})
		if err != nil {
			return errors.Join(err, from.Close())
		}
		err = boltfile.Guard(nil, func() error {
			if err := compact(to, from); err != nil {
				return err
			}
			return keepPlace(to, from, temp, filepath.Join(dir, fileDB))
		})
		if err == nil {
			err = to.Sync()
		}
		return errors.Join(err, to.Close(), from.Close())
	})
	if err == nil {
		after, err = sizeOf(filepath.Join(dir, fileDB))
	}
	if errors.Is(err, ErrNewer) {
		err = misplaced(filepath.Join(dir, fileDB), err)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("compact the store: %w", err)
	}
	return before, after, nil
}

// compact copies and gives everything a checksum that has none yet.
func compact(to, from *bolt.DB) error {
	if err := boltfile.Copy(to, from, compactBytes); err != nil {
		return err
	}
	if err := migrate(to, nil); err != nil {
		return err
	}
	for more := true; more; {
		err := boltfile.Update(to, func(tx *boltfile.Tx) (err error) {
			more, err = tx.Sum(compactBytes, lookAt)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// holdsOurs refuses a directory without a store: bbolt copies whatever it can read.
//
// Errors: [ErrLocked], [ErrForeign], [ErrDamaged].
func holdsOurs(dir string) error {
	path := filepath.Join(dir, fileDB)
	if err := checkNotEmptied(path); err != nil {
		return err
	}
	db, err := openReadOnly(dir, fileDB)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no store in %s; check --data", dir)
	} else if err != nil {
		return err
	}
	err = boltfile.Guard(nil, func() error { _, err := boltfile.Version(db); return err })
	if err = errors.Join(err, db.Close()); errors.Is(err, ErrForeign) {
		return misplaced(path, ErrForeign)
	}
	return err
}

func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Backup copies the store in dir to file, which must not exist. No process may have
// it open. The sealing key is not in the copy. It returns the bytes written.
//
// Errors: [ErrLocked], [ErrForeign], [ErrDamaged], those of the file system.
func Backup(dir, file string) (int64, error) {
	if err := holdsOurs(dir); err != nil {
		return 0, fmt.Errorf("back up the store: %w", err)
	}
	db, err := openReadOnly(dir, fileDB)
	if err != nil {
		return 0, fmt.Errorf("back up the store: %w", err)
	}
	n, err := copyOut(context.Background(), db, file)
	if err = errors.Join(err, db.Close()); err != nil {
		return 0, fmt.Errorf("back up the store: %w", err)
	}
	return n, nil
}

// Backup copies the store as it is now to file, which must not exist, while it is in
// use. Commits go on meanwhile, unless the file must be mapped anew to grow. The
// sealing key is not in the copy. It returns the bytes written.
//
// Errors: the cause of ctx, [event.ErrClosed], [ErrDamaged], those of the file system.
func (s *Store) Backup(ctx context.Context, file string) (int64, error) {
	if err := s.failed(); err != nil {
		return 0, fmt.Errorf("back up the store: %w", err)
	}
	n, err := copyOut(ctx, s.db, file)
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		err = event.ErrClosed
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("back up the store: %w", err)
	}
	return n, nil
}

// stopping is a writer that takes nothing more when ctx has ended.
type stopping struct {
	ctx context.Context
	to  io.Writer
}

func (w stopping) Write(b []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.to.Write(b)
}

func copyOut(ctx context.Context, db *bolt.DB, file string) (n int64, err error) {
	out, err := private.Open(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	err = boltfile.Guard(nil, func() error {
		return db.View(func(tx *bolt.Tx) error {
			n, err = tx.WriteTo(stopping{ctx, out})
			return err
		})
	})
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return 0, errors.Join(err, os.Remove(file))
	}
	return n, nil
}

// Restore puts the copy in file into the place of the store in dir, after it was
// checked; say gets what the check finds. What was there is moved aside, under
// the returned name, "" if there was nothing. No process may have the store open.
// When in is not nil, the copy is what can be read from it, to its end, and file
// is its name in errors. What does not begin like a store, or goes on for longer than
// one that begins so can have, is not read to its end.
//
// Errors: [ErrLocked]; [ErrDamaged] or [ErrForeign] when the copy is; the cause of ctx;
// those of the file system.
func Restore(ctx context.Context, dir, file string, in io.Reader, now time.Time, say func(string)) (aside string, err error) {
	if err := private.Dir(dir); err != nil {
		return "", fmt.Errorf("restore the store: %w", err)
	}
	if err := notInUse(dir); err != nil {
		return "", fmt.Errorf("restore the store: %w", err)
	}
	err = replaceFile(dir, fileDB, func(temp string) error {
		if err := copyIn(ctx, file, in, temp); err != nil {
			return err
		}
		if err := checkDB(ctx, temp, say); err != nil {
			return notACopy(file, err)
		}
		if err := markLag(temp, "the store was restored from a copy"); err != nil {
			return err
		}
		aside, err = moveAside(dir, "before", now)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("restore the store: %w", err)
	}
	return aside, nil
}

// notACopy says of the file what is wrong with what was copied of it.
func notACopy(file string, err error) error {
	var wrong *fileError
	if errors.As(err, &wrong) {
		err = wrong.err
	}
	return &fileError{file, err, "take another copy; the store is as it was"}
}

// copyIn copies from in, or else from the file.
//
// Errors: [ErrDamaged] for what does not end; the cause of ctx; those of the file system.
func copyIn(ctx context.Context, file string, in io.Reader, to string) error {
	if in == nil {
		opened, err := os.Open(file)
		if err != nil {
			return err
		}
		defer opened.Close()
		if info, err := opened.Stat(); err != nil || info.IsDir() {
			return errors.Join(err, fmt.Errorf("%s is a directory; name the file that `eventdeck store backup` made", file))
		}
		in = opened
	}
	out, err := private.Open(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = copyBounded(stopping{ctx, out}, in, file)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// Bounds of a copy. A file of bbolt may be longer than its content: by what was
// allocated ahead, and on Windows by what is mapped, up to twice the content.
const (
	copyHead  = 128 << 10 // both meta pages, for pages of up to 64 KiB
	copySlack = 16 << 20
)

// copyBounded copies what can be a store. Of anything else it copies the beginning,
// which is enough for the check to say what is wrong.
func copyBounded(to io.Writer, from io.Reader, file string) error {
	head, err := io.ReadAll(io.LimitReader(from, copyHead))
	if err != nil {
		return err
	}
	if _, err := to.Write(head); err != nil || len(head) < copyHead {
		return err
	}
	length := boltfile.ContentLength(head)
	if length == 0 {
		return nil
	}
	most := 2*length + copySlack
	n, err := io.Copy(to, io.LimitReader(from, most-copyHead+1))
	if err == nil && n > most-copyHead {
		err = &fileError{file, fmt.Errorf("%w: it has more than %d bytes, and its beginning tells of %d", ErrDamaged, most, length), "take another copy; the store is as it was"}
	}
	return err
}

// notInUse refuses a store that a process has open. A file that is no database is
// not in use.
func notInUse(dir string) error {
	db, err := openReadOnly(dir, fileDB)
	if errors.Is(err, ErrLocked) {
		return err
	}
	if err == nil {
		return db.Close()
	}
	return nil
}

// moveAside renames the database file, if there is one, and returns its new name.
func moveAside(dir, why string, now time.Time) (string, error) {
	name := fileDB + "." + why + "-" + now.UTC().Format(snapshotTime)
	err := os.Rename(filepath.Join(dir, fileDB), filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return name, err
}
