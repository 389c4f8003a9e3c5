package reactions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

func (a *commands) reactRunCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Keep the subscriptions and run the rules of rules.json, without a screen",
		Long: "run does what the screen does behind its panes: it connects to the configured servers, goes on with the\n" +
			"subscriptions that are kept, and runs the reactions of rules.json. Runs that wait for you are told on\n" +
			"standard error. Where another process has the store open, that one runs the reactions or none does.",
		Args: plain.ExactArgs(0),
		Run:  a.Run(func(cmd *cobra.Command, _ []string) error { return a.reactRun(cmd.Context()) }),
	}
}

// reactRun runs reactions until ctx ends or the store does.
func (a *commands) reactRun(ctx context.Context) error {
	servers, err := a.Servers(nil)
	if err != nil {
		return err
	}
	a.Flags.Reacts = program.OwnReactions
	d, _, err := a.OpenKeptHost(ctx, false)
	if err != nil {
		return err
	}
	if d.Client != nil {
		return d.Finish(a.reactsElsewhere(d))
	}
	if d.Reactions == nil {
		return d.Finish(fmt.Errorf("%w; standard error says why", react.ErrNotEngine))
	}
	if err := d.Named(ctx, servers); err != nil {
		return d.Finish(err)
	}
	for _, s := range servers {
		d.AddServer(s)
	}
	err = d.WhileSound(ctx, func(ctx context.Context) error { return a.tellReactions(ctx, d.Reactions) })
	return d.Finish(err)
}

// reactsElsewhere says that another process has the store, and whether it runs reactions.
func (a *commands) reactsElsewhere(d *program.OpenHost) error {
	if c := d.Control(); c != nil && c.Reactions().On {
		a.Say("process %d runs the reactions already", d.Client.PID())
		return nil
	}
	return fmt.Errorf("%w: process %d has the store open and runs none; quit it first", react.ErrNotEngine, d.Client.PID())
}

// lookEvery is how often the state of the reactions is checked for news.
const lookEvery = time.Second

// tellReactions writes on standard error what an operator without a screen should know.
func (a *commands) tellReactions(ctx context.Context, c react.Control) error {
	v := c.Reactions()
	armed := 0
	for _, r := range v.Rules {
		if r.Armed {
			armed++
		}
	}
	a.Say("reactions run: %s of %s, %d armed", event.Some(len(v.Rules), "rule", "rules"), v.Path, armed)
	told, troubles := map[react.RunID]bool{}, []string(nil)
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for {
		now := troublesOf(v)
		for _, line := range now {
			if !slices.Contains(troubles, line) {
				a.Say("%s", line)
			}
		}
		troubles = now
		waiting := map[react.RunID]bool{}
		for _, r := range v.Waiting {
			if waiting[r.ID] = true; !told[r.ID] {
				a.Say("run %s of %s waits for you; `eventdeck approve %s` shows it", r.ID, r.Rule, r.ID)
			}
		}
		told = waiting
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
			v = c.Reactions()
		}
	}
}

// troublesOf says, a line each, what keeps reactions from running as rules.json has them.
func troublesOf(v react.View) (lines []string) {
	if v.Fault != "" {
		lines = append(lines, plain.Safe(v.Fault)+"; "+v.InForce())
	}
	if v.Held != "" {
		lines = append(lines, "nothing acts: "+plain.Safe(v.Held)+"; `eventdeck react go` lets it")
	}
	if v.Blocked != "" {
		lines = append(lines, plain.Safe(v.Blocked)+"; it is tried again")
	}
	return lines
}

// sayTroubles says the same on standard error, beside what a command prints.
func (a *commands) sayTroubles(v react.View) {
	for _, line := range troublesOf(v) {
		a.Say("%s", line)
	}
}
