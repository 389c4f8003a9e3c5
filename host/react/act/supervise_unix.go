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

// lacks are the errors of [react.ErrScarce].
var lacks = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN, syscall.ETXTBSY}

// group is a running command with all that it started.
type group struct {
	pid    int           // of the command's own process, which leads a process group
	exited chan exit     // gets one value when that process has ended
	gone   chan struct{} // closed when no child is left
	keeper *keeper       // nil: descendants are searched for and signalled one by one
}

// start starts the command, confined if the order says so.
func (o order) start(l launch, files []*os.File) (*group, error) {
	adoptOrphans()
	spare()
	r := o.Request
	if err := keepDescriptors(); err != nil && r.Confine != nil {
		return nil, fmt.Errorf("%w: descriptors: %w", react.ErrBoundary, err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	t := task{Launch: l, Fixed: r.Dir != ""}
	var k *keeper
	if c := r.Confine; c != nil {
		t.Spec = &Spec{Read: c.Read, Write: c.Write, Net: c.Net, Guarded: []int{os.Getpid(), o.Host}}
		if o.Tree != "" {
			t.Spec.Run = []string{o.Tree}
		}
		if r.Kind == react.RequestAgent && len(r.Tools) > 0 {
			t.Spec.Run, t.Spec.Sockets = append(t.Spec.Run, withoutLinks(self)...), o.Sockets // it serves its tools
		}
		if r.Dir == "" {
			t.Spec.Write = append(withoutLinks(l.Dir), c.Write...)
		}
		k = newKeeper()
	}
	attr := &os.ProcAttr{Dir: l.Dir, Files: files, Env: os.Environ(), Sys: &syscall.SysProcAttr{Setpgid: true}}
	return t.start(self, k, attr)
}

// task is the input of the process that becomes the command.
type task struct {
	Launch launch
	Fixed  bool  // the directory is the rule's: it must not have been moved
	Spec   *Spec // nil: not confined
}

// start starts this program once more; the new process confines itself and becomes the command.
// This process cannot do that itself: threads are confined one by one, and it would hand on the
// opened program to the command.
func (t task) start(self string, k *keeper, attr *os.ProcAttr) (*group, error) {
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
	p, err := k.start(self, []string{self, argBecome}, attr)
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
		err = heard(string(fault))
	}
	if err != nil {
		g.end()
		return nil, err
	}
	return g, nil
}

// The descriptors of a process that becomes a command.
const (
	fdTask   = 3
	fdAnswer = 4
)

// become is the main function of that process. It returns only if exec failed.
func become() int {
	runtime.LockOSThread()
	syscall.CloseOnExec(fdTask)
	syscall.CloseOnExec(fdAnswer)
	answer := os.NewFile(fdAnswer, "answer")
	var t task
	err := json.NewDecoder(os.NewFile(fdTask, "task")).Decode(&t)
	if err == nil {
		err = t.become()
	}
	fmt.Fprint(answer, scarce(err))
	return 1
}

func (t task) become() error {
	l := t.Launch
	if at, err := syscall.Getwd(); t.Fixed && runtime.GOOS == "linux" && (err != nil || at != l.Dir) {
		return fmt.Errorf("%w %q: its directory %q leads to %q since it was approved; approve it anew", react.ErrProgram, l.Path, l.Dir, at)
	}
	f, err := l.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was not started
	name, err := nameOpened(f, l.Link)
	if err == nil && t.Spec != nil {
		t.Spec.Program = f.Fd()
		err = t.Spec.Apply()
	}
	if err == nil {
		err = &os.PathError{Op: "exec", Path: l.Path, Err: syscall.Exec(name, l.Argv, os.Environ())}
	}
	return err
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
