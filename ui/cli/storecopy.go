package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"eventdeck/host/attach"
	"eventdeck/ui/cli/plain"
)

// A check removes what earlier checks left behind when they were killed.
const (
	copyPrefix = "check-"
	copyAge    = time.Hour
)

func removeOldCopies(dir string, now time.Time) error {
	old, err := filepath.Glob(filepath.Join(dir, copyPrefix+"*"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if info, err := os.Lstat(path); err == nil && info.IsDir() && now.Sub(info.ModTime()) > copyAge {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkCopy checks the store that another process has open: a copy of it as it is now.
func (a *app) checkCopy(ctx context.Context, c *attach.Client, dir string) (err error) {
	defer func() { err = errors.Join(err, c.Close()) }()
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := c.Snapshot().Store.Err; err != nil {
		a.tell(fmt.Sprintf("process %d could not store what came last: %s", c.PID(), plain.Message(err)))
	}
	if err := removeOldCopies(dir, a.Now()); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(dir, copyPrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if _, err := c.Backup(ctx, filepath.Join(temp, storeFile)); err != nil {
		return err
	}
	a.tell(fmt.Sprintf("process %d has the store open and goes on; this is a copy as of now", c.PID()))
	return a.checkInChild(ctx, temp)
}

// backUpAttached copies the store that another process has open.
func (a *app) backUpAttached(ctx context.Context, c *attach.Client, file string) (n int64, err error) {
	defer func() { err = errors.Join(err, c.Close()) }()
	if file, err = filepath.Abs(file); err != nil {
		return 0, err
	}
	return c.Backup(ctx, file)
}
