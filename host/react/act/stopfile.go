package act

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// StopFile is the file in the data directory that stops all reactions. While it is there
// nothing starts; and what runs is ended unless its text begins with [StopStarts]. So an
// empty file, made by hand, ends everything.
const StopFile = "react.stop"

// StopStarts is the text of a stop file that lets go on what runs.
const StopStarts = "starts\n"

// Stopped reports whether there is a stop file in a data directory, and whether what runs
// is to end too. A file that cannot be read stops everything.
func Stopped(dir string) (starts, running bool) {
	text, err := os.ReadFile(filepath.Join(dir, StopFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, false
	}
	return true, err != nil || !strings.HasPrefix(string(text), strings.TrimSpace(StopStarts))
}

// Stop puts the stop file in place; with kill also what runs ends.
func Stop(dir string, kill bool) error {
	text := StopStarts
	if kill {
		text = ""
	}
	return os.WriteFile(filepath.Join(dir, StopFile), []byte(text), 0o600)
}

// Unstop removes the stop file.
func Unstop(dir string) error {
	if err := os.Remove(filepath.Join(dir, StopFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
