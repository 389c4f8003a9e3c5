package store

import (
	"errors"
	"syscall"
)

func mountSmall(dir, size string) (unmount func() error, err error) {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		return nil, err
	}
	return func() error { return syscall.Unmount(dir, syscall.MNT_DETACH) }, nil
}

// mountReadOnly lets a directory be read only.
func mountReadOnly(dir string) (unmount func() error, err error) {
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		return nil, err
	}
	unmount = func() error { return syscall.Unmount(dir, syscall.MNT_DETACH) }
	if err := syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return nil, errors.Join(err, unmount())
	}
	return unmount, nil
}
