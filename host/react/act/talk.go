package act

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"eventdeck/host/react"
)

// Talk is an attempt of a command that exchanges messages with this process while it runs. It
// has the supervisor, the confinement and the limits of a command. It ends within seconds after
// its input ends, and so also after the end of this process.
type Talk struct {
	*command
	in  *os.File
	dir string
}

var _ react.Attempt = (*Talk)(nil)

// ReadyTalk is [Runner.Ready] for a request of the kind agent. Sockets are those that the
// command may connect to if it is confined.
func (r *Runner) ReadyTalk(ctx context.Context, req react.Request, attempt int, sockets ...string) (*Talk, error) {
	a, err := r.readyCommand(ctx, req, react.Handle{Attempt: attempt, At: r.o.Now()}, sockets...)
	if err != nil {
		return nil, err
	}
	t := &Talk{command: a, in: a.start, dir: req.Dir}
	if t.dir == "" {
		t.dir = filepath.Join(a.handle.Dir, dirWork)
	}
	return t, nil
}

// Streams returns the standard input and the standard output of the command, to use after
// Go. The caller of Go closes both; the end of the input ends the command.
func (t *Talk) Streams() (in io.WriteCloser, out io.ReadCloser) { return t.in, t.out }

// Dir returns the working directory of the command.
func (t *Talk) Dir() string { return t.dir }

// Pause stops the clock of the command's time limit, as waiting for the operator is not its
// work, until resume is called, once. The clock goes on at the supervisor's next check.
func (t *Talk) Pause() (resume func() error, err error) {
	path := filepath.Join(t.handle.Dir, filePause)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return nil, err
	}
	return func() error { return os.Remove(path) }, nil
}
