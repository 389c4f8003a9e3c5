package program

import (
	"context"
	"io"
	"time"
)

// lastWrite is how long a write may last beyond the end of its context.
const lastWrite = time.Second / 2

// Until returns a writer to w that gives up a write that lasts after the end of ctx: who reads the
// output may have stopped reading. The write that was given up may still be carried out, wholly or
// in part, so nothing may be written afterwards.
//
// Errors of the writer: those of w, [ErrStopped].
func Until(ctx context.Context, w io.Writer) io.Writer { return &untilWriter{ctx, w, nil} }

type untilWriter struct {
	ctx    context.Context
	w      io.Writer
	failed error
}

// Write implements [io.Writer].
func (u *untilWriter) Write(p []byte) (int, error) {
	if u.failed != nil {
		return 0, u.failed
	}
	type result struct {
		n   int
		err error
	}
	written := make(chan result, 1)
	go func() {
		n, err := u.w.Write(p)
		written <- result{n, err}
	}()
	select {
	case r := <-written:
		return r.n, r.err
	case <-u.ctx.Done():
	}
	late := time.NewTimer(lastWrite)
	defer late.Stop()
	select {
	case r := <-written:
		return r.n, r.err
	case <-late.C:
		u.failed = ErrStopped
		return 0, u.failed
	}
}
