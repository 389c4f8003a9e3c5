//go:build unix

package jsonfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever can write the file, a directory or a link on the way, decides what is read there.
func TestOwnRefusesWhatOthersCanChange(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(base, name) }
	err = errors.Join(
		os.MkdirAll(in("a/b"), 0o700), os.MkdirAll(in("c"), 0o700), os.WriteFile(in("a/b/file"), nil, 0o600),
		os.Symlink("a/b", in("link")), os.Symlink(in("link/file"), in("c/named")), os.Symlink("loop", in("loop")), os.Symlink("../a/./b//file", in("c/up")),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a/b/file", "link/file", "c/named", "c/up", "c/../link/file"} {
		if real, err := Own(base + "/" + name); err != nil || real != in("a/b/file") {
			t.Errorf("%s: %q, %v", name, real, err)
		}
	}
	for _, path := range []string{in("none"), in("a/b/file/none"), in("loop")} {
		if real, err := Own(path); err == nil || errors.Is(err, ErrWritable) {
			t.Errorf("%s: %q, %v", path, real, err)
		}
	}
	refused := func(name, place, who string) {
		t.Helper()
		if _, err := Own(in(name)); !errors.Is(err, ErrWritable) || !strings.Contains(err.Error(), in(place)+" can be changed by "+who) {
			t.Errorf("%s, by %s: %v", name, place, err)
		}
	}
	for _, place := range []string{"a/b/file", "a/b", "a", "c"} {
		was, err := os.Stat(in(place))
		if err != nil {
			t.Fatal(err)
		}
		for mode, who := range map[fs.FileMode]string{0o020: "its group", 0o002: "every user"} {
			if err := os.Chmod(in(place), was.Mode()|mode); err != nil {
				t.Fatal(err)
			}
			refused("c/named", place, who)
		}
		if err := os.Chmod(in(place), was.Mode()); err != nil {
			t.Fatal(err)
		}
		if os.Getuid() == 0 {
			if err := os.Chown(in(place), 12345, 0); err != nil {
				t.Fatal(err)
			}
			refused("c/named", place, "the user with the id 12345")
			if err := os.Chown(in(place), 0, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	// In a directory like /tmp others can make files, but not replace those of this user.
	if err := os.Chmod(in("c"), 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if _, err := Own(in("c/named")); err != nil {
		t.Error(err)
	}
	if os.Getuid() == 0 {
		if err := os.Lchown(in("c/named"), 12345, 0); err != nil {
			t.Fatal(err)
		}
		refused("c/named", "c/named", "the user with the id 12345")
	}
}
