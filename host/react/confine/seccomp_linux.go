//go:build amd64 || arm64

package confine

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"eventdeck/host/react"
)

// refused are the calls that reach around Landlock or into another process: memory and
// descriptors of others, keys of the kernel, files by handle, and io_uring, which
// makes sockets without the call socket.
var refused = [...]uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_IO_URING_SETUP, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
}

// signals are the calls whose first argument names who is signalled.
var signals = [...]uint32{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO}

// Places in struct seccomp_data.
const (
	atNumber = 0
	atArch   = 4
	atFirst  = 16 // the low half of the first argument: both machines are little-endian
)

// x32 marks the numbers of a second set of calls on amd64.
const x32 = 0x40000000

func arch() uint32 {
	if runtime.GOARCH == "arm64" {
		return unix.AUDIT_ARCH_AARCH64
	}
	return unix.AUDIT_ARCH_X86_64
}

// seccompReady reports whether the kernel takes filters. Error: [react.ErrBoundary].
func seccompReady() error {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		return fmt.Errorf("%w: this kernel takes no seccomp filters (%w)", react.ErrBoundary, errno)
	}
	return nil
}

func (s Spec) seccomp(v int) error {
	code := s.filter(v)
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}

// filter returns the program: what it names is refused with EPERM, the rest is allowed.
func (s Spec) filter(v int) []unix.SockFilter {
	var f program
	f.load(atArch)
	f.unless(arch(), unix.SECCOMP_RET_KILL_PROCESS)
	f.load(atNumber)
	f.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, x32, 0, 1)
	f.give(deny)
	for _, nr := range refused {
		f.when(nr, deny)
	}
	if !s.Net {
		// Local sockets too: the services of a user (D-Bus, systemd) start whatever they
		// are asked for, outside of every confinement. socketpair stays.
		f.when(unix.SYS_SOCKET, deny)
	}
	f.prlimit()
	if v < abiScopes {
		f.signals(s.Guarded)
	}
	f.give(unix.SECCOMP_RET_ALLOW)
	return f
}

const deny = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)

// program is a filter in classic BPF.
type program []unix.SockFilter

func (f *program) add(code uint16, k uint32, yes, no uint8) {
	*f = append(*f, unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k})
}

func (f *program) load(at uint32) { f.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, at, 0, 0) }
func (f *program) give(ret uint32) {
	f.add(unix.BPF_RET|unix.BPF_K, ret, 0, 0)
}

// when gives ret if what was loaded is k.
func (f *program) when(k, ret uint32) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 0, 1)
	f.give(ret)
}

// unless gives ret if what was loaded is not k.
func (f *program) unless(k, ret uint32) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 1, 0)
	f.give(ret)
}

// prlimit lets a process limit itself only (0): a limit of CPU time ends another one.
func (f *program) prlimit() {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.SYS_PRLIMIT64, 0, 4)
	f.load(atFirst)
	f.when(0, unix.SECCOMP_RET_ALLOW)
	f.give(deny)
}

// signals refuses signals to the guarded processes, to their groups, and to all.
func (f *program) signals(guarded []int) {
	targets := []uint32{^uint32(0)}
	for _, pid := range guarded {
		targets = append(targets, uint32(pid), uint32(-pid))
	}
	f.when(unix.SYS_PIDFD_SEND_SIGNAL, deny)
	for _, nr := range signals {
		f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, nr, 0, uint8(2+2*len(targets)))
		f.load(atFirst)
		for _, target := range targets {
			f.when(target, deny)
		}
		f.give(unix.SECCOMP_RET_ALLOW)
	}
}
