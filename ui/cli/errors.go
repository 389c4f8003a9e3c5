package cli

import (
	"errors"
	"io"
	"runtime"
	"syscall"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/ui/cli/program"
	"eventdeck/ui/cli/reactions"
	"eventdeck/ui/cli/usage"
)

func exitCode(err error) int {
	var mistake usage.Error
	switch {
	case errors.As(err, &mistake), errors.Is(err, config.ErrAddress):
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
