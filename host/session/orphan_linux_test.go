package session

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func TestServerThatReadsNothingEndsWhenTheHostIsKilled(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	alive := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(alive, 0o600); err != nil {
		t.Fatal(err)
	}
	h := exec.CommandContext(t.Context(), exe)
	h.Env = append(os.Environ(), "SESSION_TEST_SERVER=host", aliveFile+"="+alive)
	h.Stderr = os.Stderr
	if err := h.Start(); err != nil {
		t.Fatal(err)
	}
	held, err := os.Open(alive) // waits for the server to open it
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := h.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := h.Wait(); err == nil {
		t.Error("the host was not killed")
	}
	if _, err := io.Copy(io.Discard, held); err != nil { // until the server ends
		t.Fatal(err)
	}
}
