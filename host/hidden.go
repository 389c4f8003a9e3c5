package host

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// hide has the arguments of a subscription that are not to be shown masked wherever
// a server repeats them, from now until the host ends.
func (h *Host) hide(args, shown json.RawMessage) {
	if secret := secretArguments("", args, shown); len(secret) > 0 {
		h.hidden.Add(secret...)
	}
}

// withoutSecrets returns an error about arguments of a type that does not say those
// that are secret.
func withoutSecrets(t event.Type, args json.RawMessage, err error) error {
	return hiddenOf(t, args).Error(err)
}

// hiddenOf returns what is secret in arguments of a type.
func hiddenOf(t event.Type, args json.RawMessage) *session.Hidden {
	hidden := new(session.Hidden)
	hidden.Add(secretArguments("", args, shownArguments(t, args))...)
	return hidden
}

// secretArguments returns the scalars of arguments that are masked in what is shown of
// them; member is what holds them.
func secretArguments(member string, args, shown json.RawMessage) (out []session.Argument) {
	var whole, open map[string]json.RawMessage
	switch {
	case string(shown) == `"`+secretShown+`"`:
		return leaves(member, args)
	case len(shown) == 0 || json.Unmarshal(args, &whole) != nil || json.Unmarshal(shown, &open) != nil:
		return nil
	}
	for name, value := range whole {
		out = append(out, secretArguments(name, value, open[name])...)
	}
	return out
}

// leaves returns every string, number and boolean within a value.
func leaves(member string, value json.RawMessage) (out []session.Argument) {
	value = bytes.TrimSpace(value)
	if len(value) == 0 || string(value) == "null" {
		return nil
	}
	switch value[0] {
	case '{':
		for _, m := range objectMembers(value) {
			out = append(out, leaves(m.key, m.value)...)
		}
		return out
	case '[':
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil {
			return nil
		}
		for _, item := range items {
			out = append(out, leaves(member, item)...)
		}
		return out
	}
	text := trust.Untrusted(string(value))
	if value[0] == '"' && json.Unmarshal(value, &text) != nil {
		return nil
	}
	return []session.Argument{{Name: member, Value: event.NewSecret(text.Raw())}}
}

// hidingSink masks what a server says of the end of a stream, and why something could
// not be taken. Events pass as they are.
func (h *Host) hidingSink(sink func(wire.Note)) func(wire.Note) {
	return func(n wire.Note) {
		switch {
		case n.Method == wire.NoteError, n.Method == wire.NoteTerminated:
			n.Params = h.hidden.JSON(n.Params)
		case n.Refused != nil:
			n.Refused = h.hidden.Error(n.Refused)
		}
		sink(n)
	}
}

// hidingStream masks why a stream ended.
type hidingStream struct {
	delivery.Stream
	hidden *session.Hidden
}

// Err implements [delivery.Stream].
func (s hidingStream) Err() error { return s.hidden.Error(s.Stream.Err()) }

// hidingHandler is a [slog.Handler] that masks what is hidden, and hands on.
type hidingHandler struct {
	next   slog.Handler
	hidden *session.Hidden
}

// Enabled implements [slog.Handler].
func (h *hidingHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h *hidingHandler) Handle(ctx context.Context, r slog.Record) error {
	if h.hidden.Empty() {
		return h.next.Handle(ctx, r)
	}
	masked := slog.NewRecord(r.Time, r.Level, h.hidden.String(r.Message), r.PC)
	for _, a := range h.masked(attrsOf(r)) {
		masked.AddAttrs(a)
	}
	return h.next.Handle(ctx, masked)
}

// WithAttrs implements [slog.Handler].
func (h *hidingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &hidingHandler{h.next.WithAttrs(h.masked(attrs)), h.hidden}
}

// WithGroup implements [slog.Handler].
func (h *hidingHandler) WithGroup(name string) slog.Handler {
	return &hidingHandler{h.next.WithGroup(name), h.hidden}
}

func (h *hidingHandler) masked(attrs []slog.Attr) []slog.Attr {
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		switch v := a.Value.Any().(type) {
		case trust.Text:
			a.Value = slog.AnyValue(h.hidden.Text(v))
		case string:
			a.Value = slog.StringValue(h.hidden.String(v))
		case error:
			a.Value = slog.AnyValue(h.hidden.Error(v))
		}
		out[i] = a
	}
	return out
}
