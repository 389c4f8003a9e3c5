//go:build unix

package crash

import (
	"encoding/json"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

func readTerminal(f *os.File) (json.RawMessage, error) {
	state, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	if err != nil {
		return nil, err
	}
	return json.Marshal(state)
}

// restoreTerminal ignores errors: no caller could handle them.
func restoreTerminal(f *os.File, kept json.RawMessage) {
	var state unix.Termios
	if json.Unmarshal(kept, &state) == nil {
		_ = unix.IoctlSetTermios(int(f.Fd()), setTermios, &state)
	}
}

// ignoreSignals makes the monitor survive the signals that end the program. SIGTTOU would stop a
// background process that changes a terminal.
func ignoreSignals() {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTTOU, syscall.SIGPIPE)
}

// apart puts the monitor into a process group of its own. If the program leads the terminal's
// session, its death sends SIGHUP to its group, and a monitor that was just started does not ignore
// that yet.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
