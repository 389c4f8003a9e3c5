package attach_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"eventdeck/host/attach"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// maxGates is how many sessions one run may have.
const maxGates = 4

// runs is one run with a tool.
type runs struct{ over atomic.Bool }

func (r *runs) find(run react.RunID, token string) (react.Gate, error) {
	if r.over.Load() || run != "abcd" || token != "good" {
		return nil, react.ErrNoGate
	}
	return r, nil
}

func (r *runs) Tools(context.Context) ([]react.Pinned, error) {
	return []react.Pinned{{Tool: react.Tool{Server: "pager", Name: "get", Fix: map[string]json.RawMessage{"env": json.RawMessage(`"prod"`)}, Drop: []string{"force"}}, Description: odd, Schema: json.RawMessage(`{}`)}}, nil
}

func (r *runs) Call(_ context.Context, server, tool string, args json.RawMessage) (react.ToolResult, error) {
	if server != "pager" || tool != "get" {
		return react.ToolResult{}, react.ErrRefusedStep
	}
	return react.ToolResult{Content: trust.Untrusted("answer to " + string(args)), Failed: true, Cut: 7}, nil
}

func TestToolsOfARunNeedItsToken(t *testing.T) {
	r := &runs{}
	f := serve(t, t.TempDir(), attach.Options{Gates: r.find})
	socket := attach.SocketOf(f.dir)
	for _, bad := range [][2]string{{"abcd", "bad"}, {"abcd", ""}, {"other", "good"}, {"", "good"}} {
		if g, err := attach.AttachGate(t.Context(), socket, react.RunID(bad[0]), bad[1]); !errors.Is(err, react.ErrToken) {
			t.Errorf("%q: %v, %v", bad, g, err)
		}
	}
	g, err := attach.AttachGate(t.Context(), socket, "abcd", "good")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}()
	tools, err := g.Tools(t.Context())
	if err != nil || len(tools) != 1 || tools[0].Description != odd || tools[0].Server != "pager" || len(tools[0].Fix)+len(tools[0].Drop) != 0 {
		t.Errorf("%+v, %v", tools, err)
	}
	if got, err := g.Call(t.Context(), "pager", "get", json.RawMessage(`{"a":1}`)); err != nil || got.Content.Raw() != `answer to {"a":1}` || !got.Failed || got.Cut != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := g.Call(t.Context(), "pager", "drop", nil); !errors.Is(err, react.ErrRefusedStep) {
		t.Errorf("%+v, %v", got, err)
	}
	// The tools end with the run, also for a client that is attached already.
	r.over.Store(true)
	if got, err := g.Tools(t.Context()); !errors.Is(err, react.ErrNoGate) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := g.Call(t.Context(), "pager", "get", nil); !errors.Is(err, react.ErrNoGate) {
		t.Errorf("%+v, %v", got, err)
	}
	if g, err := attach.AttachGate(t.Context(), socket, "abcd", "good"); !errors.Is(err, react.ErrToken) {
		t.Errorf("%v, %v", g, err)
	}
}

// Sessions that are opened at the same time are counted too, and take no place of the operator's.
func TestSessionsOfRunsLeavePlacesForTheOperator(t *testing.T) {
	f := serve(t, t.TempDir(), attach.Options{Gates: func(react.RunID, string) (react.Gate, error) { return &runs{}, nil }})
	const places, all = 24, 8 * (maxGates + 1)
	var wg sync.WaitGroup
	var in atomic.Int32
	left, refused := make(chan struct{}), make(chan struct{}, all)
	for i := range all {
		wg.Go(func() {
			g, err := untilAnswered(func() (*attach.Gate, error) {
				return attach.AttachGate(t.Context(), attach.SocketOf(f.dir), react.RunID(fmt.Sprint("run", i%8)), "good")
			})
			switch {
			case err == nil:
				in.Add(1)
				<-left
				_ = g.Close() // it never fails
			case !errors.Is(err, attach.ErrBusy):
				t.Error(err)
			default:
				refused <- struct{}{}
			}
		})
	}
	for range all - places {
		<-refused
	}
	f.client()
	close(left)
	wg.Wait()
	if n := in.Load(); n != places {
		t.Errorf("%d sessions of runs", n)
	}
}

func TestSessionsOfOneRunAreBounded(t *testing.T) {
	f := serve(t, t.TempDir(), attach.Options{Gates: (&runs{}).find})
	for i := range maxGates + 1 {
		g, err := attach.AttachGate(t.Context(), attach.SocketOf(f.dir), "abcd", "good")
		if i < maxGates {
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = g.Close() }() // it never fails
			continue
		}
		if !errors.Is(err, attach.ErrBusy) || strings.Contains(err.Error(), "good") {
			t.Errorf("%v", err)
		}
	}
	f.client() // the operator still can
}
