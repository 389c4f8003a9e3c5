package tui

import (
	"context"
	"fmt"

	"eventdeck/host"
	"eventdeck/host/event"
)

// note remembers what was asked of the host.
func (h *fakeHost) note(format string, args ...any) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.did = append(h.did, fmt.Sprintf(format, args...))
	return h.refuse
}

func (h *fakeHost) SetMode(_ context.Context, id event.SubID, m event.Mode) error {
	return h.note("mode %s %s", m, id)
}

func (h *fakeHost) SetFailover(_ context.Context, id event.SubID, on bool) error {
	return h.note("failover %v %s", on, id)
}

func (h *fakeHost) RotateSecret(_ context.Context, id event.SubID) error {
	return h.note("rotate %s", id)
}
func (h *fakeHost) Refresh(_ context.Context, id event.SubID) error { return h.note("refresh %s", id) }

func (h *fakeHost) ResetCursor(_ context.Context, id event.SubID, from host.From) error {
	if !from.Cursor.Valid {
		return h.note("reset now %s", id)
	}
	return h.note("reset %s %s", from.Cursor.Text.Raw(), id)
}

func (h *fakeHost) Reconnect(server string) error { return h.note("reconnect %s", server) }
