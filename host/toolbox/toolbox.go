// Package toolbox lists and calls the tools of an MCP server over a session, for models and
// agents of reactions. Descriptions of tools are bounded and parsed strictly; hints of the server
// can only make a tool count as more dangerous.
package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"eventdeck/host/react"
	"eventdeck/host/redact"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/host/wire"
)

// Limits of the list of a server's tools.
const (
	maxTools       = 1000
	maxPages       = 100
	maxListed      = 8 << 20  // bytes of all pages
	maxName        = 128      // bytes
	maxDescription = 16 << 10 // bytes
	maxSchema      = 64 << 10 // bytes
	maxDepth       = 64       // levels of JSON of a tool
)

// ErrList: the list of a server's tools is invalid or too large. It is a [wire.ErrUnacceptable].
var ErrList = fmt.Errorf("%w: the list of tools", wire.ErrUnacceptable)

// Options of [New]. The zero value works.
type Options struct {
	Redact *redact.Set  // masks secrets in text of the server; nil: by shape only
	Log    *slog.Logger // nil: nothing is logged
	// Address is the URL of the server, or its command with arguments and directory. Pins
	// cover it: the same tool at another address has another pin.
	Address []string
}

// Box is the tools of one server on one connection. Its methods may be called from any
// goroutine.
type Box struct {
	s *session.Session
	o Options

	mu      sync.Mutex
	mirrors map[string][]mirror // by the name of the tool; nil: not listed yet
}

// New returns the tools of the server of a session.
func New(s *session.Session, o Options) *Box {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Box{s: s, o: o}
}

// List lists all tools. Invalid ones are left out, and so are those that share a name.
//
// Errors: those of [session.Session.Call], [ErrList].
func (b *Box) List(ctx context.Context) ([]react.ToolDef, error) {
	all, err := b.pages(ctx)
	if err != nil {
		return nil, b.o.Redact.Error(err)
	}
	defs, mirrors := make([]react.ToolDef, 0, len(all)), map[string][]mirror{}
	count := map[string]int{}
	for _, t := range all {
		count[t.def.Name]++
	}
	for _, t := range all {
		if t.err == nil && count[t.def.Name] > 1 {
			t.err = errors.New("another tool has the same name")
		}
		if t.err != nil {
			b.o.Log.Warn("a tool is left out", "tool", trust.Untrusted(t.def.Name), "err", t.err)
			continue
		}
		t.def.Description = b.o.Redact.Text(t.def.Description)
		defs, mirrors[t.def.Name] = append(defs, t.def), t.mirrors
	}
	b.mu.Lock()
	b.mirrors = mirrors
	b.mu.Unlock()
	return defs, nil
}

// pages reads all pages of the list.
func (b *Box) pages(ctx context.Context) (all []listed, err error) {
	size, cursors := 0, map[string]bool{}
	var params any
	for range maxPages {
		raw, err := b.s.Call(ctx, "tools/list", params)
		if err != nil {
			return nil, err
		}
		if size += len(raw); size > maxListed {
			return nil, fmt.Errorf("%w has more than %d bytes", ErrList, maxListed)
		}
		var page struct {
			Tools *[]json.RawMessage `json:"tools"`
			Next  string             `json:"nextCursor"`
		}
		if json.Unmarshal(raw, &page) != nil || page.Tools == nil {
			return nil, fmt.Errorf("%w cannot be read", ErrList)
		}
		for _, one := range *page.Tools {
			all = append(all, b.readTool(one))
		}
		switch {
		case len(all) > maxTools:
			return nil, fmt.Errorf("%w has more than %d of them", ErrList, maxTools)
		case page.Next == "":
			return all, nil
		case cursors[page.Next]:
			return nil, fmt.Errorf("%w begins again at a cursor that it had", ErrList)
		}
		cursors[page.Next] = true
		params = map[string]string{"cursor": page.Next}
	}
	return nil, fmt.Errorf("%w has more than %d pages", ErrList, maxPages)
}

// Call calls a tool and returns its result, with secrets masked.
//
// Errors: [react.ErrToolRefused], and those of [session.Session.Call], after which it is unknown
// whether the tool did anything.
func (b *Box) Call(ctx context.Context, tool string, args json.RawMessage) (react.ToolResult, error) {
	if _, err := strict.ParseObject(args, strict.Limits{}); err != nil {
		return react.ToolResult{}, fmt.Errorf("%w: its arguments: %w", react.ErrToolRefused, err)
	}
	b.mu.Lock()
	listed := b.mirrors != nil
	b.mu.Unlock()
	if !listed {
		if _, err := b.List(ctx); err != nil {
			return react.ToolResult{}, fmt.Errorf("%w: %w", react.ErrToolRefused, err)
		}
	}
	b.mu.Lock()
	mirrors := b.mirrors[tool]
	b.mu.Unlock()
	raw, err := b.s.CallTool(ctx, tool, args, mirrored(mirrors, args))
	if err != nil {
		if err = b.o.Redact.Error(err); refused(err) {
			err = fmt.Errorf("%w: %w", react.ErrToolRefused, err)
		}
		return react.ToolResult{}, err
	}
	return b.result(raw)
}
