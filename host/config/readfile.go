package config

import (
	"errors"
	"fmt"
	"io/fs"

	"eventdeck/host/internal/jsonfile"
)

// maxOwn bounds a file of this program, in bytes.
const maxOwn = 1 << 20

// readOwn reads a file of this program's own. One that the operator named may be a
// pipe: what fills in secrets often writes to one.
//
// Errors: [ErrFile]; [fs.ErrNotExist] is in its chain.
func readOwn(path string, named bool) ([]byte, error) {
	raw, err := jsonfile.Read(path, maxOwn, named)
	var place *fs.PathError
	switch {
	case errors.As(err, &place):
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %w", ErrFile, path, err)
	}
	return raw, nil
}
