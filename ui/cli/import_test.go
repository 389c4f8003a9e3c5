package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/cli/program"
)

// foreignFile writes the configuration of another client in the bench's home.
func (b *bench) foreignFile(t *testing.T, text string) (ours string) {
	t.Helper()
	path := filepath.Join(b.p.Home, ".cursor", "mcp.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(b.p.Home, ".config", "eventdeck", "servers.json")
}

const foreignServers = `{"mcpServers":{"hub":{"command":"hub","args":["-v"],"env":{"TOKEN":"hunter2hunter2"}},
	"off":{"command":"x","disabled":true},"pager":{"url":"https://other/mcp"},"same":{"command":"chat-server"},"bad":{}}}`

func TestImportShowsBeforeItWrites(t *testing.T) {
	b := newBench(t)
	file := b.foreignFile(t, foreignServers)
	b.expect(t, exitDone, "nothing was written; --yes writes 2 to", "servers", "import")
	out := b.out.String()
	for _, part := range []string{"hub", "hub -v", "TOKEN", "pager-cursor", "renamed: pager is taken", "configured already", "cannot be used", "switched off there"} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is not told:\n%s", part, out)
		}
	}
	if strings.Contains(out+b.err.String(), "hunter2") {
		t.Error("a secret is shown")
	}
	if got, _ := os.ReadFile(file); string(got) != servers {
		t.Error("the file was written without a yes")
	}
	if len(b.standIn.servers) > 0 || len(b.opened) > 0 {
		t.Error("something was started")
	}
}

func TestImportWrites(t *testing.T) {
	b := newBench(t)
	file := b.foreignFile(t, foreignServers)
	b.expect(t, exitDone, "wrote 1 to", "servers", "import", "hub", "--yes")
	got, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(got), `"TOKEN": "hunter2hunter2"`) || !strings.Contains(string(got), `"X-Kept": "1"`) || strings.Contains(string(got), "other") {
		t.Errorf("%s %v", got, err)
	}
	b.expect(t, exitDone, "wrote 1 to", "servers", "import", "--yes", "--json")
	if out := b.out.String(); !strings.Contains(out, `{"name":"hub","client":"Cursor","file":`) || !strings.Contains(out, `"state":"configured already","usable":false}`) {
		t.Errorf("%s", out)
	}
}

func TestImportByName(t *testing.T) {
	b := newBench(t)
	b.foreignFile(t, foreignServers)
	b.expect(t, exitUsage, `did you mean "hub"`, "servers", "import", "hup")
	b = newBench(t)
	b.foreignFile(t, foreignServers)
	b.expect(t, exitError, "configured already", "servers", "import", "same", "--yes")
	b = newBench(t)
	b.expect(t, exitDone, "no server was found", "servers", "import")
	b = newBench(t)
	b.foreignFile(t, "{")
	b.expect(t, exitError, "unexpected end of JSON", "servers", "import")
}

// The demo servers that the screen starts end with it, and so do their subscriptions.
func TestDemoFromTheScreen(t *testing.T) {
	b := demoBench(t)
	subscribed := make(chan struct{}, 10)
	b.p.Screen = func(ctx context.Context, o program.ScreenOptions) error {
		if o.Demo || o.StartDemo == nil || o.Servers.File == "" {
			t.Errorf("%+v", o)
		}
		if names, err := o.StartDemo(ctx); err != nil || len(names) != 4 {
			return fmt.Errorf("%q: %w", names, err)
		}
		for range demoSubscriptions {
			<-subscribed
		}
		if _, err := o.StartDemo(ctx); !errors.Is(err, errDemoRuns) {
			t.Errorf("twice: %v", err)
		}
		return nil
	}
	b.subscribed = func(event.Subscription) { subscribed <- struct{}{} }
	b.expect(t, exitDone, "go on with: eventdeck --data", "--data", b.data(t))
	if got := b.removed; len(got) != 4 || got[0] != "pager" || got[1] != "chat" {
		t.Errorf("removed %v", got)
	}
}

// A signal that ends the program does not end the demo servers before the subscriptions are
// ended at them.
func TestSignalLeavesDemoServers(t *testing.T) {
	b := demoBench(t)
	serve := b.p.DemoServer
	serving := make(chan context.Context, 3)
	b.p.DemoServer = func(ctx context.Context, name string, o host.DemoOptions) error {
		serving <- ctx
		return serve(ctx, name, o)
	}
	ctx, signal := context.WithCancel(t.Context())
	b.p.Screen = func(ctx context.Context, o program.ScreenOptions) error {
		_, err := o.StartDemo(ctx)
		signal()
		for range cap(serving) {
			if server := <-serving; server.Err() != nil {
				t.Error("a demo server ended before its subscriptions")
			}
		}
		return err
	}
	b.runIn(ctx, "--data", b.data(t))
	if len(b.removed) != 4 {
		t.Errorf("removed %v", b.removed)
	}
}
