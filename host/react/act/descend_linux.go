package act

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process the parent of orphans of its command, including those in
// groups and sessions of their own.
func adoptOrphans() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // there since Linux 3.4
}

// keepDescriptors keeps children from inheriting descriptors other than the standard streams:
// eventdeck itself may have been started with more.
func keepDescriptors() error {
	return unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}

// openToStart opens a program. Until it is closed, nobody can write to it where the file system
// has leases: a writer waits. A program of root needs none.
//
// Error: EAGAIN while a process has it open for writing.
func openToStart(path string) (*os.File, error) {
	f, _, err := openFile(path)
	if err != nil {
		return nil, err
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK); errors.Is(err, unix.EAGAIN) {
		return nil, errors.Join(&os.PathError{Op: "lease", Path: path, Err: err}, f.Close())
	}
	_, _ = unix.FcntlInt(f.Fd(), unix.F_SETOWN, 0) // a waiting writer sends no signal, which the program would get
	return f, nil
}

// nameOpened returns a name by which an open program can be started, whatever is at its path: a
// link, made for it, from whose name the system takes that of the process.
func nameOpened(f *os.File, link string) (string, error) {
	err := os.MkdirAll(filepath.Dir(link), 0o700)
	return link, errors.Join(err, os.Symlink("/proc/self/fd/"+strconv.Itoa(int(f.Fd())), link))
}

// startsOpened: every program is started by its descriptor, but where /proc is not mounted.
func startsOpened(string) bool {
	_, err := os.Stat("/proc/self/fd")
	return err == nil
}

// awaitOthers does nothing here: orphans become children of this process, so without children
// it has no descendants.
func (g *group) awaitOthers() {}

// descendants returns the processes that this one started, directly or not.
func descendants() []int {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + name.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		// pid (name) state parent: the name may hold anything.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	all := children[os.Getpid()]
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}
