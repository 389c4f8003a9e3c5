//go:build amd64 || arm64

package act

import (
	"errors"
	"fmt"
	"io/fs"
	"unsafe"

	"golang.org/x/sys/unix"

	"eventdeck/host/react"
)

// Versions of the Landlock ABI, by what they add.
const (
	abiLeast   = 3 // Linux 6.2: truncating is covered; before, every file could be emptied
	abiNet     = 4 // Linux 6.7: TCP
	abiDevices = 5 // Linux 6.10: commands to devices
	abiScopes  = 6 // Linux 6.12: signals and abstract sockets stay within
	abiSockets = 9 // Linux 7.1: sockets in the file system
)

// Classes of access to files.
const (
	fsRead = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	fsRun  = unix.LANDLOCK_ACCESS_FS_EXECUTE
	fsFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX // what there is of it for what is no directory
	fsWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK
	fsAll = fsRead | fsRun | fsWrite | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// devices are those that a confined command may read and write.
var devices = [...]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// abi returns the version of Landlock's interface. Error: [react.ErrBoundary].
func abi() (int, error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, fmt.Errorf("%w: this kernel has no Landlock, or it is switched off (%w); Linux 6.2 with \"landlock\" in its list of LSMs is needed", react.ErrBoundary, errno)
	}
	if int(v) < abiLeast {
		return 0, fmt.Errorf("%w: Landlock of this kernel has version %d, and 3 is needed (Linux 6.2)", react.ErrBoundary, v)
	}
	return int(v), nil
}

// level says in words what is possible.
func level(net bool) (string, error) {
	v, err := abi()
	if err != nil {
		return "", err
	}
	if err := seccompReady(); err != nil {
		return "", err
	}
	words := fmt.Sprintf("files by Landlock %d", min(v, abiSockets))
	switch {
	case !net:
		words += ", no sockets by seccomp"
	case v >= abiSockets:
		words += ", network open"
	default:
		words += ", network open, and with it the services of this user that listen on sockets"
	}
	if v < abiScopes {
		words += "; other processes of this user can be signalled, but not eventdeck's"
	}
	return words, nil
}

// Apply confines the calling thread, which must be locked to its goroutine, and the program that
// it becomes by exec, at exactly the level that [Check] returned.
//
// Error: [react.ErrBoundary]; the thread may then be partly confined, and must not go on.
func (s Spec) Apply() error {
	v, err := abi()
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("%w: no_new_privs: %w", react.ErrBoundary, err)
	}
	if err := s.landlock(v); err != nil {
		return fmt.Errorf("%w: %w", react.ErrBoundary, err)
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("%w: capabilities: %w", react.ErrBoundary, err)
	}
	if err := s.seccomp(v); err != nil {
		return fmt.Errorf("%w: seccomp: %w", react.ErrBoundary, err)
	}
	return nil
}

func (s Spec) landlock(v int) error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: fsAll}
	if v >= abiNet && !s.Net {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if v >= abiDevices {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if v >= abiScopes {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	if v >= abiSockets {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	}
	rules, err := newRuleset(&attr)
	if err != nil {
		return err
	}
	sockets := s.Sockets
	if v < abiSockets {
		sockets = nil
	}
	for _, class := range []struct {
		paths  []string
		access uint64
		system bool // of System: they may be missing here, or be links
	}{
		{System(), fsRead | fsRun, true},
		{devices[:], fsRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE, true},
		{s.Run, fsRead | fsRun, false},
		{s.Read, fsRead | fsRun, false},
		{s.Write, fsRead | fsWrite, false},
		{sockets, unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX, false},
	} {
		resolve := uint64(unix.RESOLVE_NO_SYMLINKS)
		if class.system {
			resolve = 0
		}
		for _, path := range class.paths {
			if err := rules.allow(path, resolve, class.access); err != nil && !(class.system && errors.Is(err, fs.ErrNotExist)) {
				return err
			}
		}
	}
	if s.Program != 0 {
		if err := rules.allowOpened(int(s.Program), fsRead|fsRun); err != nil {
			return err
		}
	}
	return rules.restrict()
}

// dropCapabilities drops all capabilities, which root has: some bypass Landlock, such as
// CAP_PERFMON, with which the memory of any process can be read. With no_new_privs no exec gives
// them back.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}

// ruleset is a Landlock ruleset under construction.
type ruleset uintptr

func newRuleset(attr *unix.LandlockRulesetAttr) (ruleset, error) {
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(attr)), unsafe.Sizeof(*attr), 0)
	if errno != 0 {
		return 0, fmt.Errorf("landlock: %w", errno)
	}
	return ruleset(fd), nil
}

// restrict applies the ruleset to the calling thread, and closes it.
func (r ruleset) restrict() error {
	_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r), 0, 0)
	if err := errors.Join(number(errno), unix.Close(int(r))); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

// allow adds a path with everything below it. The path is resolved as resolve says, see
// openat2(2).
func (r ruleset) allow(path string, resolve, access uint64) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: resolve})
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	if err := r.allowOpened(fd, access); err != nil {
		return &fs.PathError{Op: "landlock", Path: path, Err: err}
	}
	return nil
}

func (r ruleset) allowOpened(fd int, access uint64) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fsFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	return number(errno)
}
