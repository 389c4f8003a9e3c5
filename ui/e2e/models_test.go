package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The models of a file are listed and tried on the real program, and their key is never
// printed.
func TestModelsAreListedAndTried(t *testing.T) {
	w := newWorldAlone(t)
	_, address := w.serve("model", "--speed", "1000", "--token", "sesame-sesame-sesame")
	config := filepath.Join(w.dir, "models")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	models := fmt.Sprintf(`{"models": {
  "stand-in": {"wire": "chat", "url": %q, "model": "any", "key": "${STAND_IN_KEY}", "price": {"in": "3.00", "out": "15.00"}},
  "wrong": {"wire": "chat", "url": %q, "model": "any", "key": "${WRONG_KEY}", "price": 0},
  "gone": {"wire": "messages", "url": "http://127.0.0.1:1", "model": "any", "price": 0}}, "rules": {}}`, address, address)
	for name, text := range map[string]string{"servers.json": `{"mcpServers": {}}`, "rules.json": models} {
		if err := os.WriteFile(filepath.Join(config, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"STAND_IN_KEY=sesame-sesame-sesame", "WRONG_KEY=open-open-open"}
	run := func(args ...string) (out, said string, code int) {
		t.Helper()
		p := w.start(env, append(args, "--config", filepath.Join(config, "servers.json"))...)
		code = p.wait()
		out, said = p.stdout.text(), p.stderr.text()
		for _, key := range []string{"sesame-sesame", "open-open"} {
			if strings.Contains(out+said, key) {
				t.Errorf("%v prints the key: %s %s", args, out, said)
			}
		}
		return out, said, code
	}
	if out, said, code := run("models", "list"); code != 0 || strings.Count(out, "\n")+1 < 3 || !strings.Contains(out, "key in ${STAND_IN_KEY}") || !strings.Contains(out, "$3.00 read, $15.00 written") {
		t.Errorf("%d: %s %s", code, out, said)
	}
	if out, said, code := run("models", "test", "stand-in"); code != 0 || !strings.Contains(out, "This is a scripted stand-in and no model.") || !regexp.MustCompile(`[1-9][0-9]* tokens read, [1-9][0-9]* written, \$0\.[0-9]+`).MatchString(out) {
		t.Errorf("%d: %s %s", code, out, said)
	}
	if _, said, code := run("models", "test", "wrong"); code != 1 || !strings.Contains(said, "HTTP 401: it does not accept the key") || !strings.Contains(said, "nothing was spent") {
		t.Errorf("%d: %s", code, said)
	}
	if _, said, code := run("models", "test", "gone"); code != 1 || !strings.Contains(said, "is it running") || !strings.Contains(said, "nothing was spent") {
		t.Errorf("%d: %s", code, said)
	}
}

// A start without models costs nothing for them: the package that asks them initialises next
// to nothing.
func TestModelsCostNothingAtTheStart(t *testing.T) {
	w := newWorldAlone(t)
	p := w.start([]string{"GODEBUG=inittrace=1"}, "version")
	if code := p.wait(); code != 0 {
		t.Fatal(code, p.stderr.text())
	}
	traced := p.stderr.text()
	if !strings.Contains(traced, "init eventdeck/host/redact ") {
		t.Fatalf("nothing was traced: %s", traced)
	}
	if m := regexp.MustCompile(`init eventdeck/host/model .* ([0-9]+) bytes`).FindStringSubmatch(traced); m != nil {
		if n, err := strconv.Atoi(m[1]); err != nil || n > 2048 {
			t.Errorf("%s", m[0])
		}
	}
}
