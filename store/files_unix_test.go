//go:build unix

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"eventdeck/host/event"
	"eventdeck/store/datadir"
	"eventdeck/store/private"
	"eventdeck/store/seal"
)

func modes(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	got := map[string]fs.FileMode{}
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		got[filepath.Base(path)] = info.Mode()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

func checkModes(t *testing.T, dir string) {
	t.Helper()
	got := modes(t, dir)
	for _, name := range []string{datadir.DB, datadir.WitnessFile, datadir.PID, seal.FileKey} {
		if mode := got[name]; mode != 0o600 {
			t.Errorf("%s has the mode %v", name, mode)
		}
	}
	if mode := got[filepath.Base(dir)]; mode != fs.ModeDir|0o700 {
		t.Errorf("the directory has the mode %v", mode)
	}
	if len(got) != 5 {
		t.Errorf("files: %v", got)
	}
}

func TestFilesArePrivateUnderAnyMask(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := filepath.Join(t.TempDir(), "a", "data")
	s := openTest(t, Options{Dir: dir})
	store(t, s, eventsBatch("aa", "1"))
	checkModes(t, dir)
}

func TestLooseModesAreTightened(t *testing.T) {
	dir := makeStore(t)
	for name, mode := range map[string]fs.FileMode{datadir.DB: 0o644, seal.FileKey: 0o666, datadir.WitnessFile: 0o600, "": 0o777} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	openTest(t, Options{Dir: dir})
	checkModes(t, dir)
}

func TestStrangeFilesAreRefused(t *testing.T) {
	replace := func(name string, with func(path string) error) func(*testing.T) string {
		return func(t *testing.T) string {
			dir := makeStore(t)
			path := filepath.Join(dir, name)
			if err := os.Rename(path, path+".real"); err != nil {
				t.Fatal(err)
			}
			if err := with(path); err != nil {
				t.Fatal(err)
			}
			return dir
		}
	}
	link := func(path string) error { return os.Symlink(path+".real", path) }
	pipe := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	mkdir := func(path string) error { return os.Mkdir(path, 0o700) }
	for name, c := range map[string]struct {
		make func(*testing.T) string
		says string
	}{
		"database is a link":      {replace(datadir.DB, link), "symbolic link"},
		"database dangles":        {replace(datadir.DB, func(path string) error { return os.Symlink("nowhere", path) }), "symbolic link"},
		"database is a pipe":      {replace(datadir.DB, pipe), "missing"},
		"database is a directory": {replace(datadir.DB, mkdir), "regular"},
		"key is a link":           {replace(seal.FileKey, link), "symbolic link"},
		"key is a pipe":           {replace(seal.FileKey, pipe), "regular"},
		"directory is a link": {func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(makeStore(t), path); err != nil {
				t.Fatal(err)
			}
			return path
		}, "symbolic link"},
		"directory is a file": {func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}, "not a directory"},
		"directory is shared": {func(t *testing.T) string {
			dir := t.TempDir()
			if err := os.Chmod(dir, fs.ModeSticky|0o777); err != nil {
				t.Fatal(err)
			}
			return dir
		}, "shared"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := openError(t, c.make(t)); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

func TestFilesOfOtherUsersAreRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	for _, name := range []string{"", datadir.DB, seal.FileKey} {
		dir := makeStore(t)
		if err := os.Chown(filepath.Join(dir, name), 12345, -1); err != nil {
			t.Fatal(err)
		}
		if err := openError(t, dir); !errors.Is(err, private.ErrRefused) || !strings.Contains(err.Error(), "12345") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestNoSecretInTheFiles(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir})
	secret, err := event.NewWebhookSecret(nil)
	if err != nil {
		t.Fatal(err)
	}
	other := event.NewSecret("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	look := func(when string) {
		t.Helper()
		for name, mode := range modes(t, dir) {
			if mode.IsDir() {
				continue
			}
			content, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []string{"whsec_", secret.Reveal()[6:], "AAAAAAAAAAAAAAAAAAAAAAAA"} {
				if strings.Contains(string(content), s) {
					t.Errorf("%s: %s holds %s", when, name, s)
				}
			}
		}
	}
	store(t, s, event.Batch{Sub: "aa", Update: func(sub *event.Subscription) { sub.Hook.Secret = secret }})
	look("new")
	store(t, s, event.Batch{Sub: "aa", Update: func(sub *event.Subscription) {
		sub.Hook.Previous, sub.Hook.Secret = sub.Hook.Secret, other
	}})
	look("rotated")
	store(t, s, event.Batch{Sub: "aa", Remove: true, Ended: []event.Ended{{Path: "/x"}}})
	look("removed")
}
