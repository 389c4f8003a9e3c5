package converse

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"eventdeck/host/react"
	"eventdeck/host/react/toolset"
)

// toolsWithin is the time limit for asking all servers of a rule for their tools.
const toolsWithin = 30 * time.Second

// Pin implements [react.Pinner].
func (r *Runner) Pin(ctx context.Context, rule react.Rule) []react.Pinned {
	tools, _ := rule.Do.Tools()
	return r.pin(ctx, tools, nil)
}

// pin returns tools as their servers describe them now or, if armed is not nil, as they did when
// the rule was armed. Tools that are not available are left out.
func (r *Runner) pin(ctx context.Context, tools []react.Tool, armed []react.Pinned) []react.Pinned {
	all := armed
	if armed == nil {
		ctx, cancel := context.WithTimeout(ctx, toolsWithin)
		defer cancel()
		all, _ = toolset.Pin(ctx, reachable{r.o.Tools, r.o.Log}, tools) // reachable returns no errors
	}
	var out []react.Pinned
	for _, t := range tools {
		switch p := react.FindTool(all, t.Server, t.Name); {
		case p != nil && p.Pin != "":
			out = append(out, *p)
		case armed == nil:
			r.o.Log.Warn("a tool is left out: its server does not list it, or the tools of the rule say too much of themselves", "server", t.Server, "tool", t.Name)
		}
	}
	return out
}

// reachable is a toolbox in which a server that cannot be reached has no tools.
type reachable struct {
	react.Toolbox
	log *slog.Logger
}

// ToolsOf implements [react.Toolbox].
func (b reachable) ToolsOf(ctx context.Context, server string) ([]react.ToolDef, error) {
	list, err := b.Toolbox.ToolsOf(ctx, server)
	if err != nil {
		b.log.Warn("the tools of a server are left out", "server", server, "err", err)
	}
	return list, nil
}

// encode returns the JSON of a value that always encodes.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("%T: %v", v, err)) // texts and numbers
	}
	return raw
}

// stored returns a value as it comes back from the journal, so that later steps do not depend on
// whether it was stored and read.
func stored[T any](v T) (T, error) {
	var back T
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &back)
	}
	return back, err
}
