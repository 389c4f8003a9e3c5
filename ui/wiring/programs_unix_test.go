//go:build unix

package wiring

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

func TestProgramsAreThoseOfRulesAndServers(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "serve.py")
	if err := os.WriteFile(script, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	shell := filepath.Join(dir, "sh")
	if err := os.WriteFile(shell, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	servers, fault := []event.Server{
		{Command: "sh", Args: []string{"-u", script, dir}},
		{Command: filepath.Join(dir, "gone"), Args: []string{"serve.py"}, Dir: dir},
		{URL: "https://example.com/mcp"},
		{Command: "not-there"},
	}, error(nil)
	p := &programs{servers: func() ([]event.Server, error) { return servers, fault }}
	command := func(path string) *react.Command { return &react.Command{Argv: []string{path, "argument"}} }
	p.take(react.File{Rules: []react.Rule{
		{Do: react.Do{Command: command("/srv/command")}},
		{Do: react.Do{Agent: &react.Agent{Command: *command("/srv/agent")}}},
		{Do: react.Do{Choice: &react.Choice{Acts: []react.Act{{Do: react.Do{Command: command("/srv/chosen")}}, {Do: react.Do{Note: "n"}}}}}},
		{Do: react.Do{Note: "n"}},
	}})
	want := []string{"/srv/command", "/srv/agent", "/srv/chosen", shell, script, filepath.Join(dir, "gone"), script}
	for range 2 { // an unreadable configuration removes nothing
		if got := p.all(); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		servers, fault = nil, errors.New("a mistake")
	}
}
