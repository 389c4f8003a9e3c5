package acp

import (
	"encoding/json"
	"fmt"

	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// The kinds of options that are chosen: a decision is never for always.
const (
	allowOnce  = "allow_once"
	rejectOnce = "reject_once"
)

// option is an answer that the agent offers. Only its kind says what it means.
type option struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

// choose returns the id of the option of a kind; ok is false unless there is exactly one.
func choose(options []option, kind string) (id string, ok bool) {
	for _, o := range options {
		if o.Kind == kind {
			if ok {
				return "", false // ambiguous
			}
			id, ok = o.ID, true
		}
	}
	return id, ok
}

// permission handles a request for permission, which is decided in a goroutine of its own. Without
// a prompt under way it is refused. Errors: [ErrProtocol], [ErrTooMuch], those of tell.
func (c *Conn) permission(m wire.Message) error {
	var ask struct {
		SessionID trust.Text      `json:"sessionId"`
		ToolCall  json.RawMessage `json:"toolCall"`
		Options   []option        `json:"options"`
	}
	var tc toolCall
	if json.Unmarshal(m.Params, &ask) != nil || json.Unmarshal(ask.ToolCall, &tc) != nil || len(ask.Options) > maxOptions {
		return c.refuse(m, wire.CodeInvalidParams, "the request cannot be read")
	}
	c.mu.Lock()
	t := c.turn
	if t == nil || ask.SessionID != t.session {
		c.mu.Unlock()
		return c.refuse(m, wire.CodeInvalidRequest, "no prompt of this session is under way")
	}
	known, err := t.call(tc)
	if err != nil {
		c.mu.Unlock()
		return err
	}
	allow, approvable := choose(ask.Options, allowOnce)
	switch {
	case !approvable:
		t.note("it asked for permission for %q without one answer that allows it once: cancelled", shown(known.title))
	case t.open >= maxOpen:
		c.mu.Unlock()
		return c.refuse(m, wire.CodeInvalidRequest, fmt.Sprintf("%d requests wait for an answer already", maxOpen))
	default:
		t.open++
	}
	asked := known.work()
	p := Permission{Title: known.title, Kind: trust.Untrusted(known.kind), Call: ask.ToolCall}
	c.mu.Unlock()
	if !approvable {
		return c.outcome(m, "")
	}
	c.wg.Go(func() { // it ends with the turn
		allowed, err := false, error(nil)
		if c.o.Permit != nil {
			allowed, err = c.o.Permit(t.ctx, p)
		}
		reject, rejectable := choose(ask.Options, rejectOnce)
		c.mu.Lock()
		t.open--
		over := err != nil || t.ctx.Err() != nil
		known.allowed = allowed && !over && known.work() == asked
		if !over && !allowed && !rejectable {
			t.note("it offered no answer that denies %q once: cancelled", shown(known.title))
		}
		c.mu.Unlock()
		switch {
		case over:
			err = c.outcome(m, "")
		case allowed:
			err = c.outcome(m, allow)
		default:
			err = c.outcome(m, reject)
		}
		if err != nil {
			c.fail(err)
		}
	})
	return nil
}

// outcome answers a request for permission with an option; "": cancelled.
func (c *Conn) outcome(m wire.Message, option string) error {
	outcome := map[string]string{"outcome": "cancelled"}
	if option != "" {
		outcome = map[string]string{"outcome": "selected", "optionId": option}
	}
	frame, err := wire.EncodeResult(m.RawID, map[string]any{"outcome": outcome})
	if err != nil {
		return err
	}
	return c.tell(frame)
}
