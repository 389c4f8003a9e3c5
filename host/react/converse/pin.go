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

// toolsWithin bounds how long all servers of a rule are asked for their tools.
const toolsWithin = 30 * time.Second

// Pin implements [react.Pinner].
func (r *Runner) Pin(ctx context.Context, rule react.Rule) []react.Pinned {
	tools, _ := rule.Do.Tools()
	return r.pin(ctx, tools, nil)
}

// pin returns tools as their servers describe them now, or as they did when the rule was
// armed, where armed is not nil. What cannot be had is left out.
func (r *Runner) pin(ctx context.Context, tools []react.Tool, armed []react.Pinned) []react.Pinned {
	all := armed
	if armed == nil {
		ctx, cancel := context.WithTimeout(ctx, toolsWithin)
		defer cancel()
		all, _ = toolset.Pin(ctx, reachable{r.o.Tools, r.o.Log}, tools) // which has no errors
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

// reachable is a toolbox in which a server that cannot be asked has no tools.
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

// encode returns a value as JSON that has nothing that JSON cannot say.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("%T: %v", v, err)) // texts and numbers
	}
	return raw
}

// stored returns a value as it comes back from the journal, so that what follows from it is
// the same before and after.
func stored[T any](v T) (T, error) {
	var back T
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &back)
	}
	return back, err
}
