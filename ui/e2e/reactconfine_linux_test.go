//go:build amd64 || arm64

package e2e

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"eventdeck/host/react"
	"eventdeck/host/react/act"
)

// envReach has the run and the hash that the command must not be able to approve.
const envReach = "E2E_REACH"

// reach prints what this process can reach of the world in a directory.
func reach(dir string) int {
	socket := func(domain, kind, protocol int) error {
		fd, err := unix.Socket(domain, kind, protocol)
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	}
	abstract := func() error {
		c, err := net.Dial("unix", "@"+filepath.Base(dir))
		if err == nil {
			err = c.Close()
		}
		return err
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	words := strings.Fields(os.Getenv(envReach))
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
	return 0
}

// confined returns the path of this program, which tests run confined; it skips the test if
// the system cannot confine.
func confined(t *testing.T) string {
	t.Helper()
	if _, err := act.Check(react.Confine{}, nil, nil); err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// A command with "net": false can open no socket of any kind, and cannot approve a waiting
// run; one that is not confined can do both.
func TestReactionConfinedReachesNothing(t *testing.T) {
	self := confined(t)
	do := fmt.Sprintf(`"command":[%q,%q,"DIR"],"env":[%q]`, self, reachCommand, envReach)
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

// A confined command cannot approve a client request, even if it may use the network.
func TestConfinedCommandsApproveNoClientRequest(t *testing.T) {
	self := confined(t)
	r := newReacting(t, fmt.Sprintf(`{"rules":{"try":{ON,"when":".severity=P2","do":{"command":[%q,%q,"DIR"],"env":[%q],"confine":{"net":true}}}}}`, self, reachCommand, envReach))
	p := r.host()
	conn, _ := r.mcpStdio(r.args()...)
	wished := map[string]any{"server": "pager", "type": "incident.created", "arguments": map[string]any{"team": "mine"}}
	asks := calls(t, conn, "subscribe", wished)
	r.in("asking", 1)
	hash := r.hashOf(asks.ID)
	conn.Close()
	p.kill()
	r.host(envReach + "=" + asks.ID + " " + hash)
	r.server.send(`{"severity":"P2"}`)
	for _, run := range r.asking(2) {
		if run.Rule == "try" {
			r.does("approve", run.ID, run.Hash)
		}
	}
	tried := r.in("done", 1)[0]
	if out := r.does("runs", "out", tried.ID); !strings.Contains(out, "tcp: <nil>") || strings.Contains(out, "approve: <nil>") || !strings.Contains(out, "permission denied") {
		t.Errorf("confined, it says\n%s", out)
	}
	if still := r.in("asking", 1)[0]; still.ID != asks.ID {
		t.Errorf("%+v asks", still)
	}
}

// A rule whose command could replace the program itself, or that of a server, does not start.
func TestReactionCannotReplaceAProgram(t *testing.T) {
	self := confined(t)
	const on = `ON,"when":".severity=P1","do":{"command":["/bin/true"],"confine":{"write":[%q]}}`
	bin := t.TempDir()
	r := newReacting(t, fmt.Sprintf(`{"rules":{"own":{`+on+`},"server":{`+on+`},"fit":{`+on+`}}}`, filepath.Dir(self), bin, t.TempDir()))
	r.write("servers.json", strings.Replace(r.read("servers.json"), `"mcpServers":{`, fmt.Sprintf(`"mcpServers":{"local":{"command":%q},`, filepath.Join(bin, "serve")), 1))
	r.host()
	r.server.send(`{"severity":"P1"}`)
	if run := r.asking(1)[0]; run.Rule != "fit" {
		t.Errorf("the rule %s asks", run.Rule)
	}
	for _, rule := range []string{"own", "server"} {
		r.until(rule+" to be refused", func() bool { return r.counts(rule).Suppressed["boundary"] == 1 })
	}
}

// Without Landlock a rule that demands confinement does not start, even if it was approved
// while Landlock was there, and both the rule and the run say so.
func TestReactionWithoutLandlockDoesNotStart(t *testing.T) {
	if _, err := act.Check(react.Confine{}, nil, nil); err != nil {
		t.Skip(err)
	}
	r := newReacting(t, `{"rules":{"page":{ON,"when":".severity=P1","do":{"command":["/bin/true"],"confine":{"net":false}}}}}`)
	p := r.host()
	r.server.send(`{"severity":"P1"}`)
	run := r.asking(1)[0]
	r.does("react", "stop")
	r.does("approve", run.ID, run.Hash)
	r.in("ready", 1)
	p.kill()
	withoutLandlock(t)
	r.host()
	r.does("react", "go")
	if ended := r.in("suppressed", 1)[0]; !strings.Contains(ended.Why, "Landlock") {
		t.Errorf("it did not start: %s", ended.Why)
	}
	r.server.send(`{"severity":"P1"}`)
	r.until("both to be counted", func() bool { return r.counts("page").Suppressed["boundary"] == 2 })
	if all := r.runs(); len(all) != 1 || !strings.Contains(r.does("rules", "list", "--json"), `"effective":"shadow"`) {
		t.Errorf("the rule goes on: %+v", all)
	}
}

// withoutLandlock denies the system calls of Landlock to every process that this test starts
// from now on. The thread ends with the test.
func withoutLandlock(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_LANDLOCK_CREATE_RULESET},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := errors.Join(
		unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
		unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0),
	); err != nil {
		t.Fatal(err)
	}
}
