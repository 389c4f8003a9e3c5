package attach

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"eventdeck/host/event"
)

// The files in the data directory.
const (
	fileSocket = "attach.sock"
	filePlace  = "attach.path" // where the socket is, when the directory's name is too long for one
)

// maxPath is how long the name of a socket may be: 104 bytes with the final zero on
// the BSDs and macOS, 108 on Linux and Windows.
const maxPath = 103

// listen listens in a data directory that the caller has the store of: what is left
// there belongs to a process that has ended, and is replaced. The returned function
// ends that.
func listen(dir string) (*net.UnixListener, func() error, error) {
	clear := func() error {
		return errors.Join(removeFile(filepath.Join(dir, fileSocket)), removePlace(dir))
	}
	if err := clear(); err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, fileSocket)
	if len(path) > maxPath {
		var err error
		if path, err = shortPlace(dir); err != nil {
			return nil, nil, err
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err == nil {
		// The directory is private: no other user could come in before.
		if err = os.Chmod(path, 0o600); err != nil {
			err = errors.Join(err, l.Close())
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, clear())
	}
	return l, func() error { return errors.Join(closed(l.Close()), clear()) }, nil
}

// shortPlace makes a private directory with a short name, and leaves word of it.
func shortPlace(dir string) (path string, err error) {
	temp, err := os.MkdirTemp("", "eventdeck-")
	if err != nil {
		return "", err
	}
	path = filepath.Join(temp, fileSocket)
	if len(path) > maxPath {
		return "", errors.Join(fmt.Errorf("the names of %s and of the directory for temporary files are too long for a socket", dir), os.Remove(temp))
	}
	return path, os.WriteFile(filepath.Join(dir, filePlace), []byte(path), 0o600)
}

// removePlace removes what shortPlace made.
func removePlace(dir string) error {
	place := filepath.Join(dir, filePlace)
	path, err := os.ReadFile(place)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if temp := filepath.Dir(string(path)); filepath.Base(string(path)) == fileSocket && strings.HasPrefix(filepath.Base(temp), "eventdeck-") {
		// A cleaner may have removed the temporary files already.
		if err := errors.Join(removeFile(string(path)), removeFile(temp)); err != nil {
			return err
		}
	}
	return removeFile(place)
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// socketOf returns where the socket of a data directory would be.
func socketOf(dir string) string {
	path := filepath.Join(dir, fileSocket)
	if len(path) <= maxPath {
		return path
	}
	place, err := os.ReadFile(filepath.Join(dir, filePlace))
	if err != nil {
		return path // of which dialing says that it is not there
	}
	return string(place)
}

func closed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// fingerprint reports whether two processes mean the same server by a name, without telling
// its address or a command line to other users.
func fingerprint(s event.Server) string {
	h := sha256.New()
	parts := append([]string{s.URL, s.Command, s.Dir}, s.Args...)
	if s.Command != "" && s.Dir == "" && !filepath.IsAbs(s.Command) && filepath.Base(s.Command) != s.Command {
		wd, err := os.Getwd()
		if err != nil {
			wd = ""
		}
		parts = append(parts, wd) // a command beside the present directory
	}
	for _, part := range parts {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
