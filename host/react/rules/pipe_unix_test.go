//go:build unix

package rules

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe without a writer would be waited for, for ever.
func TestOpenDoesNotWaitForPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.json")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path, Known{}); !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), "a pipe") {
		t.Error(err)
	}
	if err := Add(path, fromScreen()); !errors.Is(err, ErrFile) {
		t.Error(err)
	}
}
