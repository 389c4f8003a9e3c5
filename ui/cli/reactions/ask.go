package reactions

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host/react"
	"eventdeck/ui/cli/plain"
)

// askEvery is how often the command checks whether a model has answered.
const askEvery = 200 * time.Millisecond

func (a *commands) askCommand() *cobra.Command {
	var q react.Question
	cmd := &cobra.Command{
		Use:   "ask EVENT WHAT",
		Short: "Ask a model of rules.json about an event, and print its answer",
		Long: `ask has a model read one event, by its sequence number, and prints what it answers. The model has no tools; what it
answers is text and starts nothing. The process that runs the reactions asks it, within the limits of what may be spent.`,
		Example:           "eventdeck ask 118 --model local \"What is likely broken?\"",
		Args:              plain.ExactArgs(2),
		ValidArgsFunction: cobra.NoFileCompletions,
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			seq, err := strconv.ParseUint(strings.TrimPrefix(args[0], "#"), 10, 64)
			if err != nil || seq == 0 {
				return plain.UsageErrorf("ask: %q is no sequence number; `eventdeck events --json` prints them", args[0])
			}
			if q.Seq, q.Task, q.Typed = seq, args[1], true; strings.TrimSpace(q.Task) == "" {
				return plain.UsageErrorf("ask: a question is missing behind the sequence number")
			}
			return a.reactions(cmd.Context(), func(ctx context.Context, c react.Control) error { return a.ask(ctx, c, q) })
		}),
	}
	cmd.Flags().StringVar(&q.Model, "model", "", "name of the model in rules.json; needed where there are several")
	a.completeFlag(cmd, "model", func(v react.View) []cobra.Completion { return v.Models })
	return cmd
}

func (a *commands) ask(ctx context.Context, c react.Control, q react.Question) error {
	models := c.Reactions().Models
	switch {
	case len(models) == 0:
		return fmt.Errorf("%w: %s names none; docs/reactions.md says how", react.ErrNoModel, plain.Safe(c.Reactions().Path))
	case q.Model == "" && len(models) > 1:
		return plain.UsageErrorf("ask: say which one with --model: %s", strings.Join(models, ", "))
	case q.Model == "":
		q.Model = models[0]
	case !slices.Contains(models, q.Model):
		return fmt.Errorf("%w %q; there are: %s", react.ErrNoModel, q.Model, strings.Join(models, ", "))
	}
	id, err := c.AskModel(ctx, q)
	if err != nil {
		return err
	}
	r, err := answered(ctx, c, id)
	if err != nil {
		return err
	}
	if a.Flags.JSON {
		steps, err := c.Steps(ctx, id)
		if err != nil {
			return err
		}
		if err := a.Print(append(appendWholeRun(nil, &r, steps), '\n')); err != nil {
			return err
		}
	} else if r.Result != nil && !r.Result.Answer.IsZero() {
		if err := a.Print([]byte(plain.Lines("", r.Result.Answer, 0))); err != nil {
			return err
		}
	}
	switch r.State {
	case react.Done:
		return nil
	case react.Asking:
		return fmt.Errorf("it waits for an approval: %s; `eventdeck approve %s` shows it", plain.Safe(r.Why), r.ID)
	}
	return fmt.Errorf("run %s is %s: %s", r.ID, r.State, plain.Safe(r.Why))
}

// answered waits until a run is over, or needs the operator.
func answered(ctx context.Context, c react.Control, id react.RunID) (react.Run, error) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		r, err := c.Run(ctx, id)
		if err != nil || r.State.Over() || r.State == react.Asking {
			return r, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return r, context.Cause(ctx)
		}
	}
}
