package cli

import (
	"context"
	"errors"
	"os"
	"testing"
)

// A command on the store that the operator ends says so, not how its process ended.
func TestAChildThatIsEndedIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := &app{Program: Program{Executable: os.Executable}}
	err := a.inChild(ctx, t.TempDir(), "check")
	if !errors.Is(err, errStopped) || err.Error() != "store check: interrupted" {
		t.Error(err)
	}
}
