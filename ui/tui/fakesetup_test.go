package tui

import (
	"context"
	"encoding/json"
	"fmt"

	"eventdeck/host"
	"eventdeck/host/event"
)

func (h *fakeHost) Preview(r host.Request) (host.Preview, error) {
	offEventLoop()
	method := map[event.Mode]string{event.ModePoll: "events/poll", event.ModePush: "events/stream", event.ModeWebhook: "events/subscribe"}[r.Mode]
	params, err := json.Marshal(map[string]any{"name": r.Type.Raw(), "arguments": r.Args, "cursor": nil})
	return host.Preview{
		Mode: r.Mode, Method: method, Params: params,
		Command: fmt.Sprintf("eventdeck tail %s %s --args '%s' --mode %s", r.Server, r.Type.Raw(), r.Args, r.Mode),
	}, err
}

func (h *fakeHost) AddServer(s event.Server) {
	_ = h.note("add %s %s%s", s.Name, s.Command, s.URL)
	if !s.ByHand {
		_ = h.note("and it is not in the audit log")
	}
}

func (h *fakeHost) TestServer(_ context.Context, s event.Server) (host.ServerView, error) {
	return h.tested, h.note("test %s", s.Name)
}
