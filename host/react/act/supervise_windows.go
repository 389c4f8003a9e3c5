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
func (o order) start(l launch, files []*os.File) (*group, error) {
	if o.Request.Confine != nil {
		return nil, react.ErrBoundary
	}
	if err := endWithMe(); err != nil {
		return nil, err
	}
	f, err := l.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // the program has started
	p, err := os.StartProcess(filepath.Clean(l.Path), l.Argv, &os.ProcAttr{Dir: l.Dir, Files: files, Env: os.Environ()})
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

// become is not used here.
func become() int { return 1 }

// openToStart opens a program. Until it is closed nobody can write, rename or remove it.
func openToStart(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// startsOpened: a program cannot be replaced while it is open.
func startsOpened(string) bool { return true }

// lacks are the errors of [react.ErrScarce].
var lacks = []error{
	windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_TOO_MANY_OPEN_FILES, windows.ERROR_NOT_ENOUGH_MEMORY,
	windows.ERROR_COMMITMENT_LIMIT, windows.ERROR_NO_SYSTEM_RESOURCES, windows.ERROR_SHARING_VIOLATION,
}
