package cli

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/redact"
)

// usageError is a mistake in the command line itself.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// plainFlag says what a flag takes where the value that was given is none of that.
func plainFlag(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	takes := ""
	switch bad.GetFlag().Value.Type() {
	case "uint64":
		takes = "a whole number from 0 to 18446744073709551615"
	case "duration":
		takes = "a time, such as 90s or 10m"
	case "bool":
		takes = "true or false"
	default:
		return err
	}
	return usagef("--%s %q: must be %s", bad.GetFlag().Name, bad.GetValue(), takes)
}

func exitCode(err error) int {
	var usage usageError
	switch {
	case errors.As(err, &usage), errors.Is(err, config.ErrAddress):
		return exitUsage
	case errors.Is(err, errNotMet), errors.Is(err, errNoMatch):
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

// message returns err as one line that can act on no terminal and shows nothing that looks
// like a secret, wherever its words come from.
func message(err error) string {
	text := strings.TrimSpace(err.Error())
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\n", "; ")
	var shapes *redact.Set
	return safe(shapes.String(text))
}

// say writes one line for the operator to standard error.
func (a *app) say(format string, args ...any) {
	// There is nowhere left to tell that standard error is gone.
	_, _ = fmt.Fprintf(a.Stderr, "eventdeck: "+format+"\n", args...)
}
