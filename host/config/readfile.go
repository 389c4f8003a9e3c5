package config

import (
	"fmt"

	"eventdeck/host/internal/jsonfile"
)

// maxOwn bounds a file of this program, in bytes.
const maxOwn = 1 << 20

// readOwn reads a file of this program, which no other user may be able to change. One that the operator named may be a pipe, to which tools
// for secrets often write.
//
// Errors: [ErrFile]; [fs.ErrNotExist] is in its chain.
func readOwn(path string, named bool) ([]byte, error) {
	raw, err := jsonfile.ReadOwn(path, maxOwn, named)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	return raw, nil
}
