package config

import (
	"os"
	"os/user"
	"strconv"
	"testing"
)

// Without HOME, as in units of systemd, the home directory is that of the system's list of users.
func TestHomeWithoutTheEnvironment(t *testing.T) {
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		t.Skip("this user is in no list: ", err)
	}
	for _, home := range []string{"", "relative"} {
		t.Setenv("HOME", home)
		if got := OwnPaths().Home; got != u.HomeDir {
			t.Errorf("HOME=%q: %q, want %q", home, got, u.HomeDir)
		}
	}
}
