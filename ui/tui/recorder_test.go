package tui

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
)

// recorder keeps the output to a terminal.
type recorder struct {
	to   io.Writer
	mu   sync.Mutex
	all  strings.Builder
	more chan struct{}
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	r.all.Write(b)
	if r.more != nil {
		close(r.more)
		r.more = nil
	}
	r.mu.Unlock()
	return r.to.Write(b)
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all.String()
}

// until waits until a text was written.
func (r *recorder) until(ctx context.Context, text string) error {
	for {
		r.mu.Lock()
		if strings.Contains(r.all.String(), text) {
			r.mu.Unlock()
			return nil
		}
		if r.more == nil {
			r.more = make(chan struct{})
		}
		more := r.more
		r.mu.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
			return fmt.Errorf("%q was not written: %w", text, ctx.Err())
		}
	}
}
