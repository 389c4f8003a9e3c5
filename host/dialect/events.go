package dialect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// events is MCP Events: SEP-3415 and the sketch before it. Package wire hides how they
// differ.
type events struct {
	s    *session.Session
	opts Options
	all  *resumables
}

func mcpEvents() Kind {
	return Kind{
		Speaks: func(i session.Info) bool { return i.Profile != wire.ProfileNone && !saysMCPE(i) },
		On:     func(s *session.Session, o Options) Dialect { return &events{s, o, newResumables()} },
	}
}

// Name returns the profile that the server advertises.
func (e *events) Name() string {
	if e.s.Info().Profile == wire.ProfileNone {
		return "MCP Events"
	}
	return string(e.s.Info().Profile)
}

func (e *events) Owns(trust.Text) bool { return true }

func (e *events) List(ctx context.Context) ([]event.Type, SkippedTypes, error) {
	if e.s.Info().Draft {
		return nil, SkippedTypes{}, ErrDraft // what it lists cannot be subscribed to
	}
	var (
		types   []event.Type
		skipped SkippedTypes
		next    *trust.Text
	)
	read := listing{opts: e.opts}
	seen, have := map[trust.Text]bool{}, map[trust.Text]bool{}
	var before []byte
	for {
		raw, err := e.s.Call(ctx, wire.MethodList, wire.ListRequest{Cursor: next})
		switch {
		case err == nil:
		case unknownMethod(err):
			return nil, SkippedTypes{}, fmt.Errorf("%w: %w", ErrNoEvents, err)
		default:
			return nil, SkippedTypes{}, named(err)
		}
		page, err := wire.DecodeList(raw)
		if err != nil {
			return nil, SkippedTypes{}, err
		}
		read.page(raw)
		skipped.Count += page.Bad
		for _, err := range page.Why {
			e.opts.Log.Warn("an event type is malformed and hidden", "page", read.pages, "err", err)
			skipped.tell("page %d, %v", read.pages, err)
		}
		repeated := bytes.Equal(raw, before)
		before = raw
		for _, d := range page.Types {
			if have[d.Name] {
				if !repeated {
					skipped.Count++
					skipped.tell("page %d: %v is listed twice, the first one is kept", read.pages, wire.Clip(d.Name))
				}
				continue
			}
			if err := read.enough(len(types)); err != nil {
				return types, skipped, err
			}
			have[d.Name] = true
			types = append(types, eventType(d))
		}
		if page.Next == nil || seen[*page.Next] {
			return types, skipped, nil
		}
		if err := read.full(); err != nil {
			return types, skipped, err
		}
		seen[*page.Next] = true
		next = page.Next
	}
}

func eventType(d wire.Descriptor) event.Type {
	t := event.Type{
		Name: d.Name, Title: d.Title, Description: d.Description,
		InputSchema: d.InputSchema, PayloadSchema: d.PayloadSchema, Cursorless: d.Cursorless,
	}
	for _, mode := range d.Delivery {
		switch m := event.Mode(mode.Raw()); m {
		case event.ModePoll, event.ModePush, event.ModeWebhook:
			if !t.Offers(m) {
				t.Modes = append(t.Modes, m)
			}
		default:
			t.OtherModes = append(t.OtherModes, mode)
		}
	}
	return t
}

// spelled returns the params of a request in the spelling of the server. Early revisions of the
// sketch read params where the later ones read arguments, and ignore the other; no server says
// which it reads. So those of the sketch's age, before the stateless era, get both.
func (e *events) spelled(request json.Marshaler, args json.RawMessage) json.Marshaler {
	i := e.s.Info()
	if i.Era != session.EraHandshake || i.Profile == wire.ProfileSEP || len(args) <= len("{}") {
		return request
	}
	return earlySketch{request, args}
}

// earlySketch is the params of a request with its arguments also as params.
type earlySketch struct {
	request json.Marshaler
	args    json.RawMessage
}

// MarshalJSON writes the params.
func (s earlySketch) MarshalJSON() ([]byte, error) {
	raw, err := s.request.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte(`{"params":`), s.args, []byte(","), raw[1:]), nil
}

func (e *events) Poll(ctx context.Context, r wire.PollRequest) (wire.PollResult, error) {
	if e.s.Info().Draft {
		return wire.PollResult{}, ErrDraft
	}
	raw, err := e.s.Call(ctx, wire.MethodPoll, e.spelled(r, r.Arguments))
	if err != nil {
		return wire.PollResult{}, named(err)
	}
	return wire.DecodePoll(raw)
}

func (e *events) Stream(ctx context.Context, r wire.StreamRequest, sink func(wire.Note)) (Stream, error) {
	if e.s.Info().Draft {
		return nil, ErrDraft
	}
	return openResumable(ctx, e.s, e.all, e.opts, wire.MethodStream, e.spelled(r, r.Arguments), r.Resume, sink), nil
}

func (e *events) Subscribe(ctx context.Context, r wire.SubscribeRequest) (wire.SubscribeResult, error) {
	if e.s.Info().Draft {
		return wire.SubscribeResult{}, ErrDraft
	}
	raw, err := e.s.Call(ctx, wire.MethodSubscribe, e.spelled(r, r.Arguments))
	if err != nil {
		return wire.SubscribeResult{}, named(err)
	}
	return wire.DecodeSubscribe(raw)
}

func (e *events) Unsubscribe(ctx context.Context, r wire.UnsubscribeRequest) error {
	_, err := e.s.Call(ctx, wire.MethodUnsubscribe, e.spelled(r, r.Arguments))
	return named(err)
}

// Pause does nothing: a server sends no events that were not asked for.
func (e *events) Pause(context.Context, wire.UnsubscribeRequest) error { return nil }

func (e *events) Note(n wire.Note) (relist bool) {
	e.all.note(n)
	return n.Method == wire.NoteListChanged
}
