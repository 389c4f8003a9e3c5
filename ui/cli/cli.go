// Package cli is the command line: every command, its flags, what it prints and
// the code with which it ends. Commands use the host through [host.API], as the
// screen does; what only the whole program has (the store, the demo servers, the
// screen) is handed in by main.
package cli

import (
	"context"
	"errors"
	"io"
	"runtime"
	"syscall"
	"time"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
	"eventdeck/ui/cli/reactions"
)

// Exit codes of the program.
const (
	exitDone    = 0
	exitError   = 1
	exitUsage   = 2
	exitNotMet  = 3 // what was asked for did not happen in time
	exitRefused = 4 // the server refused for lack of rights
)

// app is one run of the program, with the commands of this package.
type app struct{ *program.App }

// Main runs one command and returns its exit code. Cancelling ctx ends a running
// command in good order; that is how SIGINT and SIGTERM arrive. What went wrong
// is one line on p.Stderr.
func Main(ctx context.Context, p program.Program) int {
	if p.Now == nil {
		p.Now = time.Now
	}
	a := &app{&program.App{Program: p}}
	err := a.execute(ctx)
	if err == nil {
		return exitDone
	}
	code := exitCode(err)
	if code != exitDone {
		a.Say("%s", plain.Message(err))
	}
	return code
}

func exitCode(err error) int {
	var mistake plain.UsageError
	switch {
	case errors.Is(err, event.ErrSilent):
		return exitError // whether a name is known could not be asked
	case errors.As(err, &mistake), errors.Is(err, config.ErrAddress), errors.Is(err, config.ErrUnknown):
		return exitUsage
	case errors.Is(err, program.ErrNotMet), errors.Is(err, reactions.ErrNoMatch):
		return exitNotMet
	case errors.Is(err, host.ErrRefused):
		return exitRefused
	case isBrokenPipe(err):
		return exitDone
	}
	return exitError
}

// isBrokenPipe reports whether the reader of the output has gone.
func isBrokenPipe(err error) bool {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return true
	}
	const errorBrokenPipe, errorNoData = syscall.Errno(109), syscall.Errno(232)
	return runtime.GOOS == "windows" && (errors.Is(err, errorBrokenPipe) || errors.Is(err, errorNoData))
}
