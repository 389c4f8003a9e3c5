package wiring

import (
	"context"
	"time"

	"eventdeck/host/model"
	"eventdeck/host/react"
	"eventdeck/host/react/converse"
	"eventdeck/ui/cli/program"
)

// Models asks models on behalf of commands; it is [program.Program.Models].
type Models struct {
	Options model.Options
}

// tryOutput bounds the tokens of an answer to [Models.Try]: a word, and the thinking of a model
// before it.
const tryOutput = 1024

// HasKey implements [program.Models].
//
// Errors: [model.ErrModel], [model.ErrKey], the cause of ctx.
func (m Models) HasKey(ctx context.Context, of react.Model) error {
	c, err := model.Open(of, m.Options)
	if err != nil {
		return err
	}
	return c.HasKey(ctx)
}

// Try implements [program.Models].
//
// Errors: those of [model.Open], [model.Client.Body] and [model.Client.Ask].
func (m Models) Try(ctx context.Context, of react.Model) (tried program.Tried, err error) {
	of.Output = min(of.Output, tryOutput)
	c, err := model.Open(of, m.Options)
	if err != nil {
		return tried, err
	}
	body, err := c.Body(model.Query{Turns: []model.Turn{{User: "Answer with the word OK and nothing else."}}})
	if err != nil {
		return tried, err
	}
	began := time.Now()
	answer, usage, cost, err := c.Ask(ctx, body, nil)
	return program.Tried{Answer: answer.Text, Took: time.Since(began), Usage: usage, Cost: cost}, err
}

// Sent implements [program.Models].
//
// Errors: those of [converse.Body].
func (m Models) Sent(first react.Request, steps []react.Step, n int) ([]byte, error) {
	return converse.Body(first, steps, n)
}
