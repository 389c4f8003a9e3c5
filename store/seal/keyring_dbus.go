//go:build unix && !darwin

package seal

import (
	"errors"
	"net"
	"os/exec"
	"strings"

	"github.com/godbus/dbus/v5"
)

// noService reports whether err says that no program offers the Secret Service
// here: no session bus, or a bus without that service. A service that is locked
// or fails is another thing.
func noService(err error) bool {
	var dial *net.OpError
	var launch *exec.ExitError
	var reply dbus.Error
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.As(err, &dial), errors.As(err, &launch):
		return true
	case errors.As(err, &reply):
		switch reply.Name {
		case "org.freedesktop.DBus.Error.ServiceUnknown",
			"org.freedesktop.DBus.Error.NameHasNoOwner",
			"org.freedesktop.DBus.Error.Spawn.ServiceNotFound":
			return true
		}
		return false
	}
	// The library has no name for these two.
	text := err.Error()
	return strings.Contains(text, "couldn't determine address of session bus") ||
		strings.Contains(text, "invalid bus address")
}
