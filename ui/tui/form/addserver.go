package form

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// addServer is the dialog to add a server: it tests the connection and saves the server in the
// configuration.
type addServer struct {
	env      *Env
	fields   [addFields]widget.Field
	at       int
	named    bool // the operator wrote the name
	unmasked bool // values are shown

	problem string
	tested  *config.Draft // the test was about it
	found   host.ServerView
	failed  error
	busy    string
	token   int
	cursor  cells.Point // among the rows
}

// The fields, in order. Headers belong to an address, variables to a command.
const (
	addWhere = iota
	addName
	addPairs
	addFields
)

// OpenAddServer shows the dialog to add a server.
func OpenAddServer(e *Env) {
	d := &addServer{env: e}
	for i := range d.fields {
		d.fields[i].Multiline = i == addPairs
	}
	e.Show(d)
}

func (d *addServer) Title() string { return "Add a server" }

// isURL reports whether the operator wrote an address, not a command.
func (d *addServer) isURL() bool { return strings.Contains(d.fields[addWhere].Text(), "://") }

// draft returns the server of the fields.
func (d *addServer) draft() (config.Draft, error) {
	where := strings.TrimSpace(d.fields[addWhere].Text())
	s := config.Draft{Name: strings.TrimSpace(d.fields[addName].Text())}
	pairs, err := d.pairs()
	if err != nil {
		return s, err
	}
	if where == "" {
		return s, errors.New("write the URL of a server, or the command that starts one")
	}
	if d.isURL() {
		s.URL, s.Headers = where, pairs
	} else {
		command, marked := strings.CutPrefix(where, "stdio:")
		words, err := config.SplitCommand(command)
		if err != nil {
			return s, err
		}
		if scheme, _, ok := strings.Cut(words[0], ":/"); ok && !marked && !strings.ContainsRune(scheme, '/') {
			return s, fmt.Errorf("%q is neither an address nor a command: write http:// or https://, or stdio: before a command", scheme+":/…")
		}
		s.Command, s.Args, s.Env = words[0], words[1:], pairs
	}
	return s, s.Check()
}

// pairs parses headers or variables, one per line. Errors never contain a value.
func (d *addServer) pairs() ([]config.Pair, error) {
	var out []config.Pair
	for i, line := range strings.Split(d.fields[addPairs].Text(), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, ok := strings.Cut(line, d.separator())
		if !ok && d.isURL() {
			return nil, fmt.Errorf("line %d: write a header as Name: value", i+1)
		}
		if !ok {
			return nil, fmt.Errorf("line %d: write a variable as NAME=value", i+1)
		}
		if d.isURL() {
			value = strings.TrimSpace(value)
		}
		out = append(out, config.Pair{Name: strings.TrimSpace(name), Value: event.NewSecret(value)})
	}
	return out, nil
}

func (d *addServer) separator() string {
	if d.isURL() {
		return ":"
	}
	return "="
}

// suggest names the server after its address or command.
func (d *addServer) suggest() {
	if d.named {
		return
	}
	where := strings.TrimSpace(d.fields[addWhere].Text())
	name := ""
	if u, err := url.Parse(where); d.isURL() && err == nil {
		name = hostName(u.Hostname())
	} else if words, err := config.SplitCommand(strings.TrimPrefix(where, "stdio:")); err == nil && !d.isURL() {
		name = strings.TrimSuffix(filepath.Base(words[0]), ".exe")
		for _, w := range words[1:] { // the package is a better name than its runner
			if (name == "npx" || name == "uvx" || name == "bunx") && !strings.HasPrefix(w, "-") {
				name = strings.TrimPrefix(filepath.Base(w), "server-")
			}
		}
	}
	d.fields[addName].Set(name)
}

// hostName returns a short name for the host of an address.
func hostName(host string) string {
	ip := net.ParseIP(host)
	switch {
	case host == "localhost" || ip != nil && ip.IsLoopback():
		return "local"
	case ip != nil:
		return host
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(host, "www."), "mcp."), ".")
	return name
}

func (d *addServer) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if d.busy != "" {
		if name == "esc" {
			d.busy = ""
			d.token++
		}
		return nil
	}
	f := &d.fields[d.at]
	switch {
	case name == "esc":
		return d.leave()
	case name == "ctrl+s":
		return d.save()
	case name == "ctrl+t":
		return d.test()
	case name == "ctrl+r":
		d.unmasked = !d.unmasked
	case name == "tab", name == "enter" && !f.Multiline && d.at+1 < addFields, name == "down" && f.AtBottom():
		d.at = (d.at + 1) % addFields
	case name == "shift+tab", name == "up" && f.AtTop():
		d.at = (d.at + addFields - 1) % addFields
	case f.Key(k):
		d.written()
	}
	return nil
}

// written handles a change of the field with the focus.
func (d *addServer) written() {
	d.problem, d.tested = "", nil
	switch d.at {
	case addWhere:
		d.suggest()
	case addName:
		d.named = d.fields[addName].Text() != ""
	}
}

func (d *addServer) Paste(text string) tea.Cmd {
	if d.busy == "" {
		d.fields[d.at].Insert(strings.TrimRight(text, "\r\n"))
		d.written()
	}
	return nil
}

func (d *addServer) leave() tea.Cmd {
	e := d.env
	if d.fields[addWhere].Text() == "" && d.fields[addPairs].Text() == "" {
		e.Show(nil)
		return nil
	}
	e.Show(&widget.Confirm{Screen: e,
		Head: "Leave", Lines: []string{"The server is not saved."},
		Choices:   []widget.Choice{{Key: "y", Title: "leave", Run: func() tea.Cmd { return nil }}},
		Cancelled: func() { e.Show(d) },
	})
	return nil
}

// test connects to the server, lists its types and disconnects. Nothing is stored.
func (d *addServer) test() tea.Cmd {
	draft, err := d.draft()
	var s event.Server
	if err == nil {
		s, err = draft.Server(d.env.Servers.Paths.Env)
	}
	if err != nil {
		d.problem = err.Error()
		return nil
	}
	d.token++
	d.busy, d.problem = "connecting", ""
	token := d.token
	return d.env.Do(func(ctx context.Context) tea.Msg {
		found, err := d.env.Host.TestServer(ctx, s)
		return widget.Then(func() tea.Cmd {
			if token == d.token {
				d.busy = ""
				d.tested, d.found, d.failed = &draft, found, err
			}
			return nil
		})
	})
}

// save saves the server in the configuration. A server that was not tested is tested first; it can be
// saved whatever the result is.
func (d *addServer) save() tea.Cmd {
	draft, err := d.draft()
	if err != nil {
		d.problem = err.Error()
		return nil
	}
	if d.tested == nil {
		if _, err := draft.Server(d.env.Servers.Paths.Env); err == nil || !errors.Is(err, config.ErrVariable) {
			return d.test()
		}
		d.tested, d.failed = &draft, errors.New("not tested: a variable is not set in this environment")
		return nil
	}
	d.busy = "saving"
	return addServers(d.env, "added "+draft.Name+" to "+d.env.Servers.File, d, draft)
}

// addServers saves servers in the configuration, then connects to them.
func addServers(e *Env, what string, from widget.Asker, drafts ...config.Draft) tea.Cmd {
	return e.Do(func(context.Context) tea.Msg {
		done := widget.Done{What: what, From: from}
		if done.Err = e.Servers.Add(drafts...); done.Err != nil {
			return done
		}
		for _, d := range drafts {
			s, err := d.Server(e.Servers.Paths.Env)
			if err != nil {
				s = event.Server{Name: d.Name, Fault: err}
			}
			s.ByHand = true
			e.Host.AddServer(s)
		}
		return done
	})
}

func (d *addServer) Busy() bool { return d.busy != "" }

func (d *addServer) Answered() { d.busy = "" }

func (d *addServer) ShowError(err error) { d.problem = err.Error() }

func (d *addServer) Hints() []string {
	save := "test"
	if d.tested != nil {
		save = "save"
	}
	return []string{"tab", "next", "ctrl+s", save, "ctrl+t", "test again", "ctrl+r", "show values", "esc", "back"}
}
