package dialect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// merged combines the dialects of one server. Each type goes to the dialect that owns its
// name.
type merged struct {
	all        []Dialect // MCP Events first
	advertised bool      // the server advertises MCP Events
	draft      bool      // it advertises the draft of April 2026
	asked      func() bool
	log        *slog.Logger

	mu     sync.Mutex
	names  []string  // of the dialects that listed types in the last List
	absent []Dialect // dialects that the server turned out not to speak
}

// Name returns the dialects that the server turned out to speak.
func (m *merged) Name() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.names, " + ")
}

func (m *merged) Owns(trust.Text) bool { return true }

// List merges the types. A type is hidden if an earlier dialect listed its name or another
// dialect owns it. A dialect that fails hides its own types only.
func (m *merged) List(ctx context.Context) ([]event.Type, SkippedTypes, error) {
	var (
		types   []event.Type
		skipped SkippedTypes
		names   []string
		absent  []Dialect
		none    error
		short   error
		failed  error
	)
	seen := map[trust.Text]bool{}
	for i, d := range m.all {
		if i == 0 && !m.advertised && !m.draft && !m.asked() {
			absent, none = append(absent, d), ErrUnadvertised
			continue
		}
		listed, wrong, err := d.List(ctx)
		if m.passable(i, err) {
			absent, none = append(absent, d), errors.Join(none, err)
			continue
		}
		switch {
		case err == nil:
		case errors.Is(err, ErrPartial):
			short = errors.Join(short, err)
		case ctx.Err() != nil, errors.Is(err, session.ErrLost), errors.Is(err, session.ErrClosed):
			return nil, SkippedTypes{}, err // the connection is of no use
		default:
			failed = errors.Join(failed, err) // the other dialects may work
			continue
		}
		names = append(names, d.Name())
		skipped.join(wrong)
		for _, t := range listed {
			if seen[t.Name] || m.owner(t.Name) != d {
				m.log.Warn("an event type is hidden: another dialect of the server has the name", "type", t.Name, "dialect", d.Name())
				skipped.Count++
				skipped.tell("%v of %s: another dialect of the server has the name", t.Name, d.Name())
				continue
			}
			seen[t.Name] = true
			types = append(types, t)
		}
	}
	if len(names) == 0 {
		return nil, SkippedTypes{}, cmp.Or(failed, none)
	}
	if failed != nil {
		short = errors.Join(short, fmt.Errorf("%w: %w: %w", ErrPartial, ErrDialect, failed))
	}
	m.mu.Lock()
	m.names, m.absent = names, absent
	m.mu.Unlock()
	return types, skipped, short
}

// passable reports whether the failure of dialect i leaves other dialects to try.
func (m *merged) passable(i int, err error) bool {
	if errors.Is(err, ErrNoEvents) {
		return true
	}
	// Servers refuse unknown methods in many ways.
	return i == 0 && !m.advertised && len(m.all) > 1 && wire.NameFrom(err) != "" &&
		!errors.Is(err, wire.ErrDenied) && !errors.Is(err, ErrDraft)
}

// owner returns the dialect of a type.
func (m *merged) owner(name trust.Text) Dialect {
	for _, d := range m.all[1:] {
		if d.Owns(name) {
			return d
		}
	}
	return m.all[0]
}

func (m *merged) Poll(ctx context.Context, r wire.PollRequest) (wire.PollResult, error) {
	return m.owner(r.Name).Poll(ctx, r)
}

func (m *merged) Stream(ctx context.Context, r wire.StreamRequest, sink func(wire.Note)) (Stream, error) {
	return m.owner(r.Name).Stream(ctx, r, sink)
}

func (m *merged) Subscribe(ctx context.Context, r wire.SubscribeRequest) (wire.SubscribeResult, error) {
	return m.owner(r.Name).Subscribe(ctx, r)
}

func (m *merged) Unsubscribe(ctx context.Context, r wire.UnsubscribeRequest) error {
	return m.owner(r.Name).Unsubscribe(ctx, r)
}

func (m *merged) Pause(ctx context.Context, r wire.UnsubscribeRequest) error {
	return m.owner(r.Name).Pause(ctx, r)
}

func (m *merged) Note(n wire.Note) (relist bool) {
	for _, d := range m.all {
		relist = d.Note(n) || relist
	}
	return relist
}

// Listed is a subscription that a server says it keeps for this host.
type Listed struct {
	ID       trust.Text   // for [Lister.Release]
	Types    []trust.Text // the subscribed types
	Detail   trust.Text   // other members, as the server states them
	Callback trust.Text   // the callback URL; empty: it delivers over the connection
	Status   trust.Text   // e.g. active or paused; empty: not stated
}

// Lister is a [Dialect] that can list and end the subscriptions that the server keeps,
// including those unknown to this host.
type Lister interface {
	// Remote lists them. Errors: those of [Dialect].
	Remote(ctx context.Context) ([]Listed, error)
	// Release ends one. Errors: those of [Dialect].
	Release(ctx context.Context, id trust.Text) error
}

// listers returns the dialects that can list kept subscriptions.
func (m *merged) listers() (all []namedLister) {
	m.mu.Lock()
	absent := m.absent
	m.mu.Unlock()
	for _, d := range m.all {
		if h, ok := d.(Lister); ok && !slices.Contains(absent, d) {
			all = append(all, namedLister{h, d.Name()})
		}
	}
	return all
}

// namedLister is a [Lister] with the name of its dialect.
type namedLister struct {
	Lister
	name string
}

// Remote lists the kept subscriptions of every dialect that can list them.
func (m *merged) Remote(ctx context.Context) ([]Listed, error) {
	var all []Listed
	for _, h := range m.listers() {
		listed, err := h.Remote(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", h.name, err)
		}
		all = append(all, listed...)
	}
	return all, nil
}

// Release ends a subscription in the dialect that lists it.
func (m *merged) Release(ctx context.Context, id trust.Text) error {
	for _, h := range m.listers() {
		listed, err := h.Remote(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
		for _, have := range listed {
			if have.ID == id {
				return h.Release(ctx, id)
			}
		}
	}
	return fmt.Errorf("subscription %v: %w", id, &wire.Error{Code: wire.ProfileSEP.Code(wire.NotFound)})
}
