package startup

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestLimitedAddressSpaceIsSaid(t *testing.T) {
	if os.Getenv("EVENTDECK_TEST_SPACE") != "" {
		if err := EnoughSpace(); err == nil || !strings.Contains(err.Error(), "limited to 1367 MiB") {
			t.Errorf("%v", err)
		}
		return
	}
	if err := EnoughSpace(); err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -v 1400000 && exec "$0" -test.run `+t.Name(), os.Args[0])
	cmd.Env = append(os.Environ(), "EVENTDECK_TEST_SPACE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
