package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/ui/cli/program"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a program that runs in a test.
type bench struct {
	*standIn
	p      program.Program
	opened []program.StoreOptions
	out    mcptest.Buffer
	err    mcptest.Buffer
}

const servers = `{"mcpServers": {
	"pager": {"url": "http://127.0.0.1:1/mcp", "headers": {"X-Kept": "1", "Authorization": "old"}},
	"chat": {"command": "chat-server"}
}}`

func newBench(t *testing.T) *bench {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, ".config", "eventdeck")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "servers.json"), []byte(servers), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &bench{standIn: newStandIn()}
	b.p = program.Program{
		Stdin:   strings.NewReader(""),
		Stdout:  &b.out,
		Stderr:  &b.err,
		Env:     environment(map[string]string{"TOKEN": "t0ken"}),
		Now:     time.Now,
		Home:    home,
		System:  "linux",
		Version: "v1.2.3",
		OpenStore: func(_ context.Context, o program.StoreOptions) (event.Store, error) {
			b.opened = append(b.opened, o)
			b.store.info.Temporary = o.Temporary
			return b.store, nil
		},
		NewHost: func(o host.Options) (program.OwnHost, error) {
			b.options = o
			return b.standIn, nil
		},
		Screen:     func(context.Context, program.ScreenOptions) error { return nil },
		CA:         func(string) (string, error) { return "/state/ca.pem", nil },
		DemoServer: func(context.Context, string, host.DemoOptions) error { return nil },
		Executable: func() (string, error) { return "/bin/eventdeck", nil },
	}
	return b
}

// run runs one command and returns its exit code.
func (b *bench) run(t *testing.T, args ...string) int {
	t.Helper()
	return b.runIn(t.Context(), args...)
}

func (b *bench) runIn(ctx context.Context, args ...string) int {
	b.p.Args = args
	return Main(ctx, b.p)
}

// expect runs a command and checks its code and a part of what it says on
// standard error, which must be one line.
func (b *bench) expect(t *testing.T, code int, says string, args ...string) {
	t.Helper()
	got := b.run(t, args...)
	text := b.err.String()
	if got != code || !strings.Contains(text, says) {
		t.Errorf("%q: code %d, says %q; want %d, %q", args, got, text, code, says)
	}
	if code != exitDone && strings.Count(text, "\n") != 1 {
		t.Errorf("%q: not one line: %q", args, text)
	}
	for _, r := range b.out.String() + text {
		if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			t.Errorf("%q: a control character got out: %q %q", args, b.out.String(), text)
			break
		}
	}
}

// data returns a directory that exists, for --data.
func (b *bench) data(t *testing.T) string { return t.TempDir() }
