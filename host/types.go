package host

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"eventdeck/host/config"
	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Connected implements [API].
func (ss *servers) Connected(ctx context.Context, name string, firstTry bool) (ServerView, error) {
	s, err := ss.server(name)
	if err != nil {
		return ServerView{}, err
	}
	if firstTry {
		err = s.firstTry(ctx)
	} else {
		err = s.Ready(ctx)
	}
	return s.snapshot(), err
}

// Types implements [API].
func (ss *servers) Types(ctx context.Context, name string) ([]event.Type, error) {
	s, err := ss.server(name)
	if err != nil {
		return nil, err
	}
	s.asked.Store(true)
	types, err := s.list(ctx)
	if errors.Is(err, dialect.ErrNoEvents) {
		s.asked.Store(false) // so that the types are not listed again
	}
	return types, explain(err)
}

// Announced implements [API].
func (ss *servers) Announced(ctx context.Context, name string) ([]event.Type, error) {
	s, err := ss.server(name)
	if err != nil {
		return nil, err
	}
	return s.types(ctx)
}

// explain wraps an error in the matching error of this package, if there is one.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, dialect.ErrNoEvents):
		return fmt.Errorf("%w: %w", ErrNoEvents, err)
	case wire.NameFrom(err) == wire.Forbidden:
		return fmt.Errorf("%w: %w", ErrRefused, err)
	case errors.Is(err, session.ErrUnreachable):
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return err
}

// types returns the types of the server once they are known, without asking for them again.
func (s *server) types(ctx context.Context) ([]event.Type, error) {
	for {
		s.mu.Lock()
		types, known, listed, connected, err := s.view.Types, s.view.TypesKnown, s.listed, s.dialect != nil, s.listErr
		s.mu.Unlock()
		if known {
			return types, nil
		}
		if connected {
			select {
			case <-listed:
				if err != nil {
					return nil, explain(err)
				}
			case <-s.done:
				return nil, s.removedError()
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
			continue
		}
		if err := s.Ready(ctx); err != nil {
			return nil, err
		}
	}
}

// findType returns the type of a server with a name.
//
// Error: [ErrUnknownType], whose text names the type that was likely meant, else some of the types.
func findType(types []event.Type, server string, name trust.Text) (event.Type, error) {
	for _, t := range types {
		if t.Name == name {
			return t, nil
		}
	}
	if len(types) == 0 {
		return event.Type{}, fmt.Errorf("%w %q: %s lists none", ErrUnknownType, name, server)
	}
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = trust.Line(t.Name).Plain()
	}
	if near := config.Nearest(trust.Line(name).Plain(), names); near != "" {
		return event.Type{}, fmt.Errorf("%w %q at %s; did you mean %q?", ErrUnknownType, name, server, near)
	}
	more := ""
	if len(names) > 8 {
		more = fmt.Sprintf(" and %d more", len(names)-8)
	}
	return event.Type{}, fmt.Errorf("%w %q at %s: there are %s%s", ErrUnknownType, name, server, strings.Join(names[:min(len(names), 8)], ", "), more)
}

// listedType returns the type of a key as its server listed it last.
func (ss *servers) listedType(k event.Key) (event.Type, bool) {
	s, err := ss.server(k.Server)
	if err != nil {
		return event.Type{}, false
	}
	t, err := findType(s.snapshot().Types, k.Server, k.Type)
	return t, err == nil
}
