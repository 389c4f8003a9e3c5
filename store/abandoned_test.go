package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"eventdeck/host/event"
	"eventdeck/store/datadir"
)

// dead makes a temporary store in dir as a killed process leaves it.
func dead(t *testing.T, dir, name string) string {
	t.Helper()
	s := openTest(t, Options{Dir: dir, Temporary: true})
	store(t, s, eventsBatch("aa", "1"))
	left := filepath.Join(dir, name)
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{datadir.DB, datadir.PID} {
		content, err := os.ReadFile(filepath.Join(s.Info().Path, file))
		if err == nil {
			err = os.WriteFile(filepath.Join(left, file), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return left
}

func TestTemporaryStoresOfDeadProcessesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	living := openTest(t, Options{Dir: dir, Temporary: true})
	sound := dead(t, dir, "eventdeck-sound")
	damaged := dead(t, dir, "eventdeck-damaged")
	if err := os.WriteFile(filepath.Join(damaged, datadir.DB), make([]byte, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "eventdeck-other")
	young := filepath.Join(dir, "eventdeck-young") // its process is about to open it
	for _, d := range []string{other, young} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(other, "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(young, datadir.DB), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	openTest(t, Options{Dir: dir, Temporary: true})
	for _, gone := range []string{sound, damaged} {
		if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", gone, err)
		}
	}
	for _, there := range []string{living.Info().Path, other, young} {
		if _, err := os.Stat(there); err != nil {
			t.Error(err)
		}
	}
	equal(t, store(t, living, eventsBatch("aa", "2")), event.Outcome{Stored: 1, Last: 1})
}
