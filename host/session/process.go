package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

const (
	patience   = 2 * time.Second // for each step of stopping a process
	drainGrace = time.Second     // for the rest in the pipes of a dead process
	stderrLine = 4 << 10
)

// processLink speaks with a process over its standard input and output, one message per
// line.
type processLink struct {
	router
	out    outbox
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *os.File
	stderr *os.File
	lose   func(error) // ends the session

	outDone chan struct{} // standard output is read to its end
	errDone chan struct{} // standard error is read to its end
	exited  chan struct{} // the process was waited for
	workers sync.WaitGroup

	lastStderr atomic.Pointer[trust.Text] // last line of standard error
	withheld   []string                   // variables of this process that it does not get
	missed     atomic.Pointer[string]     // the first of them that its standard error names
}

// startProcess starts the server's process: directly, never through a shell, in
// a process group of its own.
//
// Error: [ErrUnreachable].
func startProcess(server event.Server, opts Options, unsolicited func(wire.Note), lose func(error)) (*processLink, error) {
	l := &processLink{lose: lose, outDone: make(chan struct{}), errDone: make(chan struct{}), exited: make(chan struct{})}
	l.router.init(opts, unsolicited)
	l.out.init(l.exited)
	l.send = l.tell
	l.cmd = exec.Command(server.Command, server.Args...)
	l.cmd.Dir = server.Dir
	l.cmd.Env, l.withheld = environment(server, os.Environ())
	ownGroup(l.cmd)
	if err := checkDir(server.Dir); err != nil {
		return nil, fmt.Errorf("%w: cannot start %q: %w", ErrUnreachable, server.Command, err)
	}
	if err := l.start(); err != nil {
		return nil, fmt.Errorf("%w: cannot start %q: %w", ErrUnreachable, server.Command, err)
	}
	l.workers.Go(func() { l.out.run(l.replies, l.write) })
	l.workers.Go(l.readOut)
	l.workers.Go(l.readErr)
	l.workers.Go(l.watch)
	return l, nil
}

// checkDir refuses a working directory that does not exist: the system would blame the
// program.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is a file")
	}
	if err != nil {
		return fmt.Errorf("its directory %q cannot be used: %w; make it, or change cwd of the server", dir, err)
	}
	return nil
}

// start makes the pipes and starts the process. The pipes are our own files, since Wait
// must not close them before they are read to their end.
func (l *processLink) start() (err error) {
	var opened []io.Closer
	defer func() {
		if err != nil {
			for _, c := range opened {
				c.Close()
			}
		}
	}()
	pipe := func() (r, w *os.File, err error) {
		r, w, err = os.Pipe()
		if err == nil {
			opened = append(opened, r, w)
		}
		return r, w, err
	}
	var out, errs *os.File
	if l.stdout, out, err = pipe(); err != nil {
		return err
	}
	if l.stderr, errs, err = pipe(); err != nil {
		return err
	}
	l.cmd.Stdout, l.cmd.Stderr = out, errs
	if l.stdin, err = l.cmd.StdinPipe(); err != nil {
		return err
	}
	opened = append(opened, l.stdin)
	if err = l.cmd.Start(); err != nil {
		return err
	}
	out.Close()
	errs.Close()
	return nil
}

// hangsUp returns false: all exchanges share the pipe.
func (l *processLink) hangsUp(era) bool { return false }

func (l *processLink) write(frame []byte) error {
	l.opts.trace(Sent, frame)
	if _, err := l.stdin.Write(append(frame, '\n')); err != nil {
		return fmt.Errorf("%w: its process does not read: %w", ErrLost, err)
	}
	return nil
}

func (l *processLink) tell(ctx context.Context, _ era, _ string, frame []byte) error {
	return l.out.put(ctx, frame)
}

// readOut reads the standard output, on a goroutine of its own.
func (l *processLink) readOut() {
	defer close(l.outDone)
	lines := newLineReader(l.stdout, l.opts.maxAnswer())
	for {
		line, cut, err := lines.next()
		switch {
		case err != nil:
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
				l.opts.Log.Warn("cannot read the server's standard output", "error", err)
			}
			return
		case cut:
			l.failAll(line)
		case hasContentLength(line):
			l.lose(ErrFraming)
			return
		case len(bytes.TrimSpace(line)) > 0:
			l.take(line)
		}
	}
}

func hasContentLength(line []byte) bool {
	const name = "Content-Length:"
	return len(line) >= len(name) && bytes.EqualFold(line[:len(name)], []byte(name))
}

// watch waits for the end of the process and ends the session.
func (l *processLink) watch() {
	l.workers.Go(func() {
		// A failure is in the process state; the pipes are ours.
		_ = l.cmd.Wait()
		killGroup(l.cmd) // its remaining children
		close(l.exited)
	})
	select {
	case <-l.exited:
	case <-l.outDone:
	case <-l.out.failed:
	}
	grace := time.NewTimer(drainGrace)
	defer grace.Stop()
	for _, end := range []chan struct{}{l.exited, l.outDone, l.errDone} {
		select {
		case <-end:
		case <-grace.C:
			grace.Reset(0) // the other pipe gets no more time
		}
	}
	select {
	case <-l.exited:
		l.lose(l.lostBecause("its process ended: " + l.cmd.ProcessState.String()))
	default:
		l.lose(l.lostBecause("its process closed its input or its output"))
	}
}

func (l *processLink) lostBecause(what string) error {
	if name := l.missed.Load(); name != nil {
		what += fmt.Sprintf(" (it does not get the variable %s: name it in \"inherit\" of the server, or with --inherit, if it may have it)", *name)
	}
	if words := l.lastStderr.Load(); words != nil {
		return fmt.Errorf("%w: %s; its last words: %v", ErrLost, what, *words)
	}
	return fmt.Errorf("%w: %s", ErrLost, what)
}

// close stops the process: it closes its input, then terminates it, then kills it.
func (l *processLink) close() {
	l.out.close()
	l.stdin.Close()
	for _, urge := range []func(*exec.Cmd){terminateGroup, killGroup} {
		wait := time.NewTimer(l.opts.patience)
		select {
		case <-l.exited:
		case <-wait.C:
			urge(l.cmd)
		}
		wait.Stop()
	}
	<-l.exited
	select {
	case <-l.outDone:
	case <-time.After(drainGrace):
	}
	l.stdout.Close()
	l.stderr.Close()
	l.workers.Wait()
}

// readErr passes on the standard error of the process.
func (l *processLink) readErr() {
	defer close(l.errDone)
	lines := newLineReader(l.stderr, stderrLine)
	for {
		line, _, err := lines.next()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
				l.opts.Log.Warn("cannot read the server's standard error", "error", err)
			}
			return
		}
		text := l.opts.Redact.Frame(line, true)
		if len(line) > 0 {
			words := head([]byte(text.Raw()))
			l.lastStderr.Store(&words)
			if name := missed(l.withheld, text.Raw()); name != "" {
				l.missed.CompareAndSwap(nil, &name)
			}
		}
		if l.opts.OnStderr != nil {
			l.opts.OnStderr(text)
		} else {
			l.opts.Log.Info("server's standard error", "line", text)
		}
	}
}
