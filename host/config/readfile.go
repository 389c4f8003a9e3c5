package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxOwn bounds a file of this program, in bytes.
const maxOwn = 1 << 20

// readOwn reads a file of this program's own. One that the operator named may be a
// pipe: what fills in secrets often writes to one.
//
// Errors: [ErrFile]; [fs.ErrNotExist] is in its chain.
func readOwn(path string, named bool) ([]byte, error) {
	raw, err := readFile(path, maxOwn, named)
	var place *fs.PathError
	switch {
	case errors.As(err, &place):
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %w", ErrFile, path, err)
	}
	return raw, nil
}

// readFile reads a regular file of at most so many bytes, or a pipe. Anything else
// may never end; a pipe may wait for a writer for ever. That is asked before it is
// opened.
func readFile(path string, most int, pipe bool) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode(); !mode.IsRegular() && !(pipe && mode&fs.ModeNamedPipe != 0) {
		return nil, fmt.Errorf("it is no regular file but %s; put a file there, or name another", kindOf(info.Mode()))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // it was only read
	raw, err := io.ReadAll(io.LimitReader(file, int64(most)+1))
	if err == nil && len(raw) > most {
		err = fmt.Errorf("it has more than %s, which no such file needs; is it the right one?", SizeWords(int64(most)))
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
