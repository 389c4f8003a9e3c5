//go:build !linux || !(amd64 || arm64)

package act

import (
	"fmt"
	"runtime"

	"eventdeck/host/react"
)

func level(bool) (string, error) {
	return "", fmt.Errorf("%w: on %s/%s no command can be confined; take \"confine\" out of the rule, which then asks unless it is \"trusted\"", react.ErrBoundary, runtime.GOOS, runtime.GOARCH)
}

// Scope is a thread whose signals reach what it starts and nothing else. Here is none.
type Scope struct{}

// KeepSignals makes a scope of the calling thread. Here it cannot. Error: [react.ErrBoundary].
func KeepSignals() (Scope, error) {
	return Scope{}, fmt.Errorf("%w: signals cannot be kept here", react.ErrBoundary)
}

// KillAll kills everything that the thread started. Here that is nothing.
func (Scope) KillAll() error { return nil }

// Apply confines the calling thread. Here it cannot. Error: [react.ErrBoundary].
func (s Spec) Apply() error {
	_, err := level(s.Net)
	return err
}
