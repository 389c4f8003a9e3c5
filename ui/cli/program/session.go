package program

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
)

// SessionServer is the fault of a server that no configuration has: the process that has the
// store of [App.Kept] open added it for its session, as `eventdeck demo` does. Its description
// is only a name, so that no other process can use it without attaching.
type SessionServer struct {
	PID int
	Dir string // of the store

	signedIn string // its address, if the process is signed in to it
}

// Error implements error: what is wrong once this process has a store of its own.
func (s *SessionServer) Error() string {
	return fmt.Sprintf("process %d, which had it for its session, does not have %s open any more", s.PID, s.Dir)
}

// SessionOf returns which process alone has a server; nil for one that is configured or given
// by its address.
func SessionOf(s event.Server) *SessionServer {
	var session *SessionServer
	errors.As(s.Fault, &session) // without one it stays nil
	return session
}

// FindServer returns the server that arg means: a configured one, one by its address, or a
// [SessionServer].
//
// Errors: those of [App.Servers].
func (a *App) FindServer(ctx context.Context, arg string) (event.Server, error) {
	servers, unknown := a.Servers([]string{arg})
	if unknown == nil {
		return servers[0], nil
	}
	if !errors.Is(unknown, config.ErrUnknown) {
		return event.Server{}, unknown
	}
	session, err := a.sessionServers(ctx)
	if err != nil {
		return event.Server{}, fmt.Errorf("%w; the process that has the data directory open cannot be asked whether it has one: %w", unknown, err)
	}
	for _, s := range session {
		if s.Name == arg {
			return s, nil
		}
	}
	if len(session) == 0 {
		return event.Server{}, unknown
	}
	return event.Server{}, a.unknownBeside(session, arg)
}

// unknownBeside returns a [config.ErrUnknown] that suggests a name, or lists the servers of the
// process that has the store open. Those include the configured ones that it has read.
func (a *App) unknownBeside(session []event.Server, arg string) error {
	var names []string
	for _, s := range session {
		names = append(names, s.Name)
	}
	all := names
	if file, err := a.Config(); err == nil {
		all = slices.Concat(names, file.Names())
	}
	if near := config.Nearest(arg, all); near != "" {
		return fmt.Errorf("%w %q: did you mean %q?", config.ErrUnknown, arg, near)
	}
	return fmt.Errorf("%w %q: process %d has %s; an http(s) or ws(s) URL or stdio:COMMAND works too", config.ErrUnknown, arg, SessionOf(session[0]).PID, strings.Join(names, ", "))
}

// ByProcess splits servers into those that are asked here and those that are asked through the
// process that has the store open: its [SessionServer]s, and the servers that it is signed in to,
// as no token leaves it. With all, those of its servers that are not named are there too; if it
// cannot be asked then, it says why.
func (a *App) ByProcess(ctx context.Context, servers []event.Server, all bool) (here, there []event.Server) {
	session, err := a.sessionServers(ctx)
	if err != nil && all {
		a.Say("the servers of the process that has the data directory open are not shown: %s", plain.Message(err))
	}
	given := len(a.Flags.Headers)+len(a.Flags.Inherit) > 0 // which that process does not know
	for _, s := range servers {
		i := slices.IndexFunc(session, func(o event.Server) bool { return o.Name == s.Name })
		switch {
		case SessionOf(s) != nil:
			there = append(there, s)
		case i >= 0 && s.URL != "" && SessionOf(session[i]).signedIn == event.PublicAddress(s.URL) && !given:
			there = append(there, session[i])
		default:
			here = append(here, s)
		}
	}
	for _, o := range session {
		if all && !slices.ContainsFunc(servers, func(s event.Server) bool { return s.Name == o.Name }) {
			there = append(there, o)
		}
	}
	return here, there
}

// sessionServers names the servers of the process that has the store open, configured ones too.
func (a *App) sessionServers(ctx context.Context) (servers []event.Server, err error) {
	o, err := a.Kept()
	if err != nil {
		return nil, nil // no process can have a store that has no place
	}
	c, err := a.Attached(ctx, o)
	if err != nil || c == nil {
		return nil, err
	}
	for _, s := range c.Snapshot().Servers {
		fault := &SessionServer{PID: c.PID(), Dir: o.Dir}
		if s.SignedIn {
			fault.signedIn = s.Address
		}
		servers = append(servers, event.Server{Name: s.Name, Fault: fault})
	}
	return servers, c.Close()
}

// AddServer implements [host.API]. The process that this one is attached to has its session
// servers already.
func (d *OpenHost) AddServer(s event.Server) {
	if d.Client == nil || SessionOf(s) == nil {
		d.API.AddServer(s)
	}
}
