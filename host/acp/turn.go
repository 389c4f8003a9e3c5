package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// turn is what happens between a prompt and its answer.
type turn struct {
	id      wire.ID
	session trust.Text
	ctx     context.Context // ends with the turn
	cancel  context.CancelFunc

	calls map[string]*call
	open  int // pending requests for permission
	said  text
	fresh bool // the next text begins a new message
	notes []string
}

// call is a tool call of the agent, as the agent reports it.
type call struct {
	title   trust.Text
	kind    string // as last reported
	acts    string // the kind that changes something, once one was reported
	allowed bool   // it has a permission that is not used yet
	done    bool   // it completed
	covered bool   // it completed with permission
}

// work is what a permission for a tool call covers.
type work struct{ kind, acts string }

func (c *call) work() work { return work{c.kind, c.acts} }

// acting are the kinds of tool calls that change something outside of the agent.
var acting = map[string]bool{"edit": true, "delete": true, "move": true, "execute": true}

// Prompt sends the agent a prompt, one block per text, and waits for the end of its turn. When
// ctx ends, the agent is told to cancel, and has a few seconds to end its turn.
//
// Errors: [ErrUnasked], those of [Conn.New]; the cause of ctx. With an error the Turn holds what
// is known of it.
func (c *Conn) Prompt(ctx context.Context, session trust.Text, blocks []string) (Turn, error) {
	content := make([]any, 0, len(blocks))
	for _, b := range blocks {
		content = append(content, map[string]string{"type": "text", "text": b})
	}
	t := &turn{session: session, calls: map[string]*call{}}
	t.ctx, t.cancel = context.WithCancel(c.ctx)
	defer t.cancel()
	_, answered, err := c.request("session/prompt", map[string]any{"sessionId": session.Raw(), "prompt": content}, t)
	if err != nil {
		return c.ended(t), err
	}
	var m wire.Message
	select {
	case m = <-answered:
	case <-c.ctx.Done():
		return c.ended(t), context.Cause(c.ctx)
	case <-ctx.Done():
		if err := c.cancelTurn(t, answered); err != nil {
			return c.ended(t), fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		got := c.ended(t)
		got.Stop = StopCancelled
		return got, context.Cause(ctx)
	}
	var answer struct {
		StopReason Stop `json:"stopReason"`
		Usage      struct {
			In  int64 `json:"inputTokens"`
			Out int64 `json:"outputTokens"`
		} `json:"usage"`
	}
	if err := c.answer("session/prompt", m, &answer); err != nil {
		return c.ended(t), err
	}
	got := c.ended(t)
	got.Stop, got.In, got.Out = answer.StopReason, max(answer.Usage.In, 0), max(answer.Usage.Out, 0)
	switch got.Stop {
	case StopEnd, StopTokens, StopRequests, StopRefusal, StopCancelled:
		return got, nil
	}
	return got, c.broken("it stopped for a reason that is none")
}

// endTurn ends the current turn. The caller holds mu.
func (c *Conn) endTurn() {
	c.turn.cancel()
	c.turn = nil
	c.bytes, c.messages = 0, 0
}

// ended ends a turn, and returns what is known of it.
func (c *Conn) ended(t *turn) Turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turn == t {
		c.endTurn()
	}
	return Turn{Text: t.said.whole(), Calls: len(t.calls), Notes: slices.Clone(t.notes)}
}

// cancelTurn tells the agent to end its turn. Error: [ErrDeaf]; the connection has ended.
func (c *Conn) cancelTurn(t *turn, answered <-chan wire.Message) error {
	t.cancel() // pending requests for permission are answered with cancelled
	frame, err := wire.EncodeNotification("session/cancel", map[string]string{"sessionId": t.session.Raw()})
	if err == nil {
		err = c.tell(frame)
	}
	if err != nil {
		return err
	}
	late := time.NewTimer(graceCancel)
	defer late.Stop()
	select {
	case <-answered:
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	case <-late.C:
		err := fmt.Errorf("%w: it did not end its turn within %s", ErrDeaf, graceCancel)
		c.fail(err)
		return err
	}
}

// note adds an anomaly. The caller holds mu.
func (t *turn) note(format string, args ...any) {
	if len(t.notes) < maxNotes {
		t.notes = append(t.notes, fmt.Sprintf(format, args...))
	}
}

// toolCall is a tool call, or an update of one; absent members did not change.
type toolCall struct {
	ID      string     `json:"toolCallId"`
	Title   trust.Text `json:"title"`
	Kind    string     `json:"kind"`
	Status  string     `json:"status"`
	Content []content  `json:"content"`
}

// content is a part of the content of a tool call.
type content struct {
	Type string `json:"type"`
}

// update handles an update of the agent. Outside of a turn, e.g. while a session is loaded, it is
// ignored. Errors: [ErrProtocol], [ErrTooMuch], [ErrUnasked].
func (c *Conn) update(params json.RawMessage) error {
	var note struct {
		SessionID trust.Text      `json:"sessionId"`
		Update    json.RawMessage `json:"update"`
	}
	var kind struct {
		Kind string `json:"sessionUpdate"`
	}
	if json.Unmarshal(params, &note) != nil || json.Unmarshal(note.Update, &kind) != nil {
		return fmt.Errorf("%w: an update that cannot be read", ErrProtocol)
	}
	c.mu.Lock()
	t := c.turn
	if t == nil || note.SessionID != t.session {
		c.mu.Unlock()
		return nil
	}
	piece, err := t.update(kind.Kind, note.Update)
	c.mu.Unlock()
	if !piece.IsZero() && c.o.Said != nil {
		c.o.Said(piece)
	}
	return err
}

// update handles an update in a turn, and returns the text of a message. The caller holds the
// connection's mu.
func (t *turn) update(kind string, update json.RawMessage) (trust.Text, error) {
	switch kind {
	case "agent_message_chunk":
		var chunk struct {
			Content struct {
				Type string     `json:"type"`
				Text trust.Text `json:"text"`
			} `json:"content"`
		}
		if json.Unmarshal(update, &chunk) != nil {
			return trust.Text{}, fmt.Errorf("%w: a message that cannot be read", ErrProtocol)
		}
		if t.fresh {
			t.fresh, t.said = false, text{}
		}
		if chunk.Content.Type != "text" {
			t.note("a part of its message is no text and is left out")
			return trust.Text{}, nil
		}
		t.said.add(chunk.Content.Text.Raw())
		return chunk.Content.Text, nil
	case "tool_call", "tool_call_update":
		var tc toolCall
		if json.Unmarshal(update, &tc) != nil {
			return trust.Text{}, fmt.Errorf("%w: a tool call that cannot be read", ErrProtocol)
		}
		t.fresh = true
		_, err := t.call(tc)
		return trust.Text{}, err
	}
	return trust.Text{}, nil // plans, modes, usage: nothing depends on them
}

// call applies an update to a tool call, and returns the call. Once a call was reported to change
// something, it stays one that does.
//
// Errors: [ErrProtocol], [ErrTooMuch]; [ErrUnasked] if the call did so without permission.
func (t *turn) call(tc toolCall) (*call, error) {
	if tc.ID == "" || len(tc.ID) > maxID {
		return nil, fmt.Errorf("%w: a tool call with an id of %d bytes", ErrProtocol, len(tc.ID))
	}
	known := t.calls[tc.ID]
	if known == nil {
		if len(t.calls) >= maxCalls {
			return nil, fmt.Errorf("%w: more than %d tool calls in one turn", ErrTooMuch, maxCalls)
		}
		known = &call{}
		t.calls[tc.ID] = known
	}
	if !tc.Title.IsZero() {
		known.title = trust.Untrusted(tc.Title.Raw()[:min(tc.Title.Len(), maxTitle)])
	}
	was := known.work()
	if tc.Kind != "" {
		known.kind = tc.Kind
	}
	if acting[tc.Kind] {
		known.acts = tc.Kind
	}
	edits := slices.ContainsFunc(tc.Content, func(p content) bool { return p.Type == "diff" })
	if edits && known.acts == "" {
		known.acts = "edit" // whatever kind the agent says
	}
	if was.kind != "" && known.acts != "" && known.work() != was {
		known.allowed = false // the permission was for something else
	}
	known.goes(tc.Status, edits)
	if known.done && known.acts != "" && !known.covered {
		return nil, fmt.Errorf("%w: %q (%s)", ErrUnasked, shown(known.title), known.acts)
	}
	return known, nil
}

// goes applies the status of a tool call. A permission covers one completion: a call that goes on
// after that, or completes with another edit, needs permission again.
func (c *call) goes(status string, edits bool) {
	switch {
	case status == "completed" && (!c.done || edits):
		c.done, c.covered, c.allowed = true, c.allowed, false
	case status == "failed":
		c.done, c.allowed = false, false
	case status == "pending", status == "in_progress":
		c.done = false
	}
}
