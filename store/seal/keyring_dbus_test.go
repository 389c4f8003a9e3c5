//go:build unix && !darwin

package seal

import (
	"errors"
	"net"
	"os/exec"
	"testing"

	"github.com/godbus/dbus/v5"
)

func TestNoService(t *testing.T) {
	reply := func(name string) error { return dbus.Error{Name: name} }
	for _, c := range []struct {
		err  error
		none bool
	}{
		{&exec.Error{Name: "dbus-launch", Err: exec.ErrNotFound}, true},
		{&exec.ExitError{}, true},
		{&net.OpError{Op: "dial", Err: errors.New("no such file")}, true},
		{errors.New("dbus: couldn't determine address of session bus"), true},
		{errors.New("dbus: invalid bus address (no transport)"), true},
		{reply("org.freedesktop.DBus.Error.ServiceUnknown"), true},
		{reply("org.freedesktop.DBus.Error.NameHasNoOwner"), true},
		{reply("org.freedesktop.Secret.Error.IsLocked"), false},
		{reply("org.freedesktop.DBus.Error.NoReply"), false},
		{errors.New("failed to unlock correct collection '/'"), false},
	} {
		if noService(c.err) != c.none {
			t.Errorf("%v: %v", c.err, !c.none)
		}
	}
}

func TestHostWithoutASessionBus(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+t.TempDir()+"/none")
	conn, err := dbus.ConnectSessionBus()
	if err == nil {
		conn.Close()
		t.Fatal("connected to a bus that is not there")
	}
	if !noService(err) {
		t.Errorf("%v", err)
	}
}
