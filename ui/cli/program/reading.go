package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"eventdeck/host/event"
)

// Reading calls fn with the store that is there. The store is closed when ctx ends, so that no
// read outlasts it, however much is stored.
//
// Errors: those of [App.OpenKept] and of fn; [ErrStopped] if it met the end of ctx.
func (a *App) Reading(ctx context.Context, fn func(event.Store) error) error {
	store, err := a.OpenKept(ctx)
	if err != nil {
		return err
	}
	end := sync.OnceValue(store.Close)
	defer context.AfterFunc(ctx, func() { _ = end() })()
	err = fn(store)
	if errors.Is(err, event.ErrClosed) {
		err = Stopped(ctx, err)
	}
	return errors.Join(err, end())
}

// WriteTo calls write with the file of --output, which must not exist yet, or for "" with
// standard output, until ctx ends (see [Until]). Its errors name which. A file that write could not
// complete gets the ending .incomplete, and a line says so.
func (a *App) WriteTo(ctx context.Context, output string, write func(io.Writer) error) error {
	if output == "" {
		if err := write(Until(ctx, a.Stdout)); err != nil {
			return fmt.Errorf("standard output: %w", err)
		}
		return nil
	}
	file, err := newFile(output)
	if err != nil {
		return err
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		part := output + ".incomplete"
		if renamed := os.Rename(output, part); renamed != nil {
			return errors.Join(err, renamed)
		}
		if errors.Is(err, ErrStopped) { // no line tells of it
			a.Say("stopped; what was written is in %s", part)
		}
		return fmt.Errorf("what was written is in %s: %w", part, err)
	}
	return nil
}

// newFile makes the file of --output.
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

// Absent returns an error if args names a subscription that is not stored.
func Absent(store event.Store, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, err := store.Subscription(event.SubID(args[0])); errors.Is(err, event.ErrNotFound) {
		return NoSubscription(event.SubID(args[0]))
	}
	return nil
}

// Endings are the functions that end what was begun, in the order in which it began.
type Endings []func() error

// End calls all of them, and returns their errors joined.
func (e Endings) End() error {
	var errs []error
	for _, end := range e {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

// OpenKept opens the store that is there. Errors: those of [App.Existing] and [App.UseStore].
func (a *App) OpenKept(ctx context.Context) (event.Store, error) {
	o, err := a.Existing()
	if err != nil {
		return nil, err
	}
	return a.UseStore(ctx, o)
}

// NoSubscription is the error for a subscription that is not stored.
func NoSubscription(id event.SubID) error {
	return fmt.Errorf("there is no subscription %q; `eventdeck subs list` shows the ids", string(id))
}
