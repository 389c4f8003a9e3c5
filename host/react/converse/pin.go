package converse

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"eventdeck/host/react"
	"eventdeck/host/react/toolset"
)

// maxTools bounds what all tools of a request say of themselves, in bytes.
const maxTools = 128 << 10

// Pin implements [react.Pinner].
func (r *Runner) Pin(ctx context.Context, rule react.Rule) []react.Pinned {
	if rule.Do.Task == nil {
		return nil
	}
	return r.pin(ctx, rule.Do.Task.Tools, nil)
}

// pin returns tools as their servers describe them now, or as they did when the rule was
// armed, where armed is not nil. What cannot be had is left out.
func (r *Runner) pin(ctx context.Context, tools []react.Tool, armed []react.Pinned) (all []react.Pinned) {
	left := map[string]bool{} // servers that do not answer
	size := 0
	for _, t := range tools {
		var p react.Pinned
		if i := slices.IndexFunc(armed, func(p react.Pinned) bool { return p.Server == t.Server && p.Name == t.Name }); i >= 0 {
			p = armed[i]
		} else if armed == nil {
			p = r.pinNow(ctx, t, left)
		}
		if p.Pin == "" {
			continue
		}
		if size += p.Description.Len() + len(p.Schema); size > maxTools {
			r.o.Log.Warn("a tool is left out: the tools of a rule say too much of themselves", "server", t.Server, "tool", t.Name)
			continue
		}
		all = append(all, p)
	}
	return all
}

// pinNow returns a tool as its server describes it now, without a pin if it cannot be had.
func (r *Runner) pinNow(ctx context.Context, t react.Tool, left map[string]bool) react.Pinned {
	if left[t.Server] {
		return react.Pinned{}
	}
	found, err := toolset.Pin(ctx, r.o.Tools, []react.Tool{t})
	if err != nil {
		left[t.Server] = true
	}
	if err != nil || len(found) == 0 {
		r.o.Log.Warn("a tool is left out: its server does not list it", "server", t.Server, "tool", t.Name, "err", err)
		return react.Pinned{}
	}
	return found[0]
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
