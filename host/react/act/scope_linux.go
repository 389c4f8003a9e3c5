//go:build amd64 || arm64

package act

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"eventdeck/host/react"
)

// Scope is a thread whose signals reach only the processes that it starts, and their
// descendants. Only that thread may call its methods.
type Scope struct{ thread int }

var errThread = errors.New("this thread has no such scope")

// KeepSignals turns the calling thread, which must be locked to its goroutine, into a scope. It
// can no longer gain rights by exec. Error: [react.ErrBoundary] before Linux 6.12.
func KeepSignals() (Scope, error) {
	v, err := abi()
	if err != nil {
		return Scope{}, err
	}
	if v < abiScopes {
		return Scope{}, fmt.Errorf("%w: Landlock of this kernel has version %d, and %d is needed to keep signals", react.ErrBoundary, v, abiScopes)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return Scope{}, fmt.Errorf("%w: no_new_privs: %w", react.ErrBoundary, err)
	}
	rules, err := newRuleset(&unix.LandlockRulesetAttr{Scoped: unix.LANDLOCK_SCOPE_SIGNAL})
	if err == nil {
		err = rules.restrict()
	}
	if err != nil {
		return Scope{}, fmt.Errorf("%w: %w", react.ErrBoundary, err)
	}
	return Scope{unix.Gettid()}, nil
}

// KillAll kills everything that the thread started, in one system call, so that no process can
// escape by forking. It is no error if there is none.
func (s Scope) KillAll() error {
	// Without the scope this would reach every process of the user.
	if s.thread != unix.Gettid() || !errors.Is(unix.Kill(1, 0), unix.EPERM) {
		return errThread
	}
	if err := unix.Kill(-1, unix.SIGKILL); !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}

func number(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}
