package boltfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	bolt "go.etcd.io/bbolt"

	"eventdeck/store/private"
)

// stopping is a writer that fails once ctx has ended.
type stopping struct {
	ctx context.Context
	to  io.Writer
}

func (w stopping) Write(b []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.to.Write(b)
}

// CopyOut writes the file as it is now to another one, which must not exist, and returns how
// many bytes it has. Commits go on meanwhile, unless the file must be mapped again to grow.
//
// Errors: the cause of ctx, [ErrDamaged], those of bbolt and of the file system.
func CopyOut(ctx context.Context, db *bolt.DB, file string) (n int64, err error) {
	out, err := private.Open(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	err = Guard(nil, func() error {
		return db.View(func(tx *bolt.Tx) error {
			n, err = tx.WriteTo(stopping{ctx, out})
			return err
		})
	})
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // bbolt does not wrap it
	}
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return 0, errors.Join(err, os.Remove(file))
	}
	return n, nil
}

// Bounds of a copy. A bbolt file may be longer than its content: by what was allocated ahead,
// and on Windows by what is mapped, up to twice the content.
const (
	copyHead  = 128 << 10 // both meta pages, for pages of up to 64 KiB
	copySlack = 16 << 20
)

// CopyIn reads a file to its end and writes it to another one, which must not exist. It stops
// reading input that does not begin like a bbolt file, or that is longer than a file with this
// beginning can be.
//
// Errors: [ErrDamaged] for input that is too long; the cause of ctx; those of reading and of
// the file system.
func CopyIn(ctx context.Context, from io.Reader, file string) error {
	out, err := private.Open(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = copyBounded(stopping{ctx, out}, from)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// copyBounded copies what can be a store. Of other input it copies the beginning, from which
// the check can tell what is wrong.
func copyBounded(to io.Writer, from io.Reader) error {
	head, err := io.ReadAll(io.LimitReader(from, copyHead))
	if err != nil {
		return err
	}
	if _, err := to.Write(head); err != nil || len(head) < copyHead {
		return err
	}
	length := ContentLength(head)
	if length == 0 {
		return nil
	}
	most := 2*length + copySlack
	n, err := io.Copy(to, io.LimitReader(from, most-copyHead+1))
	if err == nil && n > most-copyHead {
		err = fmt.Errorf("%w: it has more than %d bytes, and its beginning tells of %d", ErrDamaged, most, length)
	}
	return err
}
