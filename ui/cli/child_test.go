package cli

import (
	"context"
	"errors"
	"os"
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
