package receiver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"eventdeck/host/config"
)

// DefaultCADir returns the directory of the user's local certificate authority:
// part of the user's state, whatever store is in use.
//
// Errors: [ErrCA], when the system names no home directory.
func DefaultCADir() (string, error) {
	dir, err := config.OwnPaths().DataDir()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrCA, err)
	}
	return filepath.Join(dir, "ca"), nil
}

// DefaultCertPath returns where the certificate of the user's local certificate
// authority is, or will be once there is one.
//
// Errors: [ErrCA], when the system names no home directory.
func DefaultCertPath() (string, error) {
	dir, err := DefaultCADir()
	if err != nil {
		return "", err
	}
	return certPath(dir), nil
}

func certPath(dir string) string { return filepath.Join(dir, "ca.pem") }

// secureDir makes dir, or removes the rights of others on it.
func secureDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	return tighten(dir, info, 0o700)
}

// readPrivate reads a file that no other user may read.
func readPrivate(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if err := tighten(path, info, 0o600); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// tighten removes the rights that mode does not grant. It does nothing on Windows, where a
// user's state directory is private.
func tighten(path string, info fs.FileInfo, mode fs.FileMode) error {
	if runtime.GOOS == "windows" || info.Mode().Perm()&^mode == 0 {
		return nil
	}
	return os.Chmod(path, mode)
}

// writeAtomic writes a file beside path and moves it there with place: os.Rename, or os.Link to
// keep an existing file.
func writeAtomic(path string, data []byte, place func(from, to string) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if e := os.Remove(f.Name()); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}()
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return place(f.Name(), path)
}
