//go:build unix

package act

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"eventdeck/host/react"
	"eventdeck/host/react/confine"
)

// ofItsOwn gives a supervisor a session of its own: it gets no signals of a terminal, and its
// command has no terminal.
func ofItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// hold locks a file until the process ends.
func hold(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// isFree reports whether no process holds the lock on a file. Error: [fs.ErrNotExist].
func isFree(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // which releases the lock
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// group is a running command with all that it started.
type group struct {
	pid    int           // of the command's own process, which leads a process group
	exited chan exit     // gets one value when that process has ended
	gone   chan struct{} // closed when no child is left
	keeper *keeper       // nil: descendants are searched for and signalled one by one
}

// start starts the command, confined if the order says so.
func (o order) start(dir string, files []*os.File) (*group, error) {
	adoptOrphans()
	spare()
	r := o.Request
	if err := keepDescriptors(); err != nil && r.Confine != nil {
		return nil, fmt.Errorf("%w: descriptors: %w", react.ErrBoundary, err)
	}
	attr := &os.ProcAttr{Dir: dir, Files: files, Env: os.Environ(), Sys: &syscall.SysProcAttr{Setpgid: true}}
	if r.Confine == nil {
		p, err := os.StartProcess(r.Path, r.Argv, attr)
		if err != nil {
			return nil, err
		}
		return watched(p), nil
	}
	spec := confine.Spec{Read: r.Confine.Read, Write: r.Confine.Write, Run: []string{r.Path}, Net: r.Confine.Net, Guarded: []int{os.Getpid(), o.Host}}
	if r.Kind == react.RequestAgent && len(r.Tools) > 0 {
		self, err := os.Executable() // which serves its tools
		if err != nil {
			return nil, err
		}
		spec.Run, spec.Sockets = append(spec.Run, withoutLinks(self)), o.Sockets
	}
	if r.Dir == "" {
		spec.Write = append([]string{withoutLinks(dir)}, spec.Write...)
	}
	return startConfined(confinedCommand{Spec: spec, Path: r.Path, Argv: r.Argv}, attr)
}

// confinedCommand is the input of the process that confines itself and becomes the command.
type confinedCommand struct {
	Spec confine.Spec
	Path string
	Argv []string
}

// startConfined starts this program once more; the new process confines itself and becomes the
// command. This process cannot do that itself, as threads are confined one by one.
func startConfined(t confinedCommand, attr *os.ProcAttr) (*group, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	theirs, tell, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	said, answer, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirs.Close(), tell.Close())
	}
	attr.Files = append(append([]*os.File{}, attr.Files...), theirs, answer)
	k := newKeeper()
	p, err := k.start(self, []string{self, argConfined}, attr)
	if err = errors.Join(err, theirs.Close(), answer.Close()); err != nil {
		return nil, errors.Join(err, tell.Close(), said.Close())
	}
	g := watched(p)
	g.keeper = k
	_, err = tell.Write(text)
	err = errors.Join(err, tell.Close())
	fault, unread := io.ReadAll(said) // ends with exec
	err = errors.Join(err, unread, said.Close())
	if len(fault) > 0 {
		err = errors.New(string(fault))
	}
	if err != nil {
		g.end()
		return nil, err
	}
	return g, nil
}

// The descriptors of a process that confines itself.
const (
	fdTask   = 3
	fdAnswer = 4
)

// confined is the main function of that process. It returns only if exec failed.
func confined() int {
	runtime.LockOSThread()
	syscall.CloseOnExec(fdTask)
	syscall.CloseOnExec(fdAnswer)
	answer := os.NewFile(fdAnswer, "answer")
	var t confinedCommand
	err := json.NewDecoder(os.NewFile(fdTask, "task")).Decode(&t)
	if err == nil {
		err = t.Spec.Apply()
	}
	if err == nil {
		err = &os.PathError{Op: "exec", Path: t.Path, Err: syscall.Exec(t.Path, t.Argv, os.Environ())}
	}
	fmt.Fprint(answer, err)
	return 1
}

// watched waits for a command and its orphans. The goroutine ends when no child is left, at the
// latest with this process.
func watched(p *os.Process) *group {
	g := &group{pid: p.Pid, exited: make(chan exit, 1), gone: make(chan struct{})}
	_ = p.Release() // Wait4 below waits for every child
	go func() {
		defer close(g.gone)
		for {
			var status syscall.WaitStatus
			pid, err := syscall.Wait4(-1, &status, 0, nil)
			switch {
			case errors.Is(err, syscall.EINTR):
			case err != nil:
				g.awaitOthers()
				return
			case pid != g.pid:
			case status.Signaled():
				g.exited <- exit{-1, status.Signal().String()}
			case status.Exited():
				g.exited <- exit{code: status.ExitStatus()}
			}
		}
	}()
	return g
}

// signal asks all processes to end, or kills them.
func (g *group) signal(kill bool) {
	sig := syscall.SIGTERM
	if kill {
		if g.keeper.kill() {
			return
		}
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(-g.pid, sig) // it may be gone
	for _, pid := range descendants() {
		_ = syscall.Kill(pid, sig) // likewise
	}
}
