package private_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"eventdeck/store/private"
)

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A file is replaced as a whole or not at all, and no temporary file is left.
func TestReplaceIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	failed := errors.New("failed")
	write := func(text string, err error) func(string) error {
		return func(temp string) error { return errors.Join(os.WriteFile(temp, []byte(text), 0o600), err) }
	}
	if err := private.Replace(dir, "file", write("one", nil)); err != nil || content(t, path) != "one" {
		t.Fatal(err)
	}
	if err := private.Replace(dir, "file", write("half", failed)); !errors.Is(err, failed) || content(t, path) != "one" {
		t.Errorf("after a failure: %v", err)
	}
	if err := os.WriteFile(path+private.TempSuffix, []byte("of a process that died"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := private.Write(dir, "file", []byte("two")); err != nil || content(t, path) != "two" {
		t.Errorf("over a leftover: %v", err)
	}
	if text, err := private.Read(dir, "file"); string(text) != "two" || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || private.ModesMatter && info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
	if err := errors.Join(private.Remove(path), private.Remove(path)); err != nil {
		t.Error(err)
	}
}

func TestFilesOfOthersAreRefused(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "folder"), 0o700), os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "file"), filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	for _, name := range []string{"folder", "link"} {
		if _, err := private.Open(filepath.Join(dir, name), os.O_RDONLY, 0); !errors.Is(err, private.ErrRefused) {
			t.Errorf("%s is opened: %v", name, err)
		}
	}
	for _, name := range []string{"file", "link"} {
		if err := private.Dir(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is taken for a directory", name)
		}
	}
}
