//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestSignalThatComesTwiceAtOnceIsOne(t *testing.T) {
	ctx, stop := endedBy(t.Context(), time.Hour, syscall.SIGUSR1)
	defer stop()
	for range 3 {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done() // the next one is a second signal, which by default ends the process
	}
}

// Without /proc the system does not know the path.
func TestProgramPathFromArguments(t *testing.T) {
	unknown := func() (string, error) { return "", os.ErrNotExist }
	if got, err := programPath(unknown, os.Args[0]); err != nil || !filepath.IsAbs(got) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := programPath(unknown, "no-such-program-anywhere"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
