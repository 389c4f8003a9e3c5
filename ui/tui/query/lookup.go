// Finds servers, event types and subscriptions in a snapshot of the host. For an
// unknown name it suggests a similar one.

package query

import (
	"fmt"
	"slices"
	"strings"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/evidence"
)

// FindServer returns a server by its name, nil if there is none.
func FindServer(s *host.Snapshot, name string) *host.ServerView {
	for i := range s.Servers {
		if s.Servers[i].Name == name {
			return &s.Servers[i]
		}
	}
	return nil
}

// ServerNames returns the names of all servers.
func ServerNames(s *host.Snapshot) []string {
	var names []string
	for i := range s.Servers {
		names = append(names, s.Servers[i].Name)
	}
	return names
}

// FindSub returns a subscription by its id, nil if there is none.
func FindSub(s *host.Snapshot, id event.SubID) *host.SubscriptionView {
	for i := range s.Subs {
		if id != "" && s.Subs[i].ID == id {
			return &s.Subs[i]
		}
	}
	return nil
}

// SubAt returns the subscription of a node; for a type its only one. Nil if there is none.
func SubAt(s *host.Snapshot, n Node) *host.SubscriptionView {
	if n.Sub != "" {
		return FindSub(s, n.Sub)
	}
	return OnlySub(s, n.Server, n.Type)
}

// OnlySub returns the subscription to a type, nil if there is none or more than one.
func OnlySub(s *host.Snapshot, server string, typ trust.Text) *host.SubscriptionView {
	var only *host.SubscriptionView
	for i := range s.Subs {
		if s.Subs[i].Key.Server == server && s.Subs[i].Key.Type == typ {
			if only != nil {
				return nil
			}
			only = &s.Subs[i]
		}
	}
	return only
}

// FindType returns the event type of a node, nil if its server does not list it.
func FindType(s *host.Snapshot, n Node) *event.Type {
	for i := range s.Servers {
		v := &s.Servers[i]
		for j := range v.Types {
			if v.Name == n.Server && v.Types[j].Name == n.Type {
				return &v.Types[j]
			}
		}
	}
	return nil
}

// TypeOf returns a type as its server lists it now. For a type that is not listed it returns only
// the name.
func TypeOf(s *host.Snapshot, server string, typ trust.Text) event.Type {
	if t := FindType(s, Node{Server: server, Type: typ}); t != nil {
		return *t
	}
	return event.Type{Name: typ}
}

// Cursorless reports whether the type of a subscription has no replay, now or when the subscription
// was made.
func Cursorless(s *host.Snapshot, v *host.SubscriptionView) bool {
	return v.NoReplay || TypeOf(s, v.Key.Server, v.Key.Type).Cursorless
}

// TypeNames returns the names of all event types, without those that cannot be typed.
func TypeNames(s *host.Snapshot) []string {
	var names []string
	for i := range s.Servers {
		for j := range s.Servers[i].Types {
			name := s.Servers[i].Types[j].Name
			if plain := trust.Line(name).Plain(); plain == name.Raw() && !slices.Contains(names, plain) {
				names = append(names, plain)
			}
		}
	}
	return names
}

// ServerOf returns the server of an event type: the one that is named, else the only one that lists
// the type, else the only one that has not listed its types yet.
//
// Errors: [evidence.ErrUsage], [host.ErrUnknownServer], [host.ErrUnknownType], or that several servers
// have not listed their types.
func ServerOf(s *host.Snapshot, typ, named string) (string, error) {
	var listing, unlisted []string
	var types []event.Type
	for i := range s.Servers {
		v := &s.Servers[i]
		if named != "" && v.Name != named {
			continue
		}
		types = append(types, v.Types...)
		switch {
		case slices.ContainsFunc(v.Types, func(t event.Type) bool { return t.Name.Raw() == typ }):
			listing = append(listing, v.Name)
		case !v.TypesKnown:
			unlisted = append(unlisted, v.Name)
		}
	}
	switch {
	case named != "" && FindServer(s, named) == nil:
		return "", UnknownServer(s, named)
	case len(listing) == 1:
		return listing[0], nil
	case len(listing) > 1:
		return "", fmt.Errorf("%w: %s all list this type; add server=%s", evidence.ErrUsage, strings.Join(listing, ", "), listing[0])
	case len(unlisted) == 1:
		return unlisted[0], nil
	case len(unlisted) > 1:
		return "", fmt.Errorf("%s have not listed their types yet; add server=%s to ask one of them", strings.Join(unlisted, ", "), unlisted[0])
	}
	return "", UnknownType(typ, named, types)
}

// UnknownServer returns a [host.ErrUnknownServer] that suggests a name or lists all names.
func UnknownServer(s *host.Snapshot, name string) error {
	names := ServerNames(s)
	if len(names) == 0 {
		return fmt.Errorf("%w %q: there are none", host.ErrUnknownServer, name)
	}
	if near := config.Nearest(name, names); near != "" {
		return fmt.Errorf("%w %q; did you mean %q?", host.ErrUnknownServer, name, near)
	}
	return fmt.Errorf("%w %q; there are %s", host.ErrUnknownServer, name, strings.Join(names, ", "))
}

// UnknownType returns a [host.ErrUnknownType] that suggests one of types. server is the server that
// does not list the type, "" for all servers.
func UnknownType(name, server string, types []event.Type) error {
	at := ""
	if server != "" {
		at = " at " + server
	}
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = trust.Line(t.Name).Plain()
	}
	if near := config.Nearest(name, names); near != "" {
		return fmt.Errorf("%w %q%s; did you mean %q?", host.ErrUnknownType, name, at, near)
	}
	return fmt.Errorf("%w %q%s", host.ErrUnknownType, name, at)
}
