package tui

import (
	"context"
	"fmt"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// note records a request.
func (h *fakeHost) note(format string, args ...any) error {
	offEventLoop()
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

func (h *fakeHost) SetEnd(_ context.Context, id event.SubID, at time.Time) error {
	return h.note("end %s %s", at.UTC().Format(time.RFC3339), id)
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

// Remote returns the subscriptions of the host, an orphan and a duplicate.
func (h *fakeHost) Remote(_ context.Context, server string) ([]host.RemoteSubscription, error) {
	if server != "pager" {
		return nil, host.ErrUnreachable
	}
	typ := trust.Untrusted("incident.created")
	if h.held != nil {
		return h.held, nil
	}
	return []host.RemoteSubscription{
		{ServerID: trust.Untrusted("sub_1"), Type: typ, Mine: h.snap.Subs[0].ID},
		{ServerID: trust.Untrusted("sub_2"), Type: typ, Mine: h.snap.Subs[0].ID, Duplicate: true},
		{ServerID: trust.Untrusted("sub_\x1b[2J3"), Type: typ, Orphan: true, Detail: trust.Untrusted("lease until 15:00")},
	}, nil
}

func (h *fakeHost) EndRemote(_ context.Context, server string, id trust.Text) error {
	return h.note("end %s %v", server, id)
}

func (h *fakeHost) Reconnect(server string) error { return h.note("reconnect %s", server) }
