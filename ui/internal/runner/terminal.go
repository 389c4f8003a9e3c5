//go:build !windows

// Package runner runs programs on a pseudo-terminal and reports when events are visible there, for
// the measurements of package bench.
package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"

	"eventdeck/ui/internal/screen"
)

// Mark precedes the ten digits of an event's number in all outputs.
const Mark = "SEQ="

const digits = 10

// The size of the terminal.
const (
	Width  = 200
	Height = 50
)

// Terminal is a program on a pseudo-terminal.
type Terminal struct {
	Began time.Time // when the program was started
	Cmd   *exec.Cmd

	tty    *os.File
	screen *screen.Screen // nil: numbers are read from the output
	seen   func(number int)
	wrote  chan struct{} // one slot: the program wrote something
	ended  chan struct{} // closed when the program has ended
	err    error         // of the program; set before ended is closed

	mu     sync.Mutex
	tail   []byte // end of the last chunk, of plain output
	output Output
}

// Start runs the program. seen, which may be nil, is called from one goroutine with the number of
// the newest visible event, whenever it changes. plain means that the program only prints lines:
// the numbers are then read from its output, which costs less than a screen.
func Start(cmd *exec.Cmd, plain bool, seen func(number int)) (*Terminal, error) {
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "SSH_CONNECTION=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ctty: 1} // standard input may be a pipe
	t := &Terminal{Began: time.Now(), Cmd: cmd, seen: seen, wrote: make(chan struct{}, 1), ended: make(chan struct{})}
	if !plain {
		t.screen = screen.New(Width, Height, false)
	}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: Width, Rows: Height})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	t.tty = tty
	priority(cmd.Process.Pid)
	go t.read()
	return t, nil
}

// read reads the output until the program ends.
func (t *Terminal) read() {
	defer close(t.ended)
	chunk := make([]byte, 64<<10)
	newest := 0
	var quiet time.Time // time of the last output
	for {
		n, err := t.tty.Read(chunk)
		t.count(n, time.Since(quiet) > frameGap)
		if found := t.take(chunk[:n]); found > newest && t.seen != nil {
			newest = found
			t.seen(newest)
		}
		quiet = time.Now()
		select {
		case t.wrote <- struct{}{}:
		default:
		}
		if err != nil { // EIO when the program has ended
			t.err = t.Cmd.Wait()
			return
		}
	}
}

// Output counts the output of a program.
type Output struct {
	Bytes  int
	Frames int // outputs after a pause
}

// frameGap is the shortest pause between two frames.
const frameGap = time.Millisecond

func (t *Terminal) count(bytes int, frame bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.output.Bytes += bytes
	if frame {
		t.output.Frames++
	}
}

// Output returns how much the program has written until now.
func (t *Terminal) Output() Output {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.output
}

// take reads output and returns the newest visible number.
func (t *Terminal) take(p []byte) int {
	if t.screen != nil {
		_, _ = t.screen.Write(p) // it never fails
		if t.seen == nil {
			return 0
		}
		return newestIn([]byte(t.screen.Text()))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tail = append(t.tail, p...)
	found := newestIn(t.tail)
	if keep := len(Mark) + digits; len(t.tail) > keep {
		t.tail = append(t.tail[:0], t.tail[len(t.tail)-keep:]...)
	}
	return found
}

func newestIn(text []byte) int {
	newest := 0
	for {
		i := bytes.Index(text, []byte(Mark))
		if i < 0 || len(text) < i+len(Mark)+digits {
			return newest
		}
		if n, err := strconv.Atoi(string(text[i+len(Mark):][:digits])); err == nil {
			newest = max(newest, n)
		}
		text = text[i+len(Mark):]
	}
}

// Text returns the text of the screen.
func (t *Terminal) Text() string {
	if t.screen == nil {
		return ""
	}
	return t.screen.Text()
}

// Wait waits until the screen shows text.
func (t *Terminal) Wait(ctx context.Context, text string) error {
	return t.screen.Until(ctx, strconv.Quote(text), func(shown string) bool { return strings.Contains(shown, text) })
}

// Keys types a text.
func (t *Terminal) Keys(text string) error {
	_, err := t.tty.WriteString(text)
	return err
}

// Answer types keys and returns the time until the program wrote something.
func (t *Terminal) Answer(ctx context.Context, keys string) (time.Duration, error) {
	select {
	case <-t.wrote: // from earlier output
	default:
	}
	began := time.Now()
	if err := t.Keys(keys); err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, fmt.Errorf("nothing was written after %q: %w", keys, context.Cause(ctx))
	case <-t.ended:
		return 0, fmt.Errorf("%s ended after %q", t.Cmd.Path, keys)
	case <-t.wrote:
	}
	return time.Since(began), nil
}

// End ends the program, by keys, else by signals, and waits for its end.
func (t *Terminal) End(keys string) {
	defer t.tty.Close()
	if keys != "" {
		_ = t.Keys(keys) // it may have ended already
	}
	for _, stop := range []func() error{func() error { return nil }, func() error { return t.Cmd.Process.Signal(os.Interrupt) }, t.Cmd.Process.Kill} {
		_ = stop() // as above
		select {
		case <-t.ended:
			return
		case <-time.After(5 * time.Second):
		}
	}
	<-t.ended
}
