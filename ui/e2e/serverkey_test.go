package e2e

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/host/receiver"
)

// A host that demands the server's own signature gets events from a server that
// signs and publishes its key, also after the server came back with another one,
// and subscribes to no other.
func TestDeliveriesSignedWithTheServersKey(t *testing.T) {
	w := newWorld(t)
	server, address := w.pager("--rate", "50", "--server-key")
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(w.dir, "servers.json")
	if err := os.WriteFile(config, fmt.Appendf(nil, `{"mcpServers":{"pager":{"url":%q,"requireServerKey":true}}}`, address), 0o600); err != nil {
		t.Fatal(err)
	}
	clock := filepath.Join(w.dir, "clock")
	tail := func(want int) *process {
		t.Helper()
		p := w.start([]string{envClock + "=" + clock}, "tail", "pager", "load.tick", "--mode", "webhook", "--count", "5", "--json",
			"--config", config, "--data", w.data(), "--from", "saved")
		if code := p.wait(); code != want {
			t.Fatalf("tail ends with %d: %s", code, p.stderr.text())
		}
		return p
	}
	tail(0)

	server.kill()
	w.pager("--rate", "50", "--server-key", "--listen", at.Host)
	// Late enough for the keys to be read again, and early enough for signatures to be valid.
	if err := os.WriteFile(clock, []byte((2 * time.Minute).String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := tail(0); !strings.Contains(p.stdout.text(), `"mode":"webhook"`) {
		t.Errorf("nothing by webhook:\n%s", p.stdout.text())
	}
	out, code := w.run("audit", "--json", "--data", w.data(), "--config", config)
	if n := strings.Count(out, "signing keys changed"); code != 0 || n != 2 {
		t.Errorf("the audit log tells of %d changes of keys, want 2:\n%s", n, out)
	}
	if strings.Contains(out, receiver.ErrServerKey.Error()) {
		t.Errorf("a genuine delivery was refused for good:\n%s", out)
	}

	_, unsigned := w.pager("--rate", "50")
	if err := os.WriteFile(config, fmt.Appendf(nil, `{"mcpServers":{"pager":{"url":%q,"requireServerKey":true}}}`, unsigned), 0o600); err != nil {
		t.Fatal(err)
	}
	p := w.start(nil, "tail", "pager", "load.tick", "--mode", "webhook", "--count", "1", "--config", config)
	if code := p.wait(); code != 1 || !strings.Contains(p.stderr.text(), "requireServerKey") {
		t.Errorf("without a key of the server: code %d, %s", code, p.stderr.text())
	}
}
