package maintain

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

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/private"
	"eventdeck/store/tables"
)

// compactBytes is how much one transaction of [Compact] copies.
const compactBytes = 8 << 20

// Compact writes the store in dir again, without the room that removed records
// have left. No process may have it open. It returns the bytes before and after.
//
// Errors: [boltfile.ErrLocked], [boltfile.ErrForeign], [boltfile.ErrNewer],
// [boltfile.ErrUnreleased], [event.ErrDamaged], those of the file system.
func Compact(dir string) (before, after int64, err error) {
	defer func() { err = during("compact the store", err) }()
	path := filepath.Join(dir, datadir.DB)
	if err := requireStore(dir); err != nil {
		return 0, 0, err
	}
	if before, err = sizeOf(path); err != nil {
		return 0, 0, err
	}
	err = private.Replace(dir, datadir.DB, func(temp string) error {
		// The lock on the old file is held until the new one is in its place, or
		// not at all: a second program would find the old content.
		from, err := datadir.OpenReadOnly(dir, datadir.DB)
		if err != nil {
			return err
		}
		to, err := datadir.OpenFile(temp, boltfile.Options{NoSync: true})
		if err != nil {
			return errors.Join(err, from.Close())
		}
		err = boltfile.Guard(nil, func() error {
			if err := boltfile.Copy(to, from, compactBytes); err != nil {
				return err
			}
			return keepFileID(to, from, temp, path)
		})
		if err == nil {
			err = to.Sync()
		}
		return errors.Join(err, to.Close(), from.Close())
	})
	if datadir.IsMisplaced(err) {
		err = datadir.Misplaced(path, err)
	}
	if err != nil {
		return 0, 0, err
	}
	after, err = sizeOf(path)
	return before, after, err
}

// requireStore refuses a directory without a store: bbolt copies whatever it can read.
//
// Errors: [boltfile.ErrLocked], [boltfile.ErrForeign], [boltfile.ErrUnreleased],
// [event.ErrDamaged].
func requireStore(dir string) error {
	path := filepath.Join(dir, datadir.DB)
	if err := datadir.CheckNotEmptied(path); err != nil {
		return err
	}
	db, err := datadir.OpenReadOnly(dir, datadir.DB)
	if errors.Is(err, fs.ErrNotExist) {
		return noStore(dir)
	} else if err != nil {
		return err
	}
	err = boltfile.Guard(nil, func() error { _, err := boltfile.Version(db); return err })
	if err = errors.Join(err, db.Close()); datadir.IsMisplaced(err) {
		return datadir.Misplaced(path, err)
	}
	return err
}

func noStore(dir string) error { return fmt.Errorf("there is no store in %s; check --data", dir) }

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
// Errors: [boltfile.ErrLocked], [boltfile.ErrForeign], [event.ErrDamaged], those of the
// file system.
func Backup(dir, file string) (n int64, err error) {
	defer func() { err = during("back up the store", err) }()
	if err := requireStore(dir); err != nil {
		return 0, err
	}
	db, err := datadir.OpenReadOnly(dir, datadir.DB)
	if err != nil {
		return 0, err
	}
	n, err = boltfile.CopyOut(context.Background(), db, file)
	return n, errors.Join(err, db.Close())
}

// Restore puts the copy in file into the place of the store in dir, after it was
// checked; say is called with what the check finds. What was there is moved aside, under
// the returned name, "" if there was nothing. The next records begin a new generation. No
// process may have the store open.
// When in is not nil, the copy is read from it, to its end, and file is its name in errors.
// Input that does not begin like a store, or is longer than a store with such a beginning
// can be, is not read to its end.
//
// Errors: [boltfile.ErrLocked]; [event.ErrDamaged] or [boltfile.ErrForeign] for the copy;
// the cause of ctx; those of the file system.
func Restore(ctx context.Context, dir, file string, in io.Reader, now time.Time, say func(string)) (aside string, err error) {
	defer func() { err = during("restore the store", err) }()
	if err := private.Dir(dir); err != nil {
		return "", err
	}
	if err := datadir.NotInUse(dir); err != nil {
		return "", err
	}
	err = private.Replace(dir, datadir.DB, func(temp string) error {
		if err := copyIn(ctx, file, in, temp); errors.Is(err, event.ErrDamaged) {
			return notACopy(file, err)
		} else if err != nil {
			return err
		}
		if err := checkDB(ctx, temp, say); err != nil {
			return notACopy(file, err)
		}
		if err := markLag(temp, "the store was restored from a copy"); err != nil {
			return err
		}
		if err := datadir.ForgetSeen(dir); err != nil {
			return err
		}
		aside, err = datadir.MoveAside(dir, "before", now)
		return err
	})
	if err != nil {
		return "", err
	}
	return aside, nil
}

// notACopy names the file of the copy in an error about the temporary file.
func notACopy(file string, err error) error {
	var wrong *datadir.FileError
	if errors.As(err, &wrong) {
		err = wrong.Err
	}
	return &datadir.FileError{Path: file, Err: err, Advice: "take another copy; the store is as it was"}
}

// copyIn copies from in, or else from the file.
//
// Errors: [event.ErrDamaged] for what does not end; the cause of ctx; those of the file system.
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
	return boltfile.CopyIn(ctx, in, to)
}

// keepFileID gives a file that is to replace the one at path the same identity, so that it
// does not count as a copy.
func keepFileID(to, from *bolt.DB, temp, path string) error {
	was, err := tables.StoredFileID(from)
	if err != nil || was != datadir.FileID(path) {
		return err
	}
	if datadir.BirthTime(temp) == "" {
		return nil // FileID is the path, which the new file gets
	}
	return boltfile.Update(to, func(tx *boltfile.Tx) error { return tables.PutFileID(tx, datadir.FileID(temp)) })
}

// markLag notes in a file that no process has open that the journal may lack acts that were
// carried out.
func markLag(path, why string) error {
	db, err := datadir.OpenFile(path, boltfile.Options{})
	if err != nil {
		return err
	}
	err = boltfile.Guard(nil, func() error {
		return boltfile.Update(db, func(tx *boltfile.Tx) error { return tables.PutLag(tx, why) })
	})
	return errors.Join(err, db.Close())
}
