package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// Bounds of client requests, besides those of package react.
const (
	maxAskedArgs = 16 << 10 // bytes of the arguments of a subscription
	maxClient    = 60       // characters of a client's name
	checkWithin  = 15 * time.Second
)

// askingTools returns the tools that ask the operator.
func askingTools() []tool {
	const (
		states = `"state":{"type":"string","enum":["asking","approved","done","denied","expired","failed"],"description":"asking: the operator has not decided; approved: it is being carried out; done: it is so; the others: it will not be done"}`
		answer = `"id":{"type":["string","null"],"description":"Of the request, as the operator sees it; null: nothing had to be asked"},` + states +
			`,"subscription":{"type":["string","null"],"description":"The id of the subscription, once there is one"},"mode":` + textOrNull +
			`,"why":` + anyText + `,"reason":{"type":"string","description":"The operator's, of a denial"},"expires":{"type":["string","null"],"description":"When an undecided question ends, RFC 3339"}`
		ofSub = `"subscription":{"type":"string","minLength":1,"maxLength":64,"description":"The id of the subscription"}`
		again = " It answers at once. Call it again with the same arguments, some seconds later, to learn what became of it; an answer stands for an hour."
	)
	return []tool{
		{name: "subscribe", title: "Ask for a subscription", description: "Asks the operator for a subscription to an event type of a server; nothing is subscribed before the operator approves exactly this." + again,
			input: object(`"server":{"type":"string","minLength":1,"maxLength":512,"description":"A server of list_servers"},"type":{"type":"string","minLength":1,"maxLength":512,"description":"An event type of list_event_types"},`+
				`"arguments":{"type":"object","description":"Those of the type, by its schema"},"mode":{"type":"string","enum":["auto","poll","push","webhook"],"description":"How events are delivered to eventdeck (default auto)"}`, "server", "type"),
			output: object(answer), ask: (*Server).askToSubscribe},
		{name: "unsubscribe", title: "Ask for the end of a subscription", description: "Asks the operator to end a subscription; nothing ends before the operator approves exactly this. What was stored stays." + again,
			input: object(ofSub, "subscription"), output: object(answer), ask: about(react.ClientEnd), ends: true},
		{name: "pause", title: "Ask for a pause of a subscription", description: "Asks the operator to pause a subscription; its position is kept." + again,
			input: object(ofSub, "subscription"), output: object(answer), ask: about(react.ClientPause)},
		{name: "resume", title: "Ask for a subscription to go on", description: "Asks the operator to resume a paused subscription." + again,
			input: object(ofSub, "subscription"), output: object(answer), ask: about(react.ClientResume)},
		{name: "change", title: "Ask for a change of a subscription", description: "Asks the operator to change the mode of a subscription, which keeps its position, or its arguments: then one with the new arguments begins, with another id, and the old one ends." + again,
			input:  object(ofSub+`,"arguments":{"type":"object","description":"All arguments that it is to have; without them they stay"},"mode":{"type":"string","enum":["poll","push","webhook"],"description":"The mode that it is to have; without it that stays"}`, "subscription"),
			output: object(answer), ask: (*Server).askToChange},
	}
}

// who describes the client to the operator: how it reached this server, and its own name.
func (r request) who() trust.Text {
	name := []rune(r.client.Raw())
	if len(name) == 0 {
		return trust.Untrusted(r.caller)
	}
	return trust.Untrusted(r.caller + " " + string(name[:min(len(name), maxClient)]))
}

// requestOut is the state of a client request.
type requestOut struct {
	ID           *react.RunID `json:"id"`
	State        string       `json:"state"`
	Subscription *event.SubID `json:"subscription"`
	Mode         *event.Mode  `json:"mode"`
	Why          string       `json:"why"`
	Reason       string       `json:"reason"`
	Expires      *string      `json:"expires"`
}

// The states of client requests in responses.
const (
	stateAsking   = "asking"
	stateApproved = "approved"
	stateDone     = "done"
	stateDenied   = "denied"
	stateExpired  = "expired"
	stateFailed   = "failed"
)

func newRequestOut(r *react.Run) requestOut {
	out := requestOut{ID: &r.ID, Why: r.Why, Reason: r.Reason}
	if q := r.Request; q != nil && q.Wish != nil && q.Wish.Mode != "" {
		out.Mode = &q.Wish.Mode
	}
	if q := r.Request; q != nil && q.Wish != nil && r.State == react.Done {
		id := q.Wish.Subscription()
		out.Subscription = &id
	}
	switch r.State {
	case react.Gathering: // it will ask at once
		out.State = stateAsking
	case react.Asking:
		out.State, out.Expires = stateAsking, moment(r.Due)
	case react.Ready, react.Running:
		out.State = stateApproved
	case react.Done:
		out.State = stateDone
	case react.Denied:
		out.State = stateDenied
	case react.Expired:
		out.State = stateExpired
	default:
		out.State = stateFailed
	}
	return out
}

// askToSubscribe implements the tool subscribe. It does not ask for an existing subscription.
func (s *Server) askToSubscribe(ctx context.Context, client trust.Text, args json.RawMessage) (any, error) {
	var a struct {
		Server, Type string
		Arguments    json.RawMessage
		Mode         event.Mode
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, fmt.Errorf("%w: %w", errArguments, err)
	}
	if a.Mode == "" {
		a.Mode = event.ModeAuto
	}
	canonical, err := checkedArgs(a.Arguments)
	if err != nil {
		return nil, err
	}
	key := event.Key{Server: a.Server, Type: trust.Untrusted(a.Type), Args: canonical}
	if sub := s.subscription(func(v *host.SubscriptionView) bool { return v.Key.ID() == key.ID() && !v.State.Over() }); sub != nil {
		return requestOut{State: stateDone, Subscription: &sub.ID, Mode: &sub.Mode, Why: "it is subscribed"}, nil
	}
	w := react.ClientRequest{Client: client, Act: react.ClientBegin, Server: key.Server, Type: key.Type, Args: key.Args, Asked: a.Mode}
	return s.asked(ctx, &w, func() error {
		ctx, cancel := context.WithTimeout(ctx, checkWithin)
		defer cancel()
		w.Mode, err = s.opts.Host.Check(ctx, host.Request{Server: key.Server, Type: key.Type, Args: key.Args, Mode: a.Mode})
		return err
	})
}

// about returns the tool that asks for an act on a subscription. It does not ask for what is so.
func about(act react.ClientAct) func(*Server, context.Context, trust.Text, json.RawMessage) (any, error) {
	return func(s *Server, ctx context.Context, client trust.Text, args json.RawMessage) (any, error) {
		var a struct{ Subscription event.SubID }
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, fmt.Errorf("%w: %w", errArguments, err)
		}
		sub := s.subscription(func(v *host.SubscriptionView) bool { return v.ID == a.Subscription })
		if sub != nil && (act == react.ClientPause && sub.Paused || act == react.ClientResume && !sub.Paused && !sub.State.Over()) {
			return requestOut{State: stateDone, Subscription: &sub.ID, Mode: &sub.Mode, Why: map[bool]string{true: "it is paused", false: "it is not paused"}[sub.Paused]}, nil
		}
		w := react.ClientRequest{Client: client, Act: act, Sub: a.Subscription}
		return s.asked(ctx, &w, func() error {
			if sub == nil {
				return errNoSubscription
			}
			w.Server, w.Type, w.Args = sub.Key.Server, sub.Key.Type, sub.ShownArgs()
			return nil
		})
	}
}

var errNoSubscription = fmt.Errorf("%w: there is no subscription of this id; list_subscriptions shows them", errArguments)

// askToChange implements the tool change. It does not ask for what is so.
func (s *Server) askToChange(ctx context.Context, client trust.Text, args json.RawMessage) (any, error) {
	var a struct {
		Subscription event.SubID
		Arguments    json.RawMessage
		Mode         event.Mode
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, fmt.Errorf("%w: %w", errArguments, err)
	}
	w := react.ClientRequest{Client: client, Act: react.ClientChange, Sub: a.Subscription, Asked: a.Mode}
	if len(a.Arguments) > 0 {
		var err error
		if w.Args, err = checkedArgs(a.Arguments); err != nil {
			return nil, err
		}
	} else if a.Mode == "" {
		return nil, fmt.Errorf("%w: give arguments, mode or both", errArguments)
	}
	sub := s.subscription(func(v *host.SubscriptionView) bool { return v.ID == a.Subscription })
	if sub != nil && string(w.Args) == string(sub.Key.Args) {
		w.Args = nil
	}
	if sub != nil && w.Args == nil && (a.Mode == "" || a.Mode == sub.Mode) {
		return requestOut{State: stateDone, Subscription: &sub.ID, Mode: &sub.Mode, Why: "it is so"}, nil
	}
	return s.asked(ctx, &w, func() (err error) {
		if sub == nil {
			return errNoSubscription
		}
		w.Server, w.Type, w.Was = sub.Key.Server, sub.Key.Type, sub.ShownArgs()
		q := host.Request{Server: w.Server, Type: w.Type, Args: w.Args, Mode: cmp.Or(a.Mode, sub.Mode)}
		if q.Args == nil {
			q.Args = sub.Key.Args
		}
		ctx, cancel := context.WithTimeout(ctx, checkWithin)
		defer cancel()
		w.Mode, err = s.opts.Host.Check(ctx, q)
		return err
	})
}

// checkedArgs returns the arguments of a subscription in canonical form.
func checkedArgs(raw json.RawMessage) (json.RawMessage, error) {
	canonical, err := event.CanonicalArgs(raw)
	if err == nil && len(canonical) > maxAskedArgs {
		err = fmt.Errorf("%w: they have %d bytes, and %d are taken at most", errArguments, len(canonical), maxAskedArgs)
	}
	return canonical, err
}

// subscription returns the first subscription that match accepts, nil if there is none.
func (s *Server) subscription(match func(*host.SubscriptionView) bool) *host.SubscriptionView {
	subs := s.opts.Host.Snapshot().Subs
	for i := range subs {
		if match(&subs[i]) {
			return &subs[i]
		}
	}
	return nil
}

// asked returns the state of a client request. One without a valid answer is checked first, and
// then put to the operator.
func (s *Server) asked(ctx context.Context, w *react.ClientRequest, check func() error) (any, error) {
	if s.opts.React == nil {
		return nil, errNotAsked
	}
	r, err := s.opts.React.Run(ctx, w.Run())
	if errors.Is(err, react.ErrNoRun) || err == nil && !r.Stands(s.opts.Now()) {
		if err = check(); err == nil {
			r, err = s.opts.React.ClientRequest(ctx, *w)
		}
	}
	switch {
	case errors.Is(err, react.ErrNotEngine):
		return nil, errNotAsked
	case err != nil:
		return nil, err
	}
	out := newRequestOut(&r)
	if out.Mode == nil && w.Mode != "" { // the run does not ask yet
		out.Mode = &w.Mode
	}
	return out, nil
}

// errNotAsked: the operator cannot be asked here.
var errNotAsked = errors.New("nothing was asked: no process runs reactions on this store, so the operator could approve nothing. Start `eventdeck` (the screen) or `eventdeck react run` before `eventdeck mcp`, which then attaches to it")
