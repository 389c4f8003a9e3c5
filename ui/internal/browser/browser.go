// Package browser opens an address in the operator's browser.
package browser

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"runtime"
)

// ErrNone: there is no browser, as on a machine without a screen. The operator opens the address
// elsewhere.
var ErrNone = errors.New("no browser here")

// Open opens an address in the default browser. It does not wait for the browser.
//
// Errors: [ErrNone]; an address that is neither http nor https.
func Open(address string) error {
	line, err := command(runtime.GOOS, os.Getenv, address)
	if err != nil {
		return err
	}
	cmd := exec.Command(line[0], line[1:]...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %w", ErrNone, err)
	}
	go func() {
		_ = cmd.Wait() // the exit code means nothing; the process must not stay a zombie
	}()
	return nil
}

// command returns the program that opens an address, with its arguments. The address is one
// argument, and no shell is involved.
func command(system string, env func(string) string, address string) ([]string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("not an address for a browser")
	}
	switch system {
	case "darwin":
		return []string{"open", address}, nil
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", address}, nil
	}
	if env("DISPLAY") == "" && env("WAYLAND_DISPLAY") == "" && env("WSL_DISTRO_NAME") == "" && env("BROWSER") == "" {
		return nil, ErrNone
	}
	return []string{"xdg-open", address}, nil
}
