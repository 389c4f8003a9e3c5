//go:build amd64 || arm64

package act

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"eventdeck/host/react"
)

// refused are the calls that have an effect outside, which Landlock does not keep in.
var refused = [...]uint32{
	// Memory and descriptors of others, keys of the kernel, files by handle, and io_uring,
	// which makes sockets without the call socket.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_IO_URING_SETUP, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	// Mode, owner, times and attributes of any file of this user. A filter sees neither the
	// path nor whose file a descriptor is, so those in the private directory are refused too.
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	// Memory, messages and semaphores that all processes of this user share.
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// signals are the calls whose first argument names the process that is signalled.
var signals = [...]uint32{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO}

// ofOne are the calls whose first argument names the process that gets other limits or
// another share of the processors; 0 is the caller.
var ofOne = [...]uint32{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR, unix.SYS_SCHED_SETAFFINITY}

// Places in struct seccomp_data, of arguments their low half: both machines are little-endian.
const (
	atNumber = 0
	atArch   = 4
	atFirst  = 16
	atSecond = 24
)

// Arguments.
const (
	prioProcess   = 0 // of setpriority
	ioprioProcess = 1 // of ioprio_set
	pairKind      = 0xf
	// Of ioctl: requests of terminals (FIOCLEX, FIONBIO and FIONREAD are among them), and of
	// sockets. All other kinds of a file that is no device change it, whatever it was opened for.
	ioctlKind     = 0xff00
	ioctlTerminal = 0x5400
	ioctlSocket   = 0x8900
	ioctlSetOwner = 0x8901 // FIOSETOWN
	ioctlAsync    = 0x5452 // FIOASYNC
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
	for _, nr := range append(refused[:], refusedOlder...) {
		f.when(nr, deny)
	}
	for _, nr := range ofOne {
		f.call(nr, func(f *program) { f.only(atFirst, 0) })
	}
	f.call(unix.SYS_SETPRIORITY, func(f *program) { f.only(atFirst, prioProcess); f.only(atSecond, 0) })
	f.call(unix.SYS_IOPRIO_SET, func(f *program) { f.only(atFirst, ioprioProcess); f.only(atSecond, 0) })
	f.descriptors()
	if !s.Net {
		f.sockets()
	}
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

// call adds what is asked of one call. What it does not refuse is allowed.
func (f *program) call(nr uint32, ask func(*program)) {
	var of program
	ask(&of)
	of.give(unix.SECCOMP_RET_ALLOW)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, nr, 0, uint8(len(of)))
	*f = append(*f, of...)
}

// only refuses every other value of an argument.
func (f *program) only(at, value uint32) {
	f.load(at)
	f.unless(value, deny)
}

// mask keeps these bits of what was loaded.
func (f *program) mask(bits uint32) { f.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, bits, 0, 0) }

// descriptors refuses what would have the kernel signal another process when a descriptor
// is ready, what holds up processes that open a file, and what changes a file that was opened for
// reading.
func (f *program) descriptors() {
	f.call(unix.SYS_FCNTL, func(f *program) {
		f.load(atSecond)
		for _, command := range []uint32{unix.F_SETOWN, unix.F_SETOWN_EX, unix.F_SETSIG, unix.F_SETLEASE} {
			f.when(command, deny)
		}
	})
	f.call(unix.SYS_IOCTL, func(f *program) {
		f.load(atSecond)
		for _, request := range []uint32{ioctlSetOwner, unix.SIOCSPGRP, ioctlAsync} {
			f.when(request, deny)
		}
		for _, request := range []uint32{unix.FICLONE, unix.FICLONERANGE} { // their file must be open for writing
			f.when(request, unix.SECCOMP_RET_ALLOW)
		}
		f.mask(ioctlKind)
		f.when(ioctlTerminal, unix.SECCOMP_RET_ALLOW)
		f.unless(ioctlSocket, unix.SECCOMP_RET_ERRNO|uint32(unix.ENOTTY))
	})
}

// sockets refuses them all, local ones too: the services of a user (D-Bus, systemd) start
// whatever they are asked for, outside of every confinement. Pairs stay that cannot be turned
// to another socket, as those of datagrams can.
func (f *program) sockets() {
	f.when(unix.SYS_SOCKET, deny)
	f.call(unix.SYS_SOCKETPAIR, func(f *program) {
		f.load(atSecond)
		f.mask(pairKind)
		f.when(unix.SOCK_STREAM, unix.SECCOMP_RET_ALLOW)
		f.unless(unix.SOCK_SEQPACKET, deny)
	})
}

// signals refuses signals to the guarded processes, to their groups, and to all.
func (f *program) signals(guarded []int) {
	targets := []uint32{^uint32(0)}
	for _, pid := range guarded {
		targets = append(targets, uint32(pid), uint32(-pid))
	}
	f.when(unix.SYS_PIDFD_SEND_SIGNAL, deny)
	for _, nr := range signals {
		f.call(nr, func(f *program) {
			f.load(atFirst)
			for _, target := range targets {
				f.when(target, deny)
			}
		})
	}
}
