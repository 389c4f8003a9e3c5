package engine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// approval is the operator's approval of a request.
type approval struct {
	Hash  string     `json:"hash,omitempty"`
	By    string     `json:"by,omitempty"`
	Under react.Hash `json:"under,omitempty"`
}

// first returns the request with which a run began, nil if there is none yet.
func (r *run) first() *react.Request {
	if r.Began != nil {
		return r.Began
	}
	return r.Request
}

// stepped reports whether the next attempt takes steps, of a model or an agent.
func (r *run) stepped() bool {
	first := r.first()
	if first == nil || r.Request.Act != "" {
		return false
	}
	return first.Kind == react.RequestModel || first.Kind == react.RequestChoice || first.Kind == react.RequestAgent
}

// inProcess reports whether an attempt runs in this process and ends with it: all that is known
// afterwards is in its steps.
func (r *run) inProcess() bool { return r.stepped() && r.first().Kind != react.RequestAgent }

// repeatable reports whether an act with unknown outcome is done again.
func (r *run) repeatable() bool {
	switch r.Request.Kind {
	case react.RequestWebhook, react.RequestNote, react.RequestClient:
		return true
	case react.RequestCommand:
		return r.Request.RepeatSafe
	}
	return false
}

// actor returns whether a model or an agent takes the steps of a run, for the audit log.
func (r *run) actor() event.Actor {
	if first := r.first(); first != nil && first.Kind == react.RequestAgent {
		return "agent"
	}
	return "model"
}

// next makes a later step the request of the run, and keeps the first request in Began.
func (r *run) next(req react.Request) {
	if r.Began == nil {
		r.Began, r.Before = r.Request, &approval{r.Approved, r.By, r.Under}
	}
	req.Run, req.Rule = r.ID, r.Rule
	r.Request = &req
	r.Approved, r.By, r.Under = "", "", ""
}

// restoreFirst makes Began the request of the run again.
func (r *run) restoreFirst() {
	if r.Began == nil {
		return
	}
	r.Request, r.Began = r.Began, nil
	if b := r.Before; b != nil {
		r.Approved, r.By, r.Under = b.Hash, b.By, b.Under
	}
	r.Before = nil
}

// ruleOf returns the rule of a run as it stands now, nil if it is gone, and the rule for the
// policy: if a model chose an act, with the mode of that act and what it does.
func (e *Engine) ruleOf(r *run) (now, asked *react.Rule) {
	if r.Rule == react.AskRule || r.Rule == react.ClientRule {
		return &r.rule, &r.rule
	}
	asked = &r.rule
	if m := e.set.Rule(r.Rule); m != nil {
		now, asked = m.Rule, m.Rule
	}
	if act := r.act(); act != nil && asked.Mode != react.ModeShadow {
		own := *asked
		own.Mode, own.Do, own.Lines = act.Mode, act.Do, maps.Clone(asked.Lines)
		delete(own.Lines, "mode")
		if line, ok := asked.Lines["do"]; ok {
			own.Lines["mode"] = line
		}
		asked = &own
	}
	return now, asked
}

// act returns the act of the rule that a model chose; nil: none.
func (r *run) act() *react.Act {
	if r.Request == nil || r.Request.Act == "" || r.rule.Do.Choice == nil {
		return nil
	}
	acts := r.rule.Do.Choice.Acts
	if i := slices.IndexFunc(acts, func(a react.Act) bool { return a.Name == r.Request.Act }); i >= 0 {
		return &acts[i]
	}
	return nil
}

// proceed continues a run with the request that its attempt ended with, once the policy or the
// operator allows it.
func (e *Engine) proceed(r *run, res react.Result) {
	next := res.Next
	if next == nil {
		e.failed(r, "it asks for nothing")
		return
	}
	r.Result.Next = nil // it becomes the request of the run
	r.restoreFirst()
	r.next(*next)
	if why := r.wrongNext(); why != "" {
		r.restoreFirst()
		e.failed(r, why)
		return
	}
	r.AskWhy, r.Base, r.Never, r.First = res.Why, r.Attempt, 0, time.Time{}
	e.resume(r, "it goes on with its next step")
}

// wrongNext says why the request of a run cannot be a later step of it; "": it can.
func (r *run) wrongNext() string {
	req := r.Request
	if !r.fits(maxGoes) {
		return "what it goes on with is too long to be kept"
	}
	if req.Act == "" {
		if req.Kind == react.RequestTool && react.FindTool(r.first().Tools, req.Server, req.Tool) != nil {
			return ""
		}
		return fmt.Sprintf("a %s cannot be a later step of what it began with", req.Kind)
	}
	act := r.act()
	if act == nil || r.Began.Kind != react.RequestChoice {
		return "the act that was chosen is not one of the rule"
	}
	switch do := act.Do; {
	case do.Command != nil && req.Kind == react.RequestCommand && slices.Equal(req.Argv, do.Command.Argv):
	case do.Webhook != nil && req.Kind == react.RequestWebhook && req.URL == do.Webhook.URL:
	case do.Command == nil && do.Webhook == nil && req.Kind == react.RequestNote && req.Note == do.Note:
	default:
		return "what would be done is not the act that was chosen"
	}
	return ""
}

// resume starts a run again that has taken steps. No rate counts it as a new start.
func (e *Engine) resume(r *run, why string) {
	r.Goes, r.later = true, time.Time{}
	e.setState(r, react.Ready, why, "")
	r.Due = e.now()
	e.staged.again = true
}

// unknownCalls returns the tool calls that may have changed something and whose outcome is
// unknown. Error: that of loadSteps.
func (e *Engine) unknownCalls(r *run) (calls []*step, err error) {
	if err := e.loadSteps(r); err != nil {
		return nil, err
	}
	for i := range r.taken {
		if st := &r.taken[i]; st.State == react.StepBegun && st.Kind == react.StepTool && st.Class != react.ToolRead {
			calls = append(calls, st)
		}
	}
	return calls, nil
}

// parkCalls parks a run, and blocks the tools (server/tool) for its rule until the run is
// settled.
func (e *Engine) parkCalls(r *run, tools []string, why string) {
	r.restoreFirst()
	r.Unknown = append(r.Unknown, tools...)
	e.block(r)
	e.breaker(r, true)
	e.end(r, react.Parked, why, "")
}

// toolsOf returns the tools of calls, as server/tool.
func toolsOf(calls []*step) (tools []string) {
	for _, st := range calls {
		tools = append(tools, st.Server+"/"+st.Tool)
	}
	return tools
}

// writing returns the tools of a run that may change something, as server/tool.
func (r *run) writing() (tools []string) {
	for _, t := range r.first().Tools {
		if t.Class != react.ToolRead {
			tools = append(tools, t.Server+"/"+t.Name)
		}
	}
	return tools
}

// block keeps the rule of a parked run from calling the tools in Unknown.
func (e *Engine) block(r *run) {
	for _, tool := range r.Unknown {
		if e.unknown[r.Rule] == nil {
			e.unknown[r.Rule] = map[string][]react.RunID{}
		}
		e.unknown[r.Rule][tool] = append(e.unknown[r.Rule][tool], r.ID)
	}
}

// unblock allows these calls again after the run was settled, and records the operator's answer
// in the steps.
func (e *Engine) unblock(r *run, done bool) {
	for _, tool := range r.Unknown {
		runs := e.unknown[r.Rule]
		runs[tool] = slices.DeleteFunc(runs[tool], func(id react.RunID) bool { return id == r.ID })
		if len(runs[tool]) == 0 {
			delete(runs, tool)
		}
	}
	r.Unknown = nil
	calls, err := e.unknownCalls(r)
	if err != nil {
		e.o.Log.Warn("what the operator says of a run is not noted in its steps", "run", r.ID, "err", err)
	}
	for _, st := range calls {
		st.State, st.Why, st.Ended = react.StepFailed, r.Why, e.now()
		if done {
			st.State = react.StepDone
		}
		e.stagePut(event.TableReact, stepKey(r.ID, st.N), encode(st))
	}
}
