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
	fileSocket    = "attach.sock"
	fileShortPath = "attach.path" // holds the path of the socket where that of the directory is too long
)

// maxPath bounds the path of a socket, in bytes: 104 with the final zero on the BSDs and macOS, 108
// on Linux and Windows.
const maxPath = 103

// listen listens in a data directory whose store the caller has open: files that are left there
// belong to a process that has ended, and are replaced. The returned function closes the listener
// and removes the files.
func listen(dir string) (*net.UnixListener, func() error, error) {
	clear := func() error {
		return errors.Join(removeFile(filepath.Join(dir, fileSocket)), removeShortDir(dir))
	}
	if err := clear(); err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, fileSocket)
	if len(path) > maxPath {
		var err error
		if path, err = makeShortDir(dir); err != nil {
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
	return l, func() error { return errors.Join(ignoreClosed(l.Close()), clear()) }, nil
}

// makeShortDir makes a private directory with a short path for the socket, and notes the path of
// the socket in fileShortPath.
func makeShortDir(dir string) (path string, err error) {
	temp, err := os.MkdirTemp("", "eventdeck-")
	if err != nil {
		return "", err
	}
	path = filepath.Join(temp, fileSocket)
	if len(path) > maxPath {
		return "", errors.Join(fmt.Errorf("the names of %s and of the directory for temporary files are too long for a socket", dir), os.Remove(temp))
	}
	return path, os.WriteFile(filepath.Join(dir, fileShortPath), []byte(path), 0o600)
}

// removeShortDir removes what makeShortDir made.
func removeShortDir(dir string) error {
	place := filepath.Join(dir, fileShortPath)
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

// SocketOf returns the path of the socket of a data directory, whether a process listens there or
// not.
func SocketOf(dir string) string {
	path := filepath.Join(dir, fileSocket)
	if len(path) <= maxPath {
		return path
	}
	place, err := os.ReadFile(filepath.Join(dir, fileShortPath))
	if err != nil {
		return path // dialing it fails
	}
	return string(place)
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// fingerprint returns a hash of how a server is reached: two processes compare it to know whether a
// name means the same server, without showing an address or a command line.
func fingerprint(s event.Server) string {
	h := sha256.New()
	parts := append([]string{s.URL, s.Command, s.Dir}, s.Args...)
	if s.Command != "" && s.Dir == "" && !filepath.IsAbs(s.Command) && filepath.Base(s.Command) != s.Command {
		wd, err := os.Getwd()
		if err != nil {
			wd = ""
		}
		parts = append(parts, wd) // the command is relative to the working directory
	}
	for _, part := range parts {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
