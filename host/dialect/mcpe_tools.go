package dialect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

const methodCall = "tools/call"

// toolCall is the params of tools/call.
type toolCall struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

// toolError is the failure that a tool reported. A retry changes nothing.
type toolError struct {
	tool string
	text trust.Text
}

func (e *toolError) Error() string { return fmt.Sprintf("the tool %s failed: %v", e.tool, e.text) }

func (e *toolError) Unwrap() error { return wire.ErrUnacceptable }

// call calls a tool and returns its result: structured content, or JSON in a text block.
func (t *tools) call(ctx context.Context, tool string, args any) (json.RawMessage, error) {
	raw, err := t.all.call(ctx, t.s, t.opts, methodCall, toolCall{tool, args}, func(n wire.Note) { t.Note(n) })
	if err != nil {
		return nil, err
	}
	return toolResult(tool, raw)
}

// toolResult reads the result of tools/call.
//
// Errors: *toolError, [wire.ErrMalformed], [wire.ErrUnacceptable] for a tool that
// asks for input.
func toolResult(tool string, raw json.RawMessage) (json.RawMessage, error) {
	var r struct {
		ResultType string
		IsError    bool
		Structured json.RawMessage `json:"structuredContent"`
		Content    []struct {
			Type string
			Text string
		}
	}
	if json.Unmarshal(raw, &r) != nil {
		return nil, fmt.Errorf("%w: the result of the tool %s", wire.ErrMalformed, tool)
	}
	var text []string
	for _, c := range r.Content {
		if c.Text != "" {
			text = append(text, c.Text)
		}
	}
	switch {
	case r.ResultType == "input_required":
		return nil, fmt.Errorf("%w: the tool %s asks for input, which only the operator can give", wire.ErrUnacceptable, tool)
	case r.IsError:
		return nil, &toolError{tool, wire.Clip(trust.Untrusted(strings.Join(text, " ")))}
	case len(r.Structured) > 0 && string(r.Structured) != "null":
		return r.Structured, nil
	}
	for _, s := range text {
		if json.Valid([]byte(s)) {
			return json.RawMessage(s), nil
		}
	}
	return nil, fmt.Errorf("%w: the tool %s answered with neither structured content nor JSON in a text block", wire.ErrMalformed, tool)
}

// kept is a subscription as the server lists it.
type kept struct {
	request
	ID, Status string
}

// readKept reads member by member: a malformed one hides only itself.
func readKept(raw json.RawMessage) kept {
	var m map[string]json.RawMessage
	var k kept
	if json.Unmarshal(raw, &m) != nil {
		return k
	}
	if m["subscription"] != nil && m["subscriptionId"] == nil {
		return readKept(m["subscription"])
	}
	_ = json.Unmarshal(m["subscriptionId"], &k.ID)
	if k.ID == "" {
		_ = json.Unmarshal(m["id"], &k.ID) // the spelling of the type definitions
	}
	_ = json.Unmarshal(m["status"], &k.Status)
	_ = json.Unmarshal(m["filter"], &k.Filter)
	_ = json.Unmarshal(m["delivery"], &k.Delivery)
	_ = json.Unmarshal(m["expiresAt"], &k.ExpiresAt)
	return k
}

// listKept returns the subscriptions that the server holds.
func (t *tools) listKept(ctx context.Context) ([]kept, error) {
	raw, err := t.call(ctx, wire.ToolList, struct{}{})
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		var m struct{ Subscriptions []json.RawMessage }
		if json.Unmarshal(raw, &m) != nil {
			return nil, fmt.Errorf("%w: the answer of the tool %s", wire.ErrMalformed, wire.ToolList)
		}
		list = m.Subscriptions
	}
	var all []kept
	for _, item := range list {
		if k := readKept(item); k.ID != "" && len(all) < maxTypes {
			all = append(all, k)
		}
	}
	return all, nil
}

// Remote implements [Lister].
func (t *tools) Remote(ctx context.Context) ([]Listed, error) {
	list, err := t.listKept(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Listed, 0, len(list))
	for _, k := range list {
		h := Listed{ID: trust.Untrusted(k.ID), Status: trust.Untrusted(k.Status)}
		for _, pattern := range k.Filter.EventTypes {
			h.Types = append(h.Types, trust.Untrusted(pattern))
		}
		if detail, err := json.Marshal(k.request); err == nil {
			h.Detail = trust.Untrusted(string(detail))
		}
		all = append(all, h)
	}
	return all, nil
}

// Release implements [Lister].
func (t *tools) Release(ctx context.Context, id trust.Text) error {
	return t.byName(ctx, wire.ToolUnsubscribe, id)
}

// byName calls a tool whose only argument is a subscription.
func (t *tools) byName(ctx context.Context, tool string, id trust.Text) error {
	_, err := t.call(ctx, tool, map[string]string{"subscriptionId": id.Raw()})
	if errors.Is(err, wire.ErrMalformed) {
		return nil // some answer in plain words
	}
	return err
}

// Unsubscribe ends a subscription. One that the server does not know has ended.
func (t *tools) Unsubscribe(ctx context.Context, r wire.UnsubscribeRequest) error {
	if r.Held.IsZero() {
		return nil
	}
	var failed *toolError
	if err := t.Release(ctx, r.Held); err != nil && !errors.As(err, &failed) {
		return err
	}
	return nil
}

// Pause pauses a subscription where the server can. Elsewhere its events are dropped.
func (t *tools) Pause(ctx context.Context, r wire.UnsubscribeRequest) error {
	if !t.can.pause || r.Held.IsZero() {
		return nil
	}
	return t.byName(ctx, wire.ToolPause, r.Held)
}
