package act

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"eventdeck/host/internal/jsonfile"
	"eventdeck/host/react"
)

// An interpreter opens a script by its name, and programs open what they load by names too: a
// check of the same names before proves nothing. So scripts and code run from a tree of copies
// that no other user can enter, in which they have the places that they have in the file system.

// Bounds of the code of a rule, and how long a tree that is not used is kept.
const (
	maxCodeFiles = 10_000
	maxCodeBytes = 256 << 20
	treeKept     = 7 * 24 * time.Hour // a command may run for a day
)

// dirTrees has the trees, each under its hash.
const dirTrees = "code"

// leftOut are directories in which programs keep what they can make again. They are neither
// pinned nor copied.
var leftOut = []string{".git", "__pycache__"}

// treeFile is a file, link or directory of a tree.
type treeFile struct {
	path string      // that it stands for
	kind fs.FileMode // type, and whether it is executable
	sum  string      // SHA-256 of the bytes of a file; where a link leads
}

// inTree returns where a path is in a tree; the tree "" is the file system itself.
func inTree(root, path string) string {
	if root == "" {
		return path
	}
	volume := filepath.VolumeName(path)
	return filepath.Join(root, strings.TrimSuffix(volume, ":"), path[len(volume):])
}

// isCode reports whether a path is in the code of a command, as far as its text says.
func isCode(f react.Files, path string) bool {
	return filepath.IsAbs(path) && slices.ContainsFunc(f.Code, func(dir string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

// copied returns the programs of a command that run from its tree even if they are not in its
// code: scripts, and a binary that the system can start only by its name.
func copied(f react.Files) []string {
	all := []string{f.Path}
	for _, i := range f.Interpreters {
		all = append(all, i.Path)
	}
	if last := len(all) - 1; startsOpened(all[last]) {
		all = all[:last]
	}
	return all
}

// manifest returns what a command runs from a tree, as it is in the tree, or in the file system.
func manifest(f react.Files, root string) (files []treeFile, err error) {
	var size int64
	add := func(path, file string, d fs.DirEntry) error {
		info, err := d.Info()
		if err == nil && root == "" {
			err = jsonfile.Writers(file, info)
		}
		if err != nil {
			return err
		}
		one := treeFile{path: path, kind: info.Mode() & fs.ModeType}
		size += info.Size()
		switch {
		case size > maxCodeBytes || len(files) == maxCodeFiles:
			err = fmt.Errorf(`there are more than %d files or %d MiB in "code"; name narrower directories`, maxCodeFiles, maxCodeBytes>>20)
		case info.IsDir():
		case one.kind != fs.ModeSymlink:
			one.kind = info.Mode() & 0o100
			one.sum, _, err = readSum(file)
		case root != "":
			one.sum, err = os.Readlink(file)
		default:
			if one.sum, err = filepath.EvalSymlinks(file); errors.Is(err, fs.ErrNotExist) {
				return nil // it leads nowhere in the tree too
			}
			if err == nil && !isCode(f, one.sum) {
				err = fmt.Errorf(`%s leads to %s; name that in "code" too`, path, one.sum)
			}
			one.sum, _ = filepath.Rel(filepath.Dir(path), one.sum) // both are absolute
		}
		files = append(files, one)
		return err
	}
	for _, path := range slices.Concat(copied(f), f.Code) {
		at := inTree(root, path)
		err = errors.Join(err, filepath.WalkDir(at, func(file string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case root == "" && d.IsDir() && slices.Contains(leftOut, d.Name()):
				return fs.SkipDir
			}
			return add(path+strings.TrimPrefix(file, at), file, d)
		}))
	}
	slices.SortFunc(files, func(a, b treeFile) int { return strings.Compare(a.path, b.path) })
	return slices.Compact(files), err
}

// sumOfAll returns [react.Files.Tree].
func sumOfAll(files []treeFile) string {
	if len(files) == 0 {
		return ""
	}
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%q %v %q\n", f.path, f.kind, f.sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// isTree checks that the tree of a command is at root as it was approved. Error:
// [react.ErrProgram].
func isTree(f react.Files, root string) error {
	if f.Tree == "" {
		return nil
	}
	files, err := manifest(f, root)
	if err == nil && sumOfAll(files) != f.Tree {
		err = errors.New("the copy that runs was changed; it is made anew")
	}
	if err != nil {
		return fmt.Errorf("%w %q: %w", react.ErrProgram, f.Path, err)
	}
	return nil
}

// tree returns the path of the tree of a command, which it makes if none exists, or one that
// was changed.
//
// Errors: [react.ErrProgram], those of the file system.
func (r *Runner) tree(f react.Files) (string, error) {
	if f.Tree == "" {
		return "", nil
	}
	r.trees.Lock()
	defer r.trees.Unlock()
	now, all := r.o.Now(), filepath.Join(withoutLinks(r.place())[0], dirTrees)
	root := filepath.Join(all, f.Tree)
	if isTree(f, root) != nil {
		if err := errors.Join(removeTree(root), build(root, f)); err != nil {
			return "", err
		}
		sweep(all, now.Add(-treeKept))
	}
	if len(f.Code) == 0 {
		link(root, copied(f))
	}
	return root, os.Chtimes(root, now, now)
}

// build makes a tree.
func build(root string, of react.Files) error {
	files, err := manifest(of, "")
	for _, f := range files {
		to := inTree(root, f.path)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o700)
		}
		switch {
		case err != nil:
			return err
		case f.kind == fs.ModeDir:
			err = os.MkdirAll(to, 0o700)
		case f.kind == fs.ModeSymlink:
			err = os.Symlink(f.sum, to)
		default:
			err = copyFile(to, f)
		}
	}
	return errors.Join(err, chmodDirs(root, 0o500), isTree(of, root))
}

func copyFile(to string, f treeFile) error {
	in, _, err := openFile(f.path)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o400|f.kind)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// link adds links to what is beside the programs of a tree without code, in each directory on the
// way to them: a script may load files by their place relative to its own. Where a link cannot be
// made, it does not find them.
func link(root string, programs []string) {
	own := map[string]bool{} // true: a directory
	for _, path := range programs {
		own[path] = false
		for dir := filepath.Dir(path); !own[dir]; dir = filepath.Dir(dir) {
			own[dir] = true
		}
	}
	for dir, is := range own {
		at := inTree(root, dir)
		if !is || os.Chmod(at, 0o700) != nil {
			continue
		}
		beside, _ := os.ReadDir(dir)
		linked, _ := os.ReadDir(at)
		for _, entry := range slices.Concat(linked, beside) {
			path, file := filepath.Join(dir, entry.Name()), filepath.Join(at, entry.Name())
			if _, is := own[path]; is {
				continue
			}
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
				_ = os.Remove(file)
			} else {
				_ = os.Symlink(path, file)
			}
		}
		_ = os.Chmod(at, 0o500)
	}
}

// sweep removes trees that were last used before a time, as far as that is possible.
func sweep(all string, before time.Time) {
	entries, _ := os.ReadDir(all)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.ModTime().Before(before) {
			_ = removeTree(filepath.Join(all, entry.Name()))
		}
	}
}

// removeTree removes a tree, if it is there.
func removeTree(root string) error {
	_ = chmodDirs(root, 0o700) // otherwise it cannot be removed, which is said
	return os.RemoveAll(root)
}

func chmodDirs(root string, mode fs.FileMode) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, mode)
		}
		return err
	})
}
