package act

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"eventdeck/host/react"
)

// ofItsOwn gives a supervisor no window and no console of this process.
func ofItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

// hold locks a file until the process ends.
func hold(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &windows.Overlapped{}); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// isFree reports whether no process holds the lock on a file. Error: [fs.ErrNotExist].
func isFree(path string) (bool, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // which releases the lock
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// syncDir does nothing here: names are on the disk when the call that made them returns.
func syncDir(string) error { return nil }

// group is a running command with all that it started.
type group struct {
	process *os.Process
	exited  chan exit
	gone    chan struct{} // closed when the command's own process has ended
}

// start starts the command. The job ends what is left when this process does.
func (o order) start(dir string, files []*os.File) (*group, error) {
	if o.Request.Confine != nil {
		return nil, react.ErrBoundary
	}
	if err := endWithMe(); err != nil {
		return nil, err
	}
	p, err := os.StartProcess(filepath.Clean(o.Request.Path), o.Request.Argv, &os.ProcAttr{Dir: dir, Files: files, Env: os.Environ()})
	if err != nil {
		return nil, err
	}
	g := &group{process: p, exited: make(chan exit, 1), gone: make(chan struct{})}
	go func() { // it ends with the command
		defer close(g.gone)
		state, err := p.Wait()
		if err != nil {
			g.exited <- exit{-1, err.Error()}
			return
		}
		g.exited <- exit{code: int(int32(uint32(state.ExitCode()) & 0x7fffffff))}
	}()
	return g, nil
}

// endWithMe puts this process into a job that ends all its processes with it.
func endWithMe() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		return err
	}
	return windows.AssignProcessToJobObject(job, windows.CurrentProcess())
}

// signal ends the command's own process: there is no asking here.
func (g *group) signal(bool) { _ = g.process.Kill() }

// confined cannot be asked for here.
func confined() int { return 1 }
