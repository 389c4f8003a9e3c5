package host

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"eventdeck/host/config"
	"eventdeck/host/delivery"
	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Connected implements [API].
func (h *Host) Connected(ctx context.Context, name string, firstTry bool) (ServerView, error) {
	s, err := h.server(name)
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
func (h *Host) Types(ctx context.Context, name string) ([]event.Type, error) {
	s, err := h.server(name)
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
func (h *Host) Announced(ctx context.Context, name string) ([]event.Type, error) {
	s, err := h.server(name)
	if err != nil {
		return nil, err
	}
	return h.typesOf(ctx, s)
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

// typesOf returns the types of a server once they are known, without asking for them again.
func (h *Host) typesOf(ctx context.Context, s *server) ([]event.Type, error) {
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

// relist lists the types again. It returns [delivery.ErrGone] if a subscription that the server
// ended cannot begin again: its type is gone, or no longer takes its mode or arguments.
func (h *Host) relist(ctx context.Context, k event.Key, m event.Mode) error {
	s, err := h.server(k.Server)
	if err != nil {
		return err
	}
	types, err := s.list(ctx)
	if err != nil {
		return err
	}
	t, err := findType(types, k.Server, k.Type)
	if missing := s.missing(); err != nil && missing != nil {
		return fmt.Errorf("%w; %w", err, missing) // the type may be one that could not be listed
	}
	if err == nil && !t.Offers(m) {
		err = fmt.Errorf("%w: %v no longer offers %s", ErrMode, k.Type, m)
	}
	if err == nil {
		err = h.checkRequest(t, k.Args)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", delivery.ErrGone, err)
	}
	return nil
}
