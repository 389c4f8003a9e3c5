package startup

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// leastSpace is the address space in bytes without which Go cannot start its threads, and ends
// with a trace.
const leastSpace = 1500 << 20

// EnoughSpace returns an error if the address space is limited (ulimit -v) to less than the
// program needs.
func EnoughSpace() error {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur >= leastSpace {
		return nil
	}
	return fmt.Errorf("the address space is limited to %d MiB, and %d MiB are needed at least; raise it with ulimit -v", limit.Cur>>20, leastSpace>>20)
}
