//go:build !windows

package e2e

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The server of docs/examples works with the program as its comment says, and its rules are right.
func TestExamplesOfTheDocuments(t *testing.T) {
	w := newWorld(t)
	server := filepath.Join(t.TempDir(), "server")
	if out, err := exec.Command("go", "build", "-o", server, "../../docs/examples/server").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(server)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, url, _ := strings.Cut(strings.TrimSpace(line), "listening on ")
	for _, args := range [][]string{{}, {"--from", "saved"}} {
		out, code := w.run(append([]string{"tail", url, "door.opened", "--count", "2", "--for", awaited, "--json", "--data", w.data()}, args...)...)
		if code != 0 || strings.Count(out, `"kind":"event"`) != 2 || strings.Contains(out, `"kind":"gap"`) {
			t.Errorf("%v: code %d: %s", args, code, out)
		}
	}
	if out, code := w.run("rules", "check", "../../docs/examples/rules.json"); code != 0 {
		t.Errorf("rules check: code %d: %s", code, out)
	}
}
