//go:build amd64 || arm64

package act

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A descriptor that is ready can have the kernel signal any process. Scopes do not keep a
// process from setting that up, so it is refused on every kernel.
func TestDescriptorsSignalNoOther(t *testing.T) {
	needLandlock(t)
	victim := exec.Command("/bin/sleep", "1000")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	pid := victim.Process.Pid
	for _, version := range []int{0, abiLeast} {
		for _, what := range []string{"sigio", "setown", "setsig", "fiosetown", "fioasync"} {
			if got := tried(t, attempt{ABI: version, What: what, PID: pid}); got != unix.EPERM.Error() {
				t.Errorf("%s, version %d: %s", what, version, got)
			}
		}
	}
	if got := tried(t, attempt{What: "nonblock"}); got != fine {
		t.Errorf("another request of the same kind: %s", got)
	}
	if err := victim.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var ended *exec.ExitError
	if err := victim.Wait(); !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != unix.SIGTERM {
		t.Errorf("the other process: %v", err)
	}
}

// The supervisor is such another process of the same user.
func TestOtherProcessesAreOutOfReach(t *testing.T) {
	v := needLandlock(t)
	pid := os.Getpid()
	for _, what := range []string{"prlimit", "ptrace", "nice", "nice all", "affinity", "scheduler", "ioprio"} {
		if got := tried(t, attempt{What: what, PID: pid}); got != unix.EPERM.Error() {
			t.Errorf("%s: %s", what, got)
		}
	}
	for _, what := range []string{"limit", "nice", "affinity", "scheduler", "ioprio"} {
		if got := tried(t, attempt{What: what}); got != fine {
			t.Errorf("%s of its own: %s", what, got)
		}
	}
	// What /proc tells of them ends where it would tell secrets.
	for _, file := range []string{"environ", "mem", "root/etc/passwd"} {
		if got := tried(t, attempt{What: "read", Path: fmt.Sprintf("/proc/%d/%s", pid, file)}); got == fine {
			t.Errorf("%s of another process can be read", file)
		}
	}
	if v < abiScopes {
		t.Skip("this kernel does not scope signals")
	}
	for _, what := range []string{"kill", "pidfd"} {
		if got := tried(t, attempt{What: what, PID: pid}); got != unix.EPERM.Error() {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// On a kernel that does not scope signals, a filter keeps them from the supervisor.
func TestSignalsWithoutScopes(t *testing.T) {
	if err := seccompReady(); err != nil {
		t.Skip(err)
	}
	pid := os.Getpid()
	spec := Spec{Guarded: []int{pid}}
	for _, target := range []int{pid, -pid, -1} {
		if got := tried(t, attempt{Spec: spec, ABI: abiLeast, What: "kill", PID: target}); got != unix.EPERM.Error() {
			t.Errorf("kill %d: %s", target, got)
		}
	}
	if got := tried(t, attempt{Spec: spec, ABI: abiLeast, What: "kill", PID: 0}); got != fine {
		t.Errorf("its own group: %s", got)
	}
	if got := tried(t, attempt{Spec: spec, ABI: abiLeast, What: "pidfd", PID: pid}); got != unix.EPERM.Error() {
		t.Errorf("pidfd: %s", got)
	}
	if got := tried(t, attempt{Spec: spec, ABI: abiLeast, What: "tcp"}); got != unix.EPERM.Error() {
		t.Errorf("tcp: %s", got)
	}
}
