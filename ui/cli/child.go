package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/ui/cli/program"
)

// errChildDied: a process that read a damaged store did not end by itself.
var errChildDied = errors.New("reading the store ended the process")

// Bounds of a process that reads a damaged store: damage can lead a reader in
// circles, or let it take more memory for a page than the whole file has.
const (
	childStack = 2 << 20 // bytes of one goroutine
	childLook  = 100 * time.Millisecond
	childLeave = 3 * time.Second // after it was asked to end
)

// The memory that such a process may have from the system, in bytes: childMemoryLeast and
// childMemoryEach for each byte of the file, at most childMemoryMost. Sound stores need less: a
// reader keeps a few words for each page.
const (
	childMemoryLeast = 64 << 20
	childMemoryEach  = 16
	childMemoryMost  = 512 << 20
)

// storeFile is the name of the store in its directory.
const storeFile = "state.db"

// inChild runs a command on the store in a process of its own, which is this
// program with --here: a damaged file may end it.
//
// Errors: what the command says; errChildDied.
func (a *app) inChild(ctx context.Context, dir, what string, args ...string) error {
	return a.inChildReading(ctx, nil, dir, what, args...)
}

// inChildReading is inChild with a standard input; nil: it has none.
func (a *app) inChildReading(ctx context.Context, in io.Reader, dir, what string, args ...string) error {
	self, err := a.Executable()
	if err != nil {
		return err
	}
	var stderr firstBytes
	cmd := exec.CommandContext(ctx, self, append([]string{"store", what, "--here", "--data", dir}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, a.Stdout, &stderr
	// An interrupted child still finishes putting a file into place.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = childLeave
	err = cmd.Run()
	switch said := bytes.TrimSpace(stderr.first); {
	case err == nil:
		return nil
	case ctx.Err() != nil: // whether it ended by itself, or had to be killed
		return fmt.Errorf("store %s: %w", what, program.ErrStopped)
	case cmd.ProcessState == nil:
		return fmt.Errorf("store %s: %w", what, err)
	case cmd.ProcessState.ExitCode() == exitError && len(said) > 0:
		return errors.New(string(bytes.TrimPrefix(said, []byte("eventdeck: "))))
	}
	return fmt.Errorf("store %s: %w: %w", what, errChildDied, err)
}

// firstBytes keeps the beginning of what is written to it.
type firstBytes struct{ first []byte }

const childSays = 64 << 10

func (b *firstBytes) Write(p []byte) (int, error) {
	b.first = append(b.first, p[:min(len(p), childSays-len(b.first))]...)
	return len(p), nil
}

// childMemory returns the bound of a process that reads a file, childMemoryMost if that is no
// regular one, as standard input is not.
func childMemory(file string) uint64 {
	info, err := os.Stat(file)
	switch {
	case file == "-", err == nil && !info.Mode().IsRegular():
		return childMemoryMost
	case err != nil: // reading says why
		return childMemoryLeast
	}
	size := min(info.Size(), childMemoryMost) // so that the product has no overflow
	return uint64(min(childMemoryLeast+childMemoryEach*size, childMemoryMost))
}

// boundChild ends the process when it exceeds its bounds for reading a file: see childMemory. The
// returned function ends the watch.
func boundChild(file string) (stop func()) {
	debug.SetMaxStack(childStack)
	most := childMemory(file)
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(childLook)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-done:
				return
			}
			var m runtime.MemStats
			if runtime.ReadMemStats(&m); m.Sys > most {
				os.Exit(exitUsage) // not exitError: there is nothing to say
			}
		}
	}()
	return func() { close(done) }
}

func hidden(cmd *cobra.Command, flag *bool, name string) {
	cmd.Flags().BoolVar(flag, name, false, "")
	_ = cmd.Flags().MarkHidden(name) // fails for a flag that does not exist only
}
