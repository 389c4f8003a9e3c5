package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/toolbox"
)

// Bounds of requests to the tools of a server.
const (
	listToolsWithin = 30 * time.Second
	callToolWithin  = time.Minute
)

var _ react.Toolbox = (*Host)(nil)

// ToolsOf implements [react.Toolbox]. It waits for the connection of a server that is being
// connected, and for the answer, 30 s at most.
//
// Errors: ErrUnknownServer, ErrUnreachable, ErrRefused, [toolbox.ErrList], those of the
// server.
func (ss *servers) ToolsOf(ctx context.Context, server string) ([]react.ToolDef, error) {
	ctx, cancel := context.WithTimeout(ctx, listToolsWithin)
	defer cancel()
	box, err := ss.toolbox(ctx, server)
	if err != nil {
		return nil, err
	}
	tools, err := box.List(ctx)
	return tools, explain(err)
}

// CallTool implements [react.Toolbox]. It waits for the connection of a server that is being
// connected, and for the answer, a minute at most.
func (ss *servers) CallTool(ctx context.Context, server, tool string, args json.RawMessage) (react.ToolResult, error) {
	ctx, cancel := context.WithTimeout(ctx, callToolWithin)
	defer cancel()
	box, err := ss.toolbox(ctx, server)
	if err != nil {
		return react.ToolResult{}, fmt.Errorf("%w: %w", react.ErrToolRefused, err)
	}
	result, err := box.Call(ctx, tool, args)
	if err != nil && !errors.Is(err, react.ErrToolRefused) {
		return react.ToolResult{}, explain(err)
	}
	return result, err
}

// toolbox returns the tools of a server. It waits for the connection, unless no attempt to
// connect is made soon.
func (ss *servers) toolbox(ctx context.Context, name string) (*toolbox.Box, error) {
	s, err := ss.server(name)
	if err != nil {
		return nil, err
	}
	if err := s.awayFor(listToolsWithin); err != nil {
		return nil, err
	}
	if _, err := s.session(ctx); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrUnreachable, name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools, nil
}

// addressOf returns what identifies a server: its address, or the process that is started.
func addressOf(s event.Server) []string {
	if s.URL != "" {
		return []string{s.URL}
	}
	return append([]string{s.Command, s.Dir}, s.Args...)
}
