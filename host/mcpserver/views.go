package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/host/trust/scan"
	"eventdeck/host/wire"
)

// maxServers bounds the servers in a result, maxSchema the bytes of one schema.
const (
	maxServers = 1_000
	maxSchema  = 16 << 10
)

// serverOut is a server in the result of a tool. It has no command line, which may hold secrets.
type serverOut struct {
	Name          string     `json:"name"`
	Title         trust.Text `json:"title"`
	Address       string     `json:"address"`
	State         host.Reach `json:"state"`
	Since         *string    `json:"since"`
	Error         string     `json:"error"`
	Protocol      string     `json:"protocol"`
	Transport     string     `json:"transport"`
	Profile       string     `json:"profile"`
	Types         int        `json:"types"`
	Subscriptions int        `json:"subscriptions"`
}

func (s *Server) listServers(context.Context, json.RawMessage) (any, error) {
	snap := s.opts.Host.Snapshot()
	subs := map[string]int{}
	for i := range snap.Subs {
		subs[snap.Subs[i].Key.Server]++
	}
	found := []serverOut{}
	for _, v := range snap.Servers {
		out := serverOut{Name: v.Name, Title: wire.Clip(v.Title), State: v.Reach, Since: moment(v.Since), Error: v.Err, Protocol: v.Version,
			Transport: v.Transport, Profile: v.Profile, Types: len(v.Types), Subscriptions: subs[v.Name]}
		if v.Transport != "stdio" {
			out.Address = event.PublicAddress(v.Address)
		}
		delete(subs, v.Name)
		found = append(found, out)
	}
	for i := range snap.Subs { // subscriptions whose server is not connected here
		name := snap.Subs[i].Key.Server
		if n := subs[name]; n > 0 {
			found = append(found, serverOut{Name: name, State: "not-running", Subscriptions: n})
			delete(subs, name)
		}
	}
	return map[string]any{"servers": found[:min(len(found), maxServers)]}, nil
}

// typeOut is an event type in the result of a tool.
type typeOut struct {
	Server      string          `json:"server"`
	Name        trust.Text      `json:"name"`
	Title       trust.Text      `json:"title"`
	Description trust.Text      `json:"description"`
	Modes       []event.Mode    `json:"modes"`
	Replay      bool            `json:"replay"`
	Arguments   json.RawMessage `json:"arguments"` // null if there is no schema, or a very large one
	OfferedAs   *string         `json:"offeredAs"` // the name under which its stored events are offered here
}

// pageArgs are the arguments of tools that list anything but records.
type pageArgs struct {
	Server, Cursor, Rule, State, ID string
	Limit                           int
}

func readPage(args json.RawMessage) (a pageArgs, from int, err error) {
	if err = json.Unmarshal(args, &a); err != nil {
		return a, 0, fmt.Errorf("%w: %w", errArguments, err)
	}
	if a.Limit == 0 {
		a.Limit = defaultLimit
	}
	if a.Cursor != "" {
		if from, err = strconv.Atoi(a.Cursor); err != nil || from < 1 {
			return a, 0, errors.New("cursor: it is not one of this tool; leave it out to begin anew")
		}
	}
	return a, from, nil
}

// paged returns the part of a list that begins at from, and the cursor of the next part.
func paged[T any](all []T, from, limit int) (part []T, next *string) {
	from = min(from, len(all))
	to := min(from+limit, len(all))
	if to < len(all) {
		text := strconv.Itoa(to)
		next = &text
	}
	return append([]T{}, all[from:to]...), next
}

func (s *Server) listEventTypes(_ context.Context, args json.RawMessage) (any, error) {
	a, from, err := readPage(args)
	if err != nil {
		return nil, err
	}
	var all []typeOut
	for _, v := range s.opts.Host.Snapshot().Servers {
		if a.Server != "" && v.Name != a.Server {
			continue
		}
		for _, t := range v.Types {
			out := typeOut{Server: v.Name, Name: wire.Clip(t.Name), Title: wire.Clip(t.Title), Description: wire.Clip(t.Description), Modes: t.Modes, Replay: !t.Cursorless}
			if len(t.InputSchema) <= maxSchema {
				out.Arguments = t.InputSchema
			}
			if offered, ok := s.types.find(typeKey{v.Name, t.Name}.name()); ok {
				out.OfferedAs = &offered.name
			}
			all = append(all, out)
		}
	}
	part, next := paged(all, from, a.Limit)
	return map[string]any{"types": part, "nextCursor": next}, nil
}

func (s *Server) listSubscriptions(_ context.Context, args json.RawMessage) (any, error) {
	a, from, err := readPage(args)
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	for _, v := range s.opts.Host.Snapshot().Subs {
		if a.Server == "" || v.Key.Server == a.Server {
			all = append(all, host.AppendSubscription(nil, v))
		}
	}
	part, next := paged(all, from, a.Limit)
	return map[string]any{"subscriptions": part, "nextCursor": next}, nil
}

// runOut is a run of a reaction in the result of a tool.
type runOut struct {
	ID      react.RunID `json:"id"`
	Rule    string      `json:"rule"`
	State   react.State `json:"state"`
	Why     string      `json:"why"`
	Records uint64      `json:"records"`
	First   uint64      `json:"firstRecord"`
	Last    uint64      `json:"lastRecord"`
	Created *string     `json:"created"`
	Due     *string     `json:"due"`
	Started *string     `json:"started"`
	Ended   *string     `json:"ended"`

	Act    string  `json:"act,omitempty"` // the kind of request; only of a single run
	By     string  `json:"by,omitempty"`
	Reason string  `json:"reason,omitempty"`
	Exit   *int    `json:"exit,omitempty"`
	Result string  `json:"result,omitempty"`
	Output *string `json:"output,omitempty"` // in an envelope
}

func newRun(r *react.Run) runOut {
	out := runOut{ID: r.ID, Rule: r.Rule, State: r.State, Why: r.Why, Records: r.Members.Count, Last: r.Members.Newest(),
		Created: moment(r.Created), Due: moment(r.Due), Started: moment(r.Started), Ended: moment(r.Ended)}
	if len(r.Members.First) > 0 {
		out.First = r.Members.First[0]
	}
	return out
}

// errNoReactions: nothing runs reactions here.
var errNoReactions = errors.New("no reactions run on this store; `eventdeck` or `eventdeck react run` runs them")

// runsAsked reads the arguments of a tool that shows runs. Error: [errNoReactions].
func (s *Server) runsAsked(args json.RawMessage) (a pageArgs, err error) {
	if a, _, err = readPage(args); err == nil && s.opts.React == nil {
		err = errNoReactions
	}
	return a, err
}

func (s *Server) listRuns(ctx context.Context, args json.RawMessage) (any, error) {
	a, err := s.runsAsked(args)
	if err != nil {
		return nil, err
	}
	q := react.Query{Rule: a.Rule, Limit: a.Limit}
	if a.State != "" {
		q.States = []react.State{react.State(a.State)}
	}
	runs, err := s.opts.React.Runs(ctx, q)
	if err != nil {
		return nil, err
	}
	found := []runOut{}
	for i := range runs {
		found = append(found, newRun(&runs[i]))
	}
	return map[string]any{"runs": found}, nil
}

func (s *Server) showRun(ctx context.Context, args json.RawMessage) (any, error) {
	a, err := s.runsAsked(args)
	if err != nil {
		return nil, err
	}
	r, err := s.opts.React.Run(ctx, react.RunID(a.ID))
	if err != nil {
		return nil, err
	}
	out := newRun(&r)
	out.By, out.Reason = r.By, r.Reason
	if r.Request != nil {
		out.Act = string(r.Request.Kind)
	}
	if r.Result != nil {
		out.Result = string(r.Result.Outcome) + ": " + r.Result.Why
		if r.Request != nil && r.Request.Kind == react.RequestCommand {
			out.Exit = &r.Result.Exit
		}
		if printed := s.opts.Redact.Text(r.Result.Output.Stdout.Head).Raw(); printed != "" {
			printed = printed[:min(len(printed), payloadShort)]
			sealed, err := scan.Envelope{Origin: "output-of-a-command", Verified: "from the command of the rule", Payload: []byte(printed), Report: scan.Scan([]byte(printed))}.Seal()
			if err != nil {
				return nil, err
			}
			text := string(sealed)
			out.Output = &text
		}
	}
	return map[string]any{"run": out}, nil
}
