//go:build unix

package jsonfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// macOSAdmins is a group whose members can become root.
const macOSAdmins = 80

// Own returns a path without its symbolic links. It refuses a path where a user other than this
// one and root can change what is there, a directory on the way, or a link.
//
// Errors: [ErrWritable], those of the file system.
func Own(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = filepath.EvalSymlinks(path) // of which there may be too many
	}
	if err != nil {
		return "", err
	}
	real := "/"
	for names := strings.Split("."+path, "/"); len(names) > 0; names = names[1:] {
		next := filepath.Join(real, names[0]) // a ".." leads to the parent, as there are no links in real
		info, err := os.Lstat(next)
		if err == nil {
			err = Writers(next, info)
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			real = next
			continue
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			real = "/"
		}
		names = slices.Concat(names[:1], strings.Split(target, "/"), names[1:])
	}
	return real, nil
}

// Writers refuses a file or directory that a user other than this one and root can change.
//
// Error: [ErrWritable].
func Writers(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	who, help := "", "chmod go-w "+path
	switch mode := info.Mode(); {
	case !ok:
	case st.Uid != 0 && int(st.Uid) != os.Geteuid():
		who, help = fmt.Sprintf("the user with the id %d, whose it is", st.Uid), "chown"
	case mode&fs.ModeSymlink != 0, mode.IsDir() && mode&fs.ModeSticky != 0: // others cannot replace what is there
	case mode.Perm()&0o002 != 0:
		who = "every user"
	case mode.Perm()&0o020 != 0 && !(runtime.GOOS == "darwin" && st.Gid == macOSAdmins):
		who = "its group"
	}
	if who == "" || errors.Is(syscall.Access(path, 2), syscall.EROFS) { // 2: for writing
		return nil
	}
	return fmt.Errorf("%w: %s can be changed by %s; `%s` helps", ErrWritable, path, who, help)
}
