package boltfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"eventdeck/store/private"
)

// ErrLocked: another process has the file open.
var ErrLocked = errors.New("the store is in use")

// ErrTooLarge: the file is larger than a program of this word size can map. It is not damaged.
var ErrTooLarge = errors.New("too large for a 32-bit program")

// MaxFile is the size in bytes up to which a file may grow: with 32 bits what can be mapped
// beside everything else, with 64 no bound that matters.
const MaxFile int64 = 1 << (30 + 32*(strconv.IntSize/64))

const lockTimeout = time.Second

// Options tell how [OpenFile] opens a file. The zero value is right for the store itself.
type Options struct {
	MaxSize  int64 // in bytes; 0: no bound
	NoSync   bool  // commits are not waited for until they are on the disk
	ReadOnly bool
}

// OpenFile opens a database file, which must be private to the user, and makes it if there
// is none. It waits at most 1 s for another process to release it. file is what bbolt
// has open and locked: see [Release].
//
// Errors: [ErrLocked], [ErrDamaged], [ErrTooLarge], [private.ErrRefused], those of the
// system; they do not name the file.
func OpenFile(path string, o Options) (db *bolt.DB, file *os.File, err error) {
	if err := checkSize(path, MaxFile); err != nil {
		return nil, nil, err
	}
	if err := checkNotCut(path); err != nil {
		return nil, nil, err
	}
	if strconv.IntSize == 32 && (o.MaxSize == 0 || o.MaxSize > MaxFile) {
		o.MaxSize = MaxFile
	}
	closed := false
	err = Guard(nil, func() (err error) {
		db, err = bolt.Open(path, 0o600, &bolt.Options{
			Timeout: lockTimeout, FreelistType: bolt.FreelistMapType, NoStatistics: true,
			MaxSize: int(o.MaxSize), NoSync: o.NoSync, ReadOnly: o.ReadOnly,
			OpenFile: func(path string, flag int, mode os.FileMode) (f *os.File, err error) {
				f, err = private.Open(path, flag, mode)
				file = f
				return f, err
			},
		})
		closed = err != nil
		return err
	})
	if err == nil {
		if err = checkMetaPages(file); err != nil {
			err, closed = errors.Join(err, db.Close()), true
		}
	}
	if err != nil && file != nil && !closed { // bbolt leaves it open and locked when it panics
		err = errors.Join(err, Release(file))
	}
	switch {
	case err == nil:
		return db, file, nil
	case errors.Is(err, berrors.ErrTimeout):
		return nil, nil, ErrLocked
	case fromSystem(err), errors.Is(err, ErrDamaged):
		return nil, nil, err
	}
	return nil, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
}

// checkMetaPages refuses a file one of whose two meta pages is damaged. The newer one points
// to the last commit, and without it bbolt silently goes on with the commit before. The file
// is locked: no process is writing it.
func checkMetaPages(f *os.File) error {
	_, sound, err := MetaPages(f)
	if err == nil && sound < 2 {
		err = fmt.Errorf("%w: one of its first two pages, which say where the last commit is, is lost", ErrDamaged)
	}
	return err
}

// Free reports whether no process holds the lock of a database file. It does not wait.
func Free(path string) bool {
	var db *bolt.DB
	err := Guard(nil, func() (err error) {
		db, err = bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Millisecond, ReadOnly: true, OpenFile: private.Open})
		return err
	})
	if err == nil {
		return db.Close() == nil
	}
	// The lock comes before the content, which is of no interest here.
	return !errors.Is(err, berrors.ErrTimeout) && !fromSystem(err)
}

// checkNotCut refuses a file that is shorter than its newest meta page says: reading the
// missing part is a memory fault, which ends the program when it happens on a goroutine of
// bbolt. A file without a meta page is left to bbolt.
func checkNotCut(path string) error {
	f, err := private.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	newest, _, err := MetaPages(f)
	if err == nil && uint64(info.Size()) < newest.Length {
		err = fmt.Errorf("%w: the file is cut short: it has %d bytes of %d", ErrDamaged, info.Size(), newest.Length)
	}
	return err
}

// checkSize refuses a file of more than most bytes.
func checkSize(path string, most int64) error {
	info, err := os.Stat(path)
	if err != nil || info.Size() <= most {
		return nil // what is wrong shows when it is opened
	}
	return fmt.Errorf("%w: it has %d bytes, and %d can be mapped; use a 64-bit eventdeck", ErrTooLarge, info.Size(), most)
}

// fromSystem reports whether err is about access to the file. The other errors of bbolt on
// opening are about its content, and many of them have no name.
func fromSystem(err error) bool {
	var code syscall.Errno
	return errors.As(err, &code) || errors.Is(err, private.ErrRefused) || IsNoSpace(err)
}
