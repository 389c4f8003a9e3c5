package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/datadir"
	"eventdeck/store/seal"
)

// A file that is damaged while it is open ends the store: Submit is refused with advice, Close
// does not hang, and the lock is released.
func TestDamageWhileOpenEndsTheStore(t *testing.T) {
	if raceDetector {
		t.Skip("a damaged page leads bbolt to addresses of other memory, which the detector takes for a race")
	}
	page := int64(os.Getpagesize())
	overwrite := func(with byte, from int64) func(f *os.File, size int64) error {
		return func(f *os.File, size int64) error {
			_, err := f.WriteAt(bytes.Repeat([]byte{with}, int(size-from)), from)
			return err
		}
	}
	for name, damage := range map[string]func(f *os.File, size int64) error{
		"zeros behind the meta pages": overwrite(0, 2*page),
		"zeros":                       overwrite(0, 0),
		"garbage":                     overwrite(0xa5, 0),
		"garbage behind the meta":     overwrite(0x5a, 2*page),
		"cut to nothing":              func(f *os.File, _ int64) error { return f.Truncate(0) },
		"cut to the meta pages":       func(f *os.File, _ int64) error { return f.Truncate(2 * page) },
		"cut in the middle":           func(f *os.File, size int64) error { return f.Truncate(size / 2) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := fillStore(t, 200)
			s, err := Open(t.Context(), Options{Dir: dir, Keyring: seal.NoKeyring(), noSnapshots: true})
			mustDo(t, err)
			<-s.loaded
			path := filepath.Join(dir, datadir.DB)
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			mustDo(t, err)
			info, err := f.Stat()
			mustDo(t, err)
			mustDo(t, errors.Join(damage(f, info.Size()), f.Close()))

			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for i := 0; ; i++ {
				done := make(chan error, 1)
				b := eventsBatch("aa", fmt.Sprint("late", i))
				b.Done = func(_ event.Outcome, err error) { done <- err }
				err := s.Submit(ctx, b)
				if err == nil {
					select {
					case err = <-done:
					case <-s.Broken():
						err = s.Info().Err
					case <-ctx.Done():
						t.Fatal("a batch is never answered")
					}
				}
				if err != nil {
					if !errors.Is(err, ErrDamaged) {
						t.Fatal(err)
					}
					break
				}
			}
			if err := s.Info().Err; !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "eventdeck store recover") {
				t.Errorf("the store says %v", err)
			}
			if _, err := s.Get(1); !errors.Is(err, ErrDamaged) {
				t.Errorf("a read says %v", err)
			}
			closed := make(chan error, 1)
			go func() { closed <- s.Close() }()
			select {
			case <-closed:
			case <-time.After(time.Minute):
				t.Fatal("closing it hangs")
			}
			if err := openError(t, dir); errors.Is(err, ErrLocked) {
				t.Errorf("its lock is still held: %v", err)
			}
		})
	}
}

// Once the file is removed or replaced, nothing is acknowledged any more.
func TestRemovedFileIsNoticed(t *testing.T) {
	for name, remove := range map[string]func(dir string) error{
		"the directory": os.RemoveAll,
		"the file":      func(dir string) error { return os.Remove(filepath.Join(dir, datadir.DB)) },
		"another file": func(dir string) error {
			path := filepath.Join(dir, datadir.DB)
			content, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path+".other", content, 0o600), os.Rename(path+".other", path))
		},
	} {
		dir := makeStore(t)
		s, err := Open(t.Context(), Options{Dir: dir, Keyring: seal.NoKeyring(), noSnapshots: true})
		mustDo(t, err)
		mustDo(t, remove(dir))
		r := <-submit(t, s, eventsBatch("aa", "late"))
		if !errors.Is(r.err, ErrGone) || !strings.Contains(r.err.Error(), dir) {
			t.Errorf("%s: %v", name, r.err)
		}
		select {
		case <-s.Broken():
		default:
			t.Errorf("%s: the store goes on", name)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
