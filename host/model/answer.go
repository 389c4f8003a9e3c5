package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
)

// answer collects what a wire reads of an answer, within limits.
type answer struct {
	say func(trust.Text) // may be nil
	key event.Secret

	text    strings.Builder
	calls   []*call
	usage   react.Usage // as last reported by the provider; 0: not reported
	ended   bool        // the provider marked the end
	cut     bool        // it reached its limit of tokens
	refused string      // why the provider gives no answer, in our own words
}

// call is a call that is still being read.
type call struct {
	index    int // the provider's
	id, name string
	args     []byte
	extra    json.RawMessage
}

// addText adds to the text and shows the addition.
//
// Error: [ErrAnswer].
func (a *answer) addText(text string) error {
	if text == "" {
		return nil
	}
	if a.text.Len()+len(text) > maxText {
		return fmt.Errorf("%w: its text has more than %d bytes", ErrAnswer, maxText)
	}
	// A match that is new ends in the addition.
	before := a.text.String()
	a.text.WriteString(text)
	if key := a.key.Reveal(); key != "" && strings.Contains(a.text.String()[max(0, len(before)-len(key)):], key) {
		return errHoldsKey
	}
	if a.say != nil {
		a.say(trust.Untrusted(text))
	}
	return nil
}

var errHoldsKey = fmt.Errorf("%w: it holds the key with which it was asked", ErrAnswer)

// newCall begins a call.
//
// Error: [ErrAnswer].
func (a *answer) newCall(index int, id, name string) (*call, error) {
	if len(a.calls) == maxCalls {
		return nil, fmt.Errorf("%w: it calls for more than %d tools", ErrAnswer, maxCalls)
	}
	c := &call{index: index, id: id, name: name}
	a.calls = append(a.calls, c)
	return c, nil
}

// addArgs adds to the arguments.
//
// Error: [ErrAnswer].
func (c *call) addArgs(part []byte) error {
	if len(c.args)+len(part) > maxArgs {
		return fmt.Errorf("%w: the arguments of a call have more than %d bytes", ErrAnswer, maxArgs)
	}
	c.args = append(c.args, part...)
	return nil
}

// finish returns the complete answer. If it was cut, its calls are left out, as they may be
// incomplete.
//
// Error: [ErrAnswer].
func (a *answer) finish() (react.Answer, error) {
	if a.refused != "" {
		return react.Answer{}, fmt.Errorf("%w: %s", ErrAnswer, a.refused)
	}
	out := react.Answer{Text: trust.Untrusted(valid(a.text.String())), Cut: a.cut}
	if a.cut {
		return out, nil
	}
	ids := map[string]bool{}
	for i, c := range a.calls {
		if c.id == "" { // some local servers send none
			c.id = fmt.Sprintf("call_%d", i+1)
		}
		c.id, c.name = valid(c.id), valid(c.name)
		if err := a.check(c, ids[c.id]); err != nil {
			return react.Answer{}, err
		}
		ids[c.id] = true
		out.Calls = append(out.Calls, react.Call{ID: c.id, Name: c.name, Args: compact(c.args), Extra: compact(c.extra)})
	}
	if out.Text.IsZero() && len(out.Calls) == 0 {
		return react.Answer{}, fmt.Errorf("%w: it is empty", ErrAnswer)
	}
	return out, nil
}

// valid returns a text without invalid UTF-8, so that it stays the same when stored and sent.
func valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

// compact returns JSON in the form in which encoding/json stores it, nil for none, so that it
// stays the same when stored and sent.
func compact(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	var b bytes.Buffer
	json.HTMLEscape(&b, trust.AppendCompactJSON(nil, raw))
	return b.Bytes()
}

// check refuses an invalid or ambiguous call.
//
// Error: [ErrAnswer].
func (a *answer) check(c *call, twice bool) error {
	switch {
	case len(c.id) > maxID || len(c.name) > maxID:
		return fmt.Errorf("%w: the id or the name in a call has more than %d bytes", ErrAnswer, maxID)
	case c.name == "":
		return fmt.Errorf("%w: a call names no tool", ErrAnswer)
	case twice:
		return fmt.Errorf("%w: two calls have one id", ErrAnswer)
	}
	if len(strings.TrimSpace(string(c.args))) == 0 {
		c.args = []byte(`{}`)
	}
	if _, err := strict.ParseObject(c.args, limits); err != nil {
		return fmt.Errorf("%w: the arguments of a call: %w", ErrAnswer, err)
	}
	if key := a.key.Reveal(); key != "" {
		for _, text := range []string{c.id, c.name, string(c.args), string(c.extra)} {
			if strings.Contains(text, key) {
				return errHoldsKey
			}
		}
	}
	return nil
}

// broken is the error message of a provider in the middle of an answer.
type broken struct{ says trust.Text }

func (b broken) Error() string { return fmt.Sprintf("the provider broke it off: %v", b.says) }

// errCut: the stream ended before the answer did.
var errCut = errors.New("the connection ended before the answer did")
