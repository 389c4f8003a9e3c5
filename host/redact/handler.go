package redact

import (
	"context"
	"log/slog"

	"eventdeck/host/trust"
)

// Handler returns a [slog.Handler] that passes on every record, masked by the set.
func Handler(next slog.Handler, set *Set) slog.Handler { return &handler{next, set} }

type handler struct {
	next slog.Handler
	set  *Set
}

// Enabled implements [slog.Handler].
func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	masked := slog.NewRecord(r.Time, r.Level, h.set.String(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		masked.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, masked)
}

// WithAttrs implements [slog.Handler].
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	masked := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		masked[i] = h.attr(a)
	}
	return &handler{h.next.WithAttrs(masked), h.set}
}

// WithGroup implements [slog.Handler].
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.next.WithGroup(name), h.set}
}

func (h *handler) attr(a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case trust.Text:
		a.Value = slog.AnyValue(h.set.Text(v))
	case string:
		a.Value = slog.StringValue(h.set.String(v))
	case error:
		a.Value = slog.AnyValue(h.set.Error(v))
	}
	return a
}
