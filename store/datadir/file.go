// Package datadir knows the files of a store in its directory: their names, how they are
// opened and replaced, which process holds them, what is wrong with them and what the operator
// can do. It knows nothing of what the tables of a store hold.
package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/private"
)

// OpenReadOnly opens a database file of dir without changing anything. The errors are those
// of [Open], and [fs.ErrNotExist].
func OpenReadOnly(dir, name string) (*bolt.DB, error) {
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err // bbolt would make it
	}
	if info.Mode().IsRegular() && info.Size() == 0 {
		return nil, &FileError{Path: path, Err: fmt.Errorf("%w: the file is empty", event.ErrDamaged), Advice: DamageAdvice}
	}
	return OpenFile(path, boltfile.Options{ReadOnly: true})
}

// FileError is an error of a database file, with what the operator can do.
type FileError struct {
	Path   string
	Err    error  // of package boltfile
	Advice string // what to do, for the operator
}

func (e *FileError) Error() string {
	return fmt.Sprintf("%s: %v; %s", e.Path, e.Err, e.Advice)
}

func (e *FileError) Unwrap() error { return e.Err }

// Remedy returns the advice, for programs that add their own to errors without one.
func (e *FileError) Remedy() string { return e.Advice }

// IsMisplaced reports whether an error is about a file that this program does not open: one of
// another program, of a newer one, or from before the first release.
func IsMisplaced(err error) bool {
	return errors.Is(err, boltfile.ErrForeign) || errors.Is(err, boltfile.ErrNewer) || errors.Is(err, boltfile.ErrUnreleased)
}

// Misplaced names a file that this program does not open; see [IsMisplaced].
//
// Error: a [FileError] for such a file; any other error with the path.
func Misplaced(path string, err error) error {
	switch {
	case errors.Is(err, boltfile.ErrUnreleased):
		return &FileError{Path: path, Err: err, Advice: "`eventdeck export --raw` of the commit that wrote it saves its records, and `eventdeck store import` reads them; or use --data DIR for another place"}
	case errors.Is(err, boltfile.ErrForeign):
		return &FileError{Path: path, Err: err, Advice: "put the store's own file there, or use --data DIR for another place"}
	case errors.Is(err, boltfile.ErrNewer):
		return &FileError{Path: path, Err: err, Advice: "use a newer eventdeck, or --data DIR for another place"}
	}
	return withPath(path, err)
}

// withPath adds the path to an error, unless the error names it.
func withPath(path string, err error) error {
	var told *fs.PathError
	if errors.As(err, &told) && told.Path == path {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// DamageAdvice is what the operator can do about damage.
const DamageAdvice = "`eventdeck store recover` keeps what can be read; or put a copy of it back, or use --data DIR for another place"

// Open locks and opens the database of the store in dir, which may grow to maxSize bytes, 0
// for no bound. The file is what bbolt has open and locked.
//
// Errors: [boltfile.ErrLocked], whose text names the process; [event.ErrDamaged] as a
// [FileError]; those of package private and of the file system.
func Open(dir string, maxSize int64) (*bolt.DB, *os.File, error) {
	path := filepath.Join(dir, DB)
	if err := CheckNotEmptied(path); err != nil {
		return nil, nil, err
	}
	return open(path, boltfile.Options{MaxSize: maxSize})
}

// OpenFile locks and opens any database file of a store, which is closed by bbolt. The errors
// are those of [Open].
func OpenFile(path string, o boltfile.Options) (*bolt.DB, error) {
	db, _, err := open(path, o)
	return db, err
}

// open opens a database file of a store and names what is wrong with it.
func open(path string, o boltfile.Options) (*bolt.DB, *os.File, error) {
	db, file, err := boltfile.OpenFile(path, o)
	switch {
	case err == nil:
		return db, file, nil
	case errors.Is(err, boltfile.ErrLocked):
		return nil, nil, lockedError(filepath.Dir(path))
	case errors.Is(err, private.ErrRefused):
		return nil, nil, err // it names the file
	case errors.Is(err, event.ErrDamaged):
		return nil, nil, &FileError{Path: path, Err: err, Advice: DamageAdvice}
	}
	return nil, nil, withPath(path, err)
}

// CheckNotEmptied refuses a database that was initialised once and is now empty
// or gone: bbolt would start a new one without a word.
//
// Errors: [event.ErrDamaged], those of the file system.
func CheckNotEmptied(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Size() > 0 {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	generation := filepath.Join(filepath.Dir(path), WitnessFile)
	if _, err := os.Lstat(generation); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return fmt.Errorf("%w: %s was initialised and is now empty or missing; `eventdeck store recover` goes on with the newest snapshot beside it; or put a copy of it back, or remove %s to start with nothing", event.ErrDamaged, path, generation)
}
