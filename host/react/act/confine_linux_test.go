//go:build amd64 || arm64

package act

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"eventdeck/host/react"
)

// env makes a process of this test confine itself and try something.
const env = "EVENTDECK_TEST_CONFINED"

// attempt is what such a process tries.
type attempt struct {
	Spec Spec
	ABI  int // 0: that of the kernel
	What string
	Path string
	PID  int
}

func init() {
	if text := os.Getenv(env); text != "" {
		runtime.LockOSThread()
		var a attempt
		err := json.Unmarshal([]byte(text), &a)
		if err == nil {
			err = a.confine()
		}
		if err != nil {
			fmt.Print("not confined: ", err)
			os.Exit(2)
		}
		fmt.Print(a.try())
		os.Exit(0)
	}
}

// confine is Apply, or only the part of seccomp as on an older kernel.
func (a attempt) confine() error {
	if a.ABI == 0 {
		return a.Spec.Apply()
	}
	return errors.Join(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), a.Spec.seccomp(a.ABI))
}

func (a attempt) try() error {
	socket := func(domain, kind, proto int) error {
		fd, err := unix.Socket(domain, kind, proto)
		if err != nil {
			return err
		}
		if a.Path != "" {
			return unix.Connect(fd, &unix.SockaddrUnix{Name: a.Path})
		}
		return nil
	}
	switch a.What {
	case "read":
		text, err := os.ReadFile(a.Path)
		if err == nil && len(text) == 0 {
			err = errors.New("empty")
		}
		return err
	case "write":
		return os.WriteFile(a.Path, []byte("x"), 0o600)
	case "truncate":
		return os.Truncate(a.Path, 0)
	case "remove":
		return os.Remove(a.Path)
	case "link":
		return os.Link(a.Path, a.Path+".link")
	case "tcp":
		return socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	case "udp":
		return socket(unix.AF_INET6, unix.SOCK_DGRAM, 0)
	case "mptcp":
		return socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
	case "netlink":
		return socket(unix.AF_NETLINK, unix.SOCK_RAW, 0)
	case "unix":
		return socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	case "pair":
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		return err
	case "io_uring":
		var params [120]byte
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params[0])), 0)
		return number(errno)
	case "kill":
		return unix.Kill(a.PID, 0)
	case "pidfd":
		fd, err := unix.PidfdOpen(max(a.PID, 0), 0)
		if err != nil {
			return err
		}
		return unix.PidfdSendSignal(fd, 0, nil, 0)
	case "prlimit":
		return unix.Prlimit(a.PID, unix.RLIMIT_CPU, &unix.Rlimit{Cur: 1000, Max: 1000}, nil)
	case "limit":
		return unix.Prlimit(0, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	case "ptrace":
		return unix.PtraceAttach(a.PID)
	case "sigio": // a pipe tells another process of what comes, by a signal of choice
		fds, err := pipe()
		if err != nil {
			return err
		}
		if _, err := unix.FcntlInt(uintptr(fds[0]), unix.F_SETOWN, a.PID); err != nil {
			return err
		}
		if _, err := unix.FcntlInt(uintptr(fds[0]), unix.F_SETSIG, int(unix.SIGKILL)); err != nil {
			return err
		}
		if _, err := unix.FcntlInt(uintptr(fds[0]), unix.F_SETFL, unix.O_ASYNC); err != nil {
			return err
		}
		_, err = unix.Write(fds[1], []byte("x"))
		return err
	case "setown":
		return a.asked(unix.SYS_FCNTL, unix.F_SETOWN, uintptr(a.PID))
	case "setsig":
		return a.asked(unix.SYS_FCNTL, unix.F_SETSIG, uintptr(unix.SIGKILL))
	case "setlease":
		return a.asked(unix.SYS_FCNTL, unix.F_SETLEASE, unix.F_RDLCK)
	case "fiosetown":
		pid := int32(a.PID)
		return a.asked(unix.SYS_IOCTL, ioctlSetOwner, uintptr(unsafe.Pointer(&pid)))
	case "fioasync":
		on := int32(1)
		return a.asked(unix.SYS_IOCTL, ioctlAsync, uintptr(unsafe.Pointer(&on)))
	case "setflags": // of a file that is open for reading
		nodump := int32(0x40)
		return a.asked(unix.SYS_IOCTL, unix.FS_IOC_SETFLAGS, uintptr(unsafe.Pointer(&nodump)))
	case "nonblock":
		on := int32(1)
		return a.asked(unix.SYS_IOCTL, 0x5421, uintptr(unsafe.Pointer(&on)))
	case "fchmod":
		return a.asked(unix.SYS_FCHMOD, 0o777, 0)
	case "chown":
		return unix.Chown(a.Path, os.Getuid(), os.Getgid())
	case "nice":
		return unix.Setpriority(unix.PRIO_PROCESS, a.PID, 19)
	case "nice all":
		return unix.Setpriority(unix.PRIO_USER, 0, 19)
	case "affinity":
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err != nil {
			return err
		}
		return unix.SchedSetaffinity(a.PID, &set)
	case "scheduler":
		// With the highest nice value, which a process that was started with one may still set.
		return unix.SchedSetAttr(a.PID, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH, Nice: 19}, 0)
	case "ioprio":
		_, _, errno := unix.Syscall(unix.SYS_IOPRIO_SET, ioprioProcess, uintptr(a.PID), 3<<13)
		return number(errno)
	case "mq":
		name := []byte("eventdeck-test\x00")
		_, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(&name[0])), unix.O_CREAT|unix.O_RDWR, 0o600, 0, 0, 0)
		return number(errno)
	case "semaphore":
		_, _, errno := unix.Syscall(unix.SYS_SEMGET, 0x7e57, 1, 0o600|unix.IPC_CREAT)
		return number(errno)
	case "message":
		_, _, errno := unix.Syscall(unix.SYS_MSGGET, 0x7e57, 0o600|unix.IPC_CREAT, 0)
		return number(errno)
	case "packets":
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
		return err
	case "chmod":
		return unix.Chmod(a.Path, 0o777)
	case "setxattr":
		return unix.Setxattr(a.Path, "user.canary", []byte("x"), 0)
	case "utimes":
		return unix.UtimesNanoAt(unix.AT_FDCWD, a.Path, make([]unix.Timespec, 2), 0)
	case "shmget":
		_, err := unix.SysvShmGet(0x7e57, 4096, unix.IPC_CREAT|0o600)
		return err
	case "datagram":
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		return unix.Sendto(fds[0], []byte("canary"), 0, &unix.SockaddrUnix{Name: a.Path})
	case "exec":
		return exec.Command("/bin/sh", "-c", "exit 0").Run()
	}
	return errors.New("unknown")
}

// asked makes a call on the file of the attempt, opened for reading, or on a pipe.
func (a attempt) asked(call, first, second uintptr) error {
	fds, err := pipe()
	if a.Path != "" {
		fds[0], err = unix.Open(a.Path, unix.O_RDONLY, 0)
	}
	if err != nil {
		return err
	}
	_, _, errno := unix.Syscall(call, uintptr(fds[0]), first, second)
	return number(errno)
}

func pipe() (fds [2]int, err error) {
	err = unix.Pipe(fds[:])
	return fds, err
}

// tried runs an attempt in a process of its own, and returns what came of it.
func tried(t *testing.T, a attempt) string {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = []string{env + "=" + string(text), "GORACE=" + os.Getenv("GORACE")} // how long the race detector waits at the end
	cmd.Dir = "/"
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s%s", a.What, err, out, stderr.Bytes())
	}
	return string(out)
}

const fine = "<nil>"

func needLandlock(t *testing.T) int {
	t.Helper()
	v, err := abi()
	if err != nil {
		t.Skip(err)
	}
	return v
}

func TestOnlyNamedFilesAreAccessible(t *testing.T) {
	needLandlock(t)
	dir := t.TempDir()
	for _, name := range []string{"in", "out", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "file"), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "other", "file"), filepath.Join(dir, "in", "link")); err != nil {
		t.Fatal(err)
	}
	spec := Spec{Read: []string{filepath.Join(dir, "in")}, Write: []string{filepath.Join(dir, "out")}}
	for _, c := range []struct {
		what, path string
		can        bool
	}{
		{"read", "in/file", true}, {"read", "out/file", true}, {"read", "other/file", false}, {"read", "in/link", false},
		{"write", "out/new", true}, {"write", "in/new", false}, {"write", "in/file", false}, {"write", "other/file", false},
		{"truncate", "other/file", false}, {"remove", "other/file", false}, {"remove", "in/file", false},
		{"link", "other/file", false}, {"remove", "out/new", true},
	} {
		got := tried(t, attempt{Spec: spec, What: c.what, Path: filepath.Join(dir, c.path)})
		if (got == fine) != c.can {
			t.Errorf("%s %s: %s", c.what, c.path, got)
		}
	}
	if got := tried(t, attempt{Spec: spec, What: "read", Path: "/etc/passwd"}); got != fine {
		t.Errorf("the system's files: %s", got)
	}
	if got := tried(t, attempt{Spec: spec, What: "exec"}); got != fine {
		t.Errorf("the system's programs: %s", got)
	}
	if got := tried(t, attempt{Spec: spec, What: "write", Path: "/dev/null"}); got != fine {
		t.Errorf("/dev/null: %s", got)
	}
}

func TestNoSocketsWithoutNet(t *testing.T) {
	v := needLandlock(t)
	abstract := "@eventdeck-test-" + strconv.Itoa(os.Getpid())
	l, err := net.Listen("unix", abstract)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, what := range []string{"tcp", "udp", "mptcp", "netlink", "unix", "io_uring"} {
		if got := tried(t, attempt{What: what}); got != unix.EPERM.Error() {
			t.Errorf("%s: %s", what, got)
		}
	}
	if got := tried(t, attempt{What: "unix", Path: abstract}); got != unix.EPERM.Error() {
		t.Errorf("an abstract socket: %s", got)
	}
	if got := tried(t, attempt{What: "pair"}); got != fine {
		t.Errorf("a pair of sockets: %s", got)
	}
	open := Spec{Net: true}
	for _, what := range []string{"tcp", "udp", "unix"} {
		if got := tried(t, attempt{Spec: open, What: what}); got != fine {
			t.Errorf("%s with net: %s", what, got)
		}
	}
	if got := tried(t, attempt{Spec: open, What: "io_uring"}); got != unix.EPERM.Error() {
		t.Errorf("io_uring with net: %s", got)
	}
	if got := tried(t, attempt{Spec: open, What: "unix", Path: abstract}); v >= abiScopes && got != unix.EPERM.Error() {
		t.Errorf("an abstract socket with net: %s", got)
	}
}

// Landlock leaves modes, times, attributes, and memory that processes share alone; a datagram
// socket of a pair can be turned to any other.
func TestNothingOutsideIsChangedOrReached(t *testing.T) {
	needLandlock(t)
	dir := t.TempDir()
	file, socket := filepath.Join(dir, "file"), filepath.Join(dir, "socket")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	spec := Spec{Read: []string{dir}}
	for what, path := range map[string]string{
		"chmod": file, "fchmod": file, "chown": file, "setxattr": file, "utimes": file, "setlease": file,
		"shmget": "", "semaphore": "", "message": "", "mq": "", "datagram": socket,
	} {
		if got := tried(t, attempt{Spec: spec, What: what, Path: path}); got != unix.EPERM.Error() {
			t.Errorf("%s: %s", what, got)
		}
	}
	if got := tried(t, attempt{Spec: spec, What: "setflags", Path: file}); got != unix.ENOTTY.Error() {
		t.Errorf("flags of a file: %s", got)
	}
	for _, what := range []string{"pair", "packets"} {
		if got := tried(t, attempt{What: what}); got != fine {
			t.Errorf("%s: %s", what, got)
		}
	}
}

func TestHiddenPathsCannotBeOpened(t *testing.T) {
	needLandlock(t)
	home := t.TempDir()
	data, elsewhere, fit := filepath.Join(home, "data"), filepath.Join(home, "elsewhere"), filepath.Join(home, "work")
	for _, dir := range []string{data, elsewhere, fit, filepath.Join(data, "sub")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	target := filepath.Join(elsewhere, "rules.json")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rules := filepath.Join(home, "rules.json")
	if err := os.Symlink(target, rules); err != nil {
		t.Fatal(err)
	}
	way := filepath.Join(fit, "way")
	if err := os.Symlink(data, way); err != nil {
		t.Fatal(err)
	}
	hidden := []string{data, rules, filepath.Join(home, "not", "there")}
	for _, path := range []string{home, "/", data, filepath.Join(data, "sub"), elsewhere, target, rules, way, filepath.Join(home, "missing")} {
		for _, c := range []react.Confine{{Read: []string{path}}, {Write: []string{path}}} {
			if words, err := Check(c, hidden, nil); !errors.Is(err, react.ErrBoundary) {
				t.Errorf("%+v: %q, %v", c, words, err)
			}
		}
	}
	words, err := Check(react.Confine{Read: []string{fit}}, hidden, nil)
	if err != nil || !strings.Contains(words, "Landlock") || !strings.Contains(words, "no sockets") {
		t.Errorf("%q, %v", words, err)
	}
	if words, err = Check(react.Confine{Net: true}, hidden, nil); err != nil || !strings.Contains(words, "network open") {
		t.Errorf("%q, %v", words, err)
	}
	settings := filepath.Join(home, "settings")
	if err := os.Mkdir(settings, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(settings, "rules.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := Check(react.Confine{Write: []string{elsewhere}}, []string{settings}, nil); !errors.Is(err, react.ErrBoundary) {
		t.Errorf("what a link in a hidden directory leads to: %v", err)
	}
	if _, err := Check(react.Confine{}, []string{"/etc/eventdeck"}, nil); !errors.Is(err, react.ErrBoundary) {
		t.Errorf("a configuration among the system's files: %v", err)
	}
}

// A command that replaced a program of eventdeck would act outside of every confinement.
func TestProgramsCannotBeWritten(t *testing.T) {
	needLandlock(t)
	home := t.TempDir()
	bin, links, fit := filepath.Join(home, "bin"), filepath.Join(home, "links"), filepath.Join(home, "work")
	for _, dir := range []string{bin, links, fit} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program, link := filepath.Join(bin, "program"), filepath.Join(links, "program")
	if err := errors.Join(os.WriteFile(program, nil, 0o700), os.Symlink(program, link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{home, bin, links, program} {
		if words, err := Check(react.Confine{Write: []string{path}}, nil, []string{link}); !errors.Is(err, react.ErrBoundary) {
			t.Errorf("%s: %q, %v", path, words, err)
		}
	}
	for _, c := range []react.Confine{{Read: []string{bin, links}}, {Write: []string{fit}}} {
		if _, err := Check(c, nil, []string{link, filepath.Join(bin, "missing")}); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestSystemNamesNoHome(t *testing.T) {
	if slices.ContainsFunc(System(), func(p string) bool {
		return isWithin("/home/me", p) || isWithin("/root", p) || isWithin("/tmp", p)
	}) {
		t.Error("a home or the temporary files are open to every confined command")
	}
}
