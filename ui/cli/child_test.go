package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"eventdeck/ui/cli/program"
)

// A command on the store that the operator interrupts says so, and not how its child process
// ended.
func TestInterruptedChildSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := &app{&program.App{Program: program.Program{Executable: os.Executable}}}
	err := a.inChild(ctx, t.TempDir(), "check")
	if !errors.Is(err, program.ErrStopped) || err.Error() != "store check: interrupted" {
		t.Error(err)
	}
}

// A process that reads a small file is ended long before it fills the memory of the machine.
func TestMemoryOfAChildDependsOnTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), storeFile)
	for size, want := range map[int64]uint64{0: 64 << 20, 1 << 20: 80 << 20, 28 << 20: 512 << 20, 1 << 40: 512 << 20} {
		f, err := os.Create(file)
		if err == nil {
			err = errors.Join(f.Truncate(size), f.Close())
		}
		if err != nil {
			t.Skip(err) // a file system without sparse files
		}
		if got := childMemory(file); got != want {
			t.Errorf("%d bytes may use %d bytes, want %d", size, got, want)
		}
	}
	if got := childMemory("-"); got != childMemoryMost {
		t.Errorf("standard input may use %d bytes", got)
	}
	if got := childMemory(filepath.Join(t.TempDir(), "none")); got != childMemoryLeast {
		t.Errorf("no file may use %d bytes", got)
	}
}
