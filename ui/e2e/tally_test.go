//go:build !windows

package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// tally is a host whose lines are counted and not kept.
type tally struct {
	*process
	events atomic.Int64
	downs  atomic.Int64 // records that say that the subscription does not work

	mu      sync.Mutex
	marks   map[string]int // newest cursor printed of each run
	down    bool
	changed chan struct{}
}

func (w *world) tally(env []string, args ...string) *tally {
	y := &tally{marks: map[string]int{}, changed: make(chan struct{}, 1)}
	y.process = w.startReading(env, y.read, args...)
	return y
}

func (y *tally) read(r io.Reader) {
	in := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var rec struct {
			Kind, State, EventID string
			Cursor               *string
			Data                 struct{ N int }
		}
		if json.Unmarshal(line, &rec) != nil {
			continue // cut by a kill
		}
		y.mu.Lock()
		switch rec.Kind {
		case "event":
			y.events.Add(1)
			if name := strings.Split(rec.EventID, "-"); len(name) == 3 && rec.Cursor == nil {
				y.marks[name[1]] = max(y.marks[name[1]], rec.Data.N) // pages come in order
			} else if rec.Cursor != nil {
				name, text, _ := strings.Cut(*rec.Cursor, ".")
				if n, err := strconv.Atoi(text); err == nil {
					y.marks[name] = max(y.marks[name], n)
				}
			}
		case "state":
			y.down = rec.State == "backoff"
			if y.down {
				y.downs.Add(1)
			}
		}
		y.mu.Unlock()
		select {
		case y.changed <- struct{}{}:
		default:
		}
	}
}

func (y *tally) mark(run string) int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.marks[run]
}

func (y *tally) isDown() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.down
}

func (y *tally) await(within time.Duration, ok func() bool) bool {
	deadline := time.After(within)
	for !ok() {
		select {
		case <-y.changed:
		case <-deadline:
			return ok()
		}
	}
	return true
}

// gaveUp reports whether the host ended because its first connection failed, as it
// should (the caller starts it again). It fails the test when the host ended
// by itself for another reason.
func (y *tally) gaveUp(t *testing.T, after string) bool {
	t.Helper()
	select {
	case <-y.exited:
	default:
		return false
	}
	first := y.events.Load() == 0 && strings.Contains(y.stderr.text(), "events/list") || strings.Contains(y.stderr.text(), "cannot connect")
	if y.cmd.ProcessState.ExitCode() != 1 || !first {
		t.Fatalf("after %q the host ended by itself: %v\n%s", after, y.err, y.stderr.text())
	}
	return true
}

func (y *tally) stopFor(d time.Duration) { stopFor(y.cmd, d) }

func (y *tally) end(t *testing.T) {
	t.Helper()
	y.signal(syscall.SIGTERM)
	if code := y.wait(); code != 0 {
		t.Errorf("the host ended with %d: %s", code, y.stderr.text())
	}
}
