package present

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// Demo is the demo servers that the screen started, or all servers of the host. They end with the
// program.
type Demo struct {
	All      bool                                              // all servers are demo servers
	Start    func(context.Context) (names []string, err error) // starts some; nil: it is not offered
	Snap     *host.Snapshot
	Names    []string // of those that were started
	starting bool
}

// CanStart reports whether demo servers can be started: only while there are no servers.
func (d *Demo) CanStart() bool { return d.Start != nil && len(d.Snap.Servers) == 0 && !d.starting }

// Has reports whether a server is a demo server that the screen started.
func (d *Demo) Has(server string) bool { return slices.Contains(d.Names, server) }

// Is reports whether a server is a demo server.
func (d *Demo) Is(server string) bool { return d.All || d.Has(server) }

// Word returns the word for a server on the command line of another process: its name, or
// the address of a demo server, which may have none.
func (d *Demo) Word(name string) (word string, known bool) {
	if !d.Is(name) {
		return name, true
	}
	s := query.FindServer(d.Snap, name)
	if s == nil || !strings.Contains(s.Address, "://") {
		return "", false
	}
	return s.Address, true
}

// Command returns a command line about a server in a form for another process, "" if there
// is none.
func (d *Demo) Command(server, command string) string {
	word, known := d.Word(server)
	if !known {
		return ""
	}
	return strings.Replace(command, " "+evidence.ShellQuote(server)+" ", " "+evidence.ShellQuote(word)+" ", 1)
}

// Begin starts the demo servers, then calls then.
func (d *Demo) Begin(screen widget.Screen, then func() tea.Cmd) tea.Cmd {
	d.starting = true
	screen.Tell("starting the demo servers …")
	return screen.Do(func(ctx context.Context) tea.Msg {
		names, err := d.Start(ctx)
		return widget.Then(func() tea.Cmd {
			if d.starting = false; err != nil {
				screen.Fail("the demo servers", err)
				return nil
			}
			d.Names = names
			screen.Tell("the demo servers run inside this program and end with it")
			return then()
		})
	})
}
