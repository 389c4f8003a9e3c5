//go:build !linux || !(amd64 || arm64)

package confine

import (
	"fmt"
	"runtime"

	"eventdeck/host/react"
)

func level(bool) (string, error) {
	return "", fmt.Errorf("%w: on %s/%s no command can be confined; take \"confine\" out of the rule, which then asks unless it is \"trusted\"", react.ErrBoundary, runtime.GOOS, runtime.GOARCH)
}

// Apply confines the calling thread. Here it cannot. Error: [react.ErrBoundary].
func (s Spec) Apply() error {
	_, err := level(s.Net)
	return err
}
