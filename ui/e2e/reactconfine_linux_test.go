//go:build amd64 || arm64

package e2e

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"eventdeck/host/react"
	"eventdeck/host/react/confine"
)

// envReach has this test binary try, as the command of a reaction, what it reaches.
const envReach = "E2E_REACH"

// TestReach is that command. Its argument is the directory of a world.
func TestReach(t *testing.T) {
	if os.Getenv(envReach) == "" {
		t.Skip("it is the command of another test")
	}
	socket := func(domain, kind, protocol int) error {
		fd, err := unix.Socket(domain, kind, protocol)
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	}
	dir := flag.Arg(0)
	abstract := func() error {
		c, err := net.Dial("unix", "@"+filepath.Base(dir))
		if err == nil {
			err = c.Close()
		}
		return err
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(os.Getenv(envReach)) // the run and the hash that it may not approve
	approve := exec.Command(self, "approve", words[0], words[1], "--data", filepath.Join(dir, "data"), "--config", filepath.Join(dir, "servers.json"))
	approve.Env = []string{envProgram + "=1", "HOME=" + dir}
	said, approved := approve.CombinedOutput()
	for _, try := range []struct {
		what string
		err  error
	}{
		{"tcp", socket(unix.AF_INET, unix.SOCK_STREAM, 0)},
		{"mptcp", socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)},
		{"udp", socket(unix.AF_INET6, unix.SOCK_DGRAM, 0)},
		{"abstract", abstract()},
		{"approve", approved},
	} {
		fmt.Printf("%s: %v\n", try.what, try.err)
	}
	fmt.Printf("said: %s", said)
}

// A command with "net": false reaches no socket of any kind, and cannot approve what waits;
// one that is not confined reaches them all, and can.
func TestReactionConfinedReachesNothing(t *testing.T) {
	if _, err := confine.Check(react.Confine{}, nil); err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	do := fmt.Sprintf(`"command":[%q,"-test.run=^TestReach$","-test.v","DIR"],"env":[%q]`, self, envReach)
	r := newReacting(t, `{"rules":{
		"other":{ON,"when":".severity=P1","do":{"command":["/bin/true"]}},
		"confined":{ON,"when":".severity=P2","do":{`+do+`,"confine":{"net":false}}},
		"free":{ON,"when":".severity=P3","do":{`+do+`}}}}`)
	l, err := net.Listen("unix", "@"+filepath.Base(r.dir))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := r.host()
	r.server.send(`{"severity":"P1"}`)
	other := r.asking(1)[0]
	p.kill()
	r.host(envReach + "=" + other.ID + " " + other.Hash)
	tries := func(payload string) string {
		t.Helper()
		r.server.send(payload)
		var id string
		for _, run := range r.asking(2) {
			if run.ID != other.ID {
				id = run.ID
				r.does("approve", run.ID, run.Hash)
			}
		}
		r.awaits("its end", func(all []ran) bool {
			for _, one := range all {
				if one.ID == id && one.State == "done" {
					return true
				}
			}
			return false
		})
		return r.does("runs", "out", id)
	}
	out := tries(`{"severity":"P2"}`)
	for _, what := range []string{"tcp", "mptcp", "udp", "abstract", "approve"} {
		if !strings.Contains(out, what+": ") || strings.Contains(out, what+": <nil>") {
			t.Errorf("confined, it reaches %s:\n%s", what, out)
		}
	}
	if !strings.Contains(out, "permission denied") {
		t.Errorf("it could not approve for another reason:\n%s", out)
	}
	r.asking(1)
	out = tries(`{"severity":"P3"}`)
	for _, what := range []string{"tcp", "udp", "abstract", "approve"} {
		if !strings.Contains(out, what+": <nil>") {
			t.Errorf("free, it does not reach %s:\n%s", what, out)
		}
	}
	r.in("done", 3)
}
