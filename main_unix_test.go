//go:build unix

package main

import (
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
