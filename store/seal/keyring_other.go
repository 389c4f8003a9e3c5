//go:build !unix || darwin

package seal

import (
	"errors"
	"os/exec"
)

// noService reports whether err says that this system has no keyring.
func noService(err error) bool { return errors.Is(err, exec.ErrNotFound) }
