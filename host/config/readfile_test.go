package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/host/internal/jsonfile"
)

// A file below, at and above the bound of its size.
func TestFilesAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	for n, fits := range map[int]bool{maxOwn - 1: true, maxOwn: true, maxOwn + 1: false} {
		if err := os.WriteFile(path, []byte("{}"+strings.Repeat(" ", n-2)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, settings := LoadSettings(path)
		_, servers := Load(path, true, nil)
		for _, err := range []error{settings, servers, Add(path, Draft{Name: "a", Command: "x"})} {
			if fits != (err == nil) || err != nil && (!errors.Is(err, ErrFile) || !strings.Contains(err.Error(), path+": it has more than 1.0 MiB")) {
				t.Errorf("%d bytes: %v", n, err)
			}
			if fits {
				break // Add has changed it
			}
		}
	}
	for n, fits := range map[int64]bool{maxForeign - 1: true, maxForeign: true, maxForeign + 1: false} {
		if err := os.Truncate(path, n); err != nil { // a hole takes no room
			t.Fatal(err)
		}
		if _, err := jsonfile.Read(path, maxForeign, false); fits != (err == nil) || !fits && !strings.Contains(err.Error(), "64.0 MiB") {
			t.Errorf("a file of another client of %d bytes: %v", n, err)
		}
	}
}

// Anything but a regular file is refused before it is opened: a pipe would wait for a writer, and a
// device never ends.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	for _, path := range []string{t.TempDir(), os.DevNull} {
		_, settings := LoadSettings(path)
		_, servers := Load(path, true, nil)
		for _, err := range []error{settings, servers} {
			if !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "it is no regular file but a d") {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}
