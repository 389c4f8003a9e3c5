//go:build amd64 || arm64

package act

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"eventdeck/host"
	"eventdeck/host/attach"
	"eventdeck/host/react"
	"eventdeck/store"
	"eventdeck/store/seal"
)

func confinedShell(t *testing.T, c react.Confine, script string) react.Rule {
	t.Helper()
	if _, err := Check(react.Confine{}, nil, nil); err != nil {
		t.Skip(err)
	}
	rule := shell(script)
	rule.Do.Command.Confine = &c
	return rule
}

func TestAConfinedCommandReachesWhatItsRuleNames(t *testing.T) {
	dir, data, config := t.TempDir(), t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(dir, "in"): "input\n", filepath.Join(data, "attach.token"): "token\n", filepath.Join(config, "rules.json"): "{}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := newRunner(t, Options{Dir: data, Hidden: []string{config}})
	result := ran(t, r, confinedShell(t, react.Confine{Read: []string{dir}}, `
		cat `+dir+`/in; echo mine > own; cat own
		cat `+data+`/attach.token; echo bad >> `+config+`/rules.json; cat `+config+`/rules.json; ls `+data+`/react
		echo x > `+dir+`/out; cat "/proc/$PPID/environ"; kill -9 $PPID; grep CapEff /proc/self/status; echo end`))
	out := result.Output.Stdout.Head.Raw()
	if result.Outcome != react.OutcomeDone || out != "input\nmine\nCapEff:\t0000000000000000\nend\n" {
		t.Errorf("%+v\n%s", result, result.Output.Stderr.Head.Raw())
	}
	if !strings.Contains(result.Boundary, "Landlock") {
		t.Errorf("the level is %q", result.Boundary)
	}
	if text, err := os.ReadFile(filepath.Join(config, "rules.json")); err != nil || string(text) != "{}\n" {
		t.Errorf("the rules are %q, %v", text, err)
	}
}

// A command that could attach to the process that has the store open, as `eventdeck approve` does,
// could approve itself. It can reach the socket, but does not have the token.
func TestAConfinedCommandCannotAttach(t *testing.T) {
	data := t.TempDir()
	s, err := store.Open(t.Context(), store.Options{Dir: data, Keyring: seal.NoKeyring()})
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Options{Store: s, CADir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	served, err := attach.Serve(attach.Options{API: h, Store: s, Dir: data})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(served.Close(), h.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}()
	r := newRunner(t, Options{Dir: data})
	rule := confinedShell(t, react.Confine{Net: true}, "")
	rule.Do.Command.Argv = []string{os.Args[0], argAttach, data}
	result := ran(t, r, rule)
	if out := result.Output.Stdout.Head.Raw(); result.Outcome != react.OutcomeFailed || strings.Contains(out, "attached") || !strings.Contains(out, "permission denied") {
		t.Errorf("confined: %+v, %s", result, out)
	}
	rule.Do.Command.Confine = nil
	if out := ran(t, r, rule).Output.Stdout.Head.Raw(); out != "attached\n" {
		t.Errorf("not confined: %s", out)
	}
}

// A command must not inherit descriptors: no confinement covers files that are open already.
func TestACommandGetsNoDescriptorsButItsStreams(t *testing.T) {
	var leaked [2]int
	if err := unix.Pipe2(leaked[:], 0); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(unix.Close(leaked[0]), unix.Close(leaked[1])); err != nil {
			t.Error(err)
		}
	}()
	r := newRunner(t, Options{})
	const script = `for f in /proc/$$/fd/*; do [ -e "$f" ] && echo "${f##*/}"; done`
	for name, rule := range map[string]react.Rule{"free": shell(script), "confined": confinedShell(t, react.Confine{}, script)} {
		if out := ran(t, r, rule).Output.Stdout.Head.Raw(); strings.TrimSpace(out) != "0\n1\n2" {
			t.Errorf("%s: %q", name, out)
		}
	}
}

func TestAFullDiskDoesNotHideHowACommandEnded(t *testing.T) {
	data := t.TempDir()
	if err := unix.Mount("tmpfs", data, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("a small disk cannot be mounted: ", err)
	}
	defer func() {
		if err := unix.Unmount(data, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	r := newRunner(t, Options{Dir: data})
	result := ran(t, r, shell("head -c 100000 /dev/zero; cat /dev/zero > full; exit 3"))
	if result.Outcome != react.OutcomeFailed || result.Exit != 3 || !strings.Contains(result.Why, "no space left") {
		t.Errorf("%+v", result)
	}
}

func TestAConfinedCommandThatCannotStart(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("neither a script nor a program\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, Options{})
	rule := confinedShell(t, react.Confine{}, "")
	rule.Do.Command.Argv = []string{script}
	if result := ran(t, r, rule); result.Outcome != react.OutcomeFailed || !strings.Contains(result.Why, "exec "+script) {
		t.Errorf("%+v", result)
	}
}

func TestImpossibleConfinementDoesNotStart(t *testing.T) {
	server := filepath.Join(t.TempDir(), "server")
	r := newRunner(t, Options{Programs: func() []string { return []string{server} }})
	for _, c := range []react.Confine{{Read: []string{"/"}}, {Write: []string{r.o.Dir}}, {Write: []string{filepath.Dir(server)}}, {Write: []string{filepath.Dir(os.Args[0])}}, {Write: []string{"/bin"}}, {Read: []string{"/does/not/exist"}}} {
		rule := confinedShell(t, c, "exit 0")
		if _, err := r.Prepare(rule, theRun(), nil); !errors.Is(err, react.ErrBoundary) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	req := prepared(t, r, confinedShell(t, react.Confine{}, "exit 0"))
	req.Boundary = "files by Landlock 99"
	if _, err := r.Ready(t.Context(), req, 1); !errors.Is(err, react.ErrBoundary) {
		t.Errorf("another level than was approved: %v", err)
	}
}

// One call kills all processes of a confined command, in whatever session, and no others of the
// same user.
func TestAKeeperKillsWhatItStartedAlone(t *testing.T) {
	words, err := Check(react.Confine{}, nil, nil)
	if err != nil || strings.Contains(words, "can be signalled") {
		t.Skip(words, err)
	}
	k := newKeeper()
	if k == nil {
		t.Fatal("there is no keeper, and the kernel has scopes")
	}
	other := exec.Command("/bin/cat")
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.start("/bin/sh", []string{"sh", "-c", `setsid sh -c "echo apart; exec sleep 1000" & exec sleep 1000`}, &os.ProcAttr{Env: os.Environ(), Files: []*os.File{nil, theirs}})
	if err = errors.Join(err, theirs.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if !k.kill() {
		t.Fatal("it could not kill")
	}
	if _, err := io.ReadAll(out); err != nil { // it ends when all have ended that could write
		t.Error(err)
	}
	if state, err := p.Wait(); err != nil || state.Success() {
		t.Errorf("what it started: %v, %v", state, err)
	}
	if err := errors.Join(in.Close(), other.Wait()); err != nil {
		t.Errorf("another process: %v", err)
	}
}
