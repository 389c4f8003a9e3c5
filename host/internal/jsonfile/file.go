package jsonfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrWritable is wrapped by the errors for files that another user can change.
var ErrWritable = errors.New("others can change it")

// ReadOwn is [Read] of a file that no other user can change. Error: [ErrWritable].
func ReadOwn(path string, most int, pipe bool) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		if _, err := Own(path); err != nil {
			return nil, err
		}
	}
	return Read(path, most, pipe)
}

// Read reads a regular file of at most most bytes or, with pipe set, a pipe. Other files
// may never end, and a pipe may wait for a writer for ever: they are refused before they
// are opened. Errors name the path; that of a missing file wraps [fs.ErrNotExist].
func Read(path string, most int, pipe bool) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode(); !mode.IsRegular() && !(pipe && mode&fs.ModeNamedPipe != 0) {
		return nil, fmt.Errorf("%s: it is no regular file but %s; put a file there, or name another", path, kindOf(info.Mode()))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // only read
	raw, err := io.ReadAll(io.LimitReader(file, int64(most)+1))
	if err == nil && len(raw) > most {
		err = fmt.Errorf("%s: it has more than %.1f MiB, which no such file needs; is it the right one?", path, float64(most)/(1<<20))
	}
	return raw, err
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// Replace writes a new file and renames it over the old one, unless the old one no longer
// has the contents read. All errors wrap fault.
func Replace(path string, read, text []byte, mode fs.FileMode, fault error) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("%w: %w", fault, err)
	}
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("%w: %w", fault, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w: %s is left as it was: %w", fault, path, errors.Join(err, os.Remove(temp.Name())))
		}
	}()
	if mode != 0o600 {
		err = temp.Chmod(mode)
	}
	if err == nil {
		_, err = temp.Write(text)
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	now, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, read) {
		return errors.New("another program has changed it meanwhile; try again")
	}
	return os.Rename(temp.Name(), path)
}
