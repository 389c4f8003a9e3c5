package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"eventdeck/host/event"
)

// reading hands on the store of what is kept. Where nothing is kept it does nothing.
func (a *app) reading(ctx context.Context, fn func(event.Store) error) (err error) {
	store, err := a.openKept(ctx)
	if store == nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return fn(store)
}

// newFile makes the file of --output, which must not exist yet.
func newFile(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("--output: %s is a directory; name a file in it", path)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("--output: %w; remove it or take another name", err)
	}
	if err != nil {
		return nil, fmt.Errorf("--output: %w", err)
	}
	return file, nil
}

// absent returns the error for a subscription that is not kept, if one is named.
func absent(store event.Store, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, err := store.Subscription(event.SubID(args[0])); errors.Is(err, event.ErrNotFound) {
		return noSubscription(event.SubID(args[0]))
	}
	return nil
}

// endings are what is to be ended again, in the order in which it began.
type endings []func() error

func (e endings) end() error {
	var errs []error
	for _, end := range e {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}
