package reactions

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/cli/plain"
)

func (a *commands) runsCommand() *cobra.Command {
	cmd := group("runs", "List the runs of reactions, look at them, do them again, settle them", "",
		"list, show, out, retry or settle", "list, show ID, out ID, retry ID or settle ID done|failed")
	cmd.AddCommand(a.runsListCommand(), a.runsShowCommand(), a.runsSettleCommand(),
		&cobra.Command{
			Use: "out ID", Short: "Print what a run printed: the beginning and the end of each stream", Args: plain.ExactArgs(1), ValidArgsFunction: a.completeFirst(allRuns),
			Run: a.Run(func(cmd *cobra.Command, args []string) error {
				return a.printOutput(cmd.Context(), react.RunID(args[0]))
			}),
		},
		&cobra.Command{
			Use: "retry ID", Short: "Make a run of the same records again", Args: plain.ExactArgs(1), ValidArgsFunction: a.completeFirst(allRuns),
			Run: a.Run(func(cmd *cobra.Command, args []string) error {
				return a.reactions(cmd.Context(), func(ctx context.Context, c react.Control) error {
					id, err := c.Retry(ctx, react.RunID(args[0]))
					if err != nil {
						return err
					}
					return a.printMade(ctx, c, id)
				})
			}),
		},
	)
	return cmd
}

func (a *commands) runsListCommand() *cobra.Command {
	var q react.Query
	var state, since string
	cmd := &cobra.Command{
		Use: "list", Short: "List runs, newest first", Args: plain.ExactArgs(0),
		Run: a.Run(func(cmd *cobra.Command, _ []string) error {
			if state != "" {
				q.States = []react.State{react.State(state)}
			}
			var err error
			if q.Since, err = plain.ParseSince(since, a.Now()); err != nil {
				return err
			}
			return a.listRuns(cmd.Context(), q)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&q.Rule, "rule", "", "only runs of this rule")
	f.StringVar(&state, "state", "", "only runs in this state")
	f.StringVar(&since, "since", "", "only runs made since then: a duration before now (24h), or a time")
	f.IntVar(&q.Limit, "limit", 0, "list at most this number of runs (default 100)")
	a.completeFlag(cmd, "rule", ruleNames)
	plain.CompleteValues(cmd, "state", stateNames()...)
	return cmd
}

func (a *commands) runsShowCommand() *cobra.Command {
	var step int
	var body bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show a run: what it does, for which records, its steps, how it went", Args: plain.ExactArgs(1), ValidArgsFunction: a.completeFirst(allRuns),
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			switch {
			case body && !cmd.Flags().Changed("step"):
				return plain.UsageErrorf("runs show: --body goes with --step N")
			case cmd.Flags().Changed("step"):
				return a.showStep(cmd.Context(), react.RunID(args[0]), step, body)
			}
			return a.showRun(cmd.Context(), react.RunID(args[0]))
		}),
	}
	cmd.Flags().IntVar(&step, "step", 0, "only this step of a run that asks a model, with all that a tool answered")
	cmd.Flags().BoolVar(&body, "body", false, "with --step: the bytes that the model was sent, made again and compared; with --json exactly as they were")
	return cmd
}

func (a *commands) runsSettleCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "settle ID done|failed", Short: "Record the outcome of a run whose outcome is unknown", Args: plain.ExactArgs(2),
		ValidArgsFunction: a.completeFirst(allRuns, "done", "failed"),
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			if args[1] != "done" && args[1] != "failed" {
				return plain.UsageErrorf("runs settle: %q must be done or failed", args[1])
			}
			return a.actOnRun(cmd.Context(), args[0], func(ctx context.Context, c react.Control, id react.RunID) error {
				return c.Settle(ctx, id, args[1] == "done", reason)
			})
		}),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "what is noted with it")
	return cmd
}

func stateNames() (names []cobra.Completion) {
	for _, s := range append([]react.State{react.Gathering, react.Asking, react.Ready, react.Running}, react.Ends()...) {
		names = append(names, string(s))
	}
	return names
}

func (a *commands) listRuns(ctx context.Context, q react.Query) error {
	if len(q.States) > 0 && !slices.Contains(stateNames(), string(q.States[0])) {
		return plain.UsageErrorf("--state %q: must be one of %s", q.States[0], strings.Join(stateNames(), ", "))
	}
	return a.reactions(ctx, func(ctx context.Context, c react.Control) error {
		runs, err := c.Runs(ctx, q)
		if err != nil {
			return err
		}
		a.sayTroubles(c.Reactions())
		if len(runs) == 0 {
			a.Say("there are no such runs")
		}
		if a.Flags.JSON {
			var b []byte
			for i := range runs {
				b = append(appendRun(b, &runs[i]), '\n')
			}
			return a.Print(b)
		}
		var t plain.Table
		for i := range runs {
			r := &runs[i]
			t.Add(string(r.ID), r.Rule, string(r.State), r.Created.Local().Format(time.DateTime), strconv.FormatUint(r.Members.Count, 10), spent(r), plain.Safe(r.Why))
		}
		return a.PrintTable(&t)
	})
}

// spent is what a run cost, "-" if it asked no model.
func spent(r *react.Run) string {
	if r.Steps == 0 && r.Spend == 0 {
		return "-"
	}
	return "$" + react.Money(r.Spend)
}

// actOnRun calls act for a run and, with --json, prints the run as it is then.
func (a *commands) actOnRun(ctx context.Context, id string, act func(context.Context, react.Control, react.RunID) error) error {
	return a.reactions(ctx, func(ctx context.Context, c react.Control) error {
		if err := act(ctx, c, react.RunID(id)); err != nil || !a.Flags.JSON {
			return err
		}
		r, err := c.Run(ctx, react.RunID(id))
		if err != nil {
			return err
		}
		return a.printRun(&r)
	})
}

// printRun prints a run as a line of JSON.
func (a *commands) printRun(r *react.Run) error { return a.Print(append(appendRun(nil, r), '\n')) }

// printMade prints a run that was just made.
func (a *commands) printMade(ctx context.Context, c react.Control, id react.RunID) error {
	r, err := c.Run(ctx, id)
	if err != nil {
		return err
	}
	if a.Flags.JSON {
		return a.printRun(&r)
	}
	words := fmt.Sprintf("%s  %s", r.ID, r.State)
	if r.State == react.Asking {
		words += fmt.Sprintf("; `eventdeck approve %s` shows it and asks", r.ID)
	}
	return a.Print([]byte(words + "\n"))
}

// appendRun appends a run as an object of JSON.
func appendRun(b []byte, r *react.Run) []byte {
	b = trust.AppendJSONString(append(b, `{"id":`...), string(r.ID))
	for _, m := range [][2]string{
		{"rule", r.Rule}, {"ns", string(r.NS)}, {"state", string(r.State)}, {"why", r.Why}, {"line", r.Line}, {"key", string(r.Key)},
	} {
		b = export.AppendString(b, m[0], m[1])
	}
	b = strconv.AppendUint(export.AppendName(b, "members"), r.Members.Count, 10)
	b = strconv.AppendUint(export.AppendName(b, "first"), r.Members.Oldest(), 10)
	b = strconv.AppendUint(export.AppendName(b, "last"), r.Members.Newest(), 10)
	b = strconv.AppendInt(export.AppendName(b, "attempt"), int64(r.Attempt), 10)
	b = export.AppendTime(b, "created", r.Created)
	b = export.AppendTime(b, "due", r.Due)
	b = export.AppendTime(b, "started", r.Started)
	b = export.AppendTime(b, "ended", r.Ended)
	b = export.AppendName(b, "exit")
	if r.Result != nil && r.Request != nil && r.Request.Kind == react.RequestCommand {
		b = strconv.AppendInt(b, int64(r.Result.Exit), 10)
	} else {
		b = append(b, "null"...)
	}
	return append(export.AppendString(b, "spend", react.Money(r.Spend)), '}')
}

// oneRun returns a run, with its rule if that is in force.
func oneRun(ctx context.Context, c react.Control, id react.RunID) (react.Run, react.RuleView, error) {
	r, err := c.Run(ctx, id)
	if err != nil {
		return r, react.RuleView{}, err
	}
	for _, v := range c.Reactions().Rules {
		if v.Rule.Name == r.Rule {
			return r, v, nil
		}
	}
	return r, react.RuleView{}, nil
}

// approvedBefore returns the request of the run's rule that was approved last before it; nil
// if none was.
func approvedBefore(ctx context.Context, c react.Control, run react.Run) (*react.Request, error) {
	runs, err := c.Runs(ctx, react.Query{Rule: run.Rule})
	for _, r := range runs {
		if r.ID != run.ID && r.Approved != "" && r.Request != nil && !r.Created.After(run.Created) {
			return r.Request, err
		}
	}
	return nil, err
}

// onRun calls fn with a run and its rule in force.
func (a *commands) onRun(ctx context.Context, id react.RunID, fn func(context.Context, react.Control, react.Run, react.RuleView) error) error {
	return a.reactions(ctx, func(ctx context.Context, c react.Control) error {
		r, rule, err := oneRun(ctx, c, id)
		if err != nil {
			return err
		}
		return fn(ctx, c, r, rule)
	})
}

func (a *commands) showRun(ctx context.Context, id react.RunID) error {
	return a.onRun(ctx, id, func(ctx context.Context, c react.Control, r react.Run, rule react.RuleView) error {
		steps, err := c.Steps(ctx, id)
		if err != nil {
			return err
		}
		if a.Flags.JSON {
			return a.Print(append(appendWholeRun(nil, &r, steps), '\n'))
		}
		before, err := approvedBefore(ctx, c, r)
		if err != nil {
			return err
		}
		var b strings.Builder
		width := a.Width(a.StdoutTerminal)
		b.WriteString(blockText(react.Block(r, rule, before), width))
		line := func(label, words string) { b.WriteString(plain.Labelled(label, words, width)) }
		if r.Request == nil {
			line("rule", r.Rule)
			line("run", fmt.Sprintf("%s, %s from number %d to %d", r.ID, event.Some(r.Members.Count, "record", "records"), r.Members.Oldest(), r.Members.Newest()))
		}
		line("state", string(r.State))
		line("because", plain.Safe(r.Why))
		line("line", plain.Safe(r.Line))
		line("by", plain.Safe(r.By))
		line("reason", plain.Safe(r.Reason))
		if len(steps) > 0 {
			line("spent", spent(&r))
		}
		if r.Result != nil {
			line("ended", r.Result.Ended.Local().Format(time.DateTime)+", "+string(r.Result.Outcome)+", "+plain.Safe(r.Result.Why))
			line("printed", fmt.Sprintf("%d bytes, and %d to standard error; `eventdeck runs out %s` prints them", r.Result.Output.Stdout.Bytes, r.Result.Output.Stderr.Bytes, r.ID))
		}
		if r.Request != nil && len(r.Request.Input) > 0 {
			b.WriteString(payloadText(*r.Request, width))
		}
		for i := range steps {
			b.WriteString("\n" + stepText(&steps[i], width))
		}
		if x := r.Result; x != nil && !x.Answer.IsZero() && !saidLast(steps, x.Answer) {
			b.WriteString("\n")
			line("answer", "in its own words:")
			b.WriteString(plain.Lines(react.Gutter, x.Answer, width))
		}
		return a.Print([]byte(b.String()))
	})
}

// appendWholeRun is appendRun with the requests, the steps and the result.
func appendWholeRun(b []byte, r *react.Run, steps []react.Step) []byte {
	b = appendRun(b, r)
	b = b[:len(b)-1]
	add := func(name string, v any) {
		if text, err := json.Marshal(v); err == nil { // of these types every value can be written
			b = trust.AppendCompactJSON(export.AppendName(b, name), text)
		}
	}
	if r.Request != nil {
		b = export.AppendString(b, "hash", r.RequestHash())
		add("request", r.Request)
	}
	if r.Began != nil {
		add("began", r.Began)
	}
	if len(steps) > 0 {
		add("steps", steps)
	}
	if r.Result != nil {
		add("result", r.Result)
	}
	return append(b, '}')
}

func (a *commands) printOutput(ctx context.Context, id react.RunID) error {
	return a.onRun(ctx, id, func(_ context.Context, _ react.Control, r react.Run, _ react.RuleView) error {
		if r.Result == nil {
			return fmt.Errorf("run %s is %s: it has printed nothing yet", r.ID, r.State)
		}
		out := r.Result.Output
		if a.Flags.JSON {
			b := trust.AppendJSONString([]byte(`{"id":`), string(r.ID))
			b = appendStream(b, "stdout", out.Stdout)
			b = appendStream(b, "stderr", out.Stderr)
			return a.Print(append(b, '}', '\n'))
		}
		if err := printStream(a.Stdout, out.Stdout); err != nil {
			return fmt.Errorf("standard output: %w", err)
		}
		return printStream(a.Stderr, out.Stderr)
	})
}

func appendStream(b []byte, name string, s react.Stream) []byte {
	b = append(export.AppendName(b, name), `{"bytes":`...)
	b = strconv.AppendInt(b, s.Bytes, 10)
	b = export.AppendText(b, "head", s.Head)
	return append(export.AppendText(b, "tail", s.Tail), '}')
}

// printStream prints what was kept of a stream, in a form that cannot act on a terminal.
func printStream(w io.Writer, s react.Stream) error {
	var b strings.Builder
	b.WriteString(plain.Lines("", s.Head, 0))
	if left := s.Bytes - int64(s.Head.Len()) - int64(s.Tail.Len()); left > 0 {
		fmt.Fprintf(&b, "… %d bytes were not kept …\n", left)
	}
	b.WriteString(plain.Lines("", s.Tail, 0))
	_, err := io.WriteString(w, b.String())
	return err
}

// printVerdicts prints what rules did or would do, and why.
func (a *commands) printVerdicts(verdicts []react.Verdict) error {
	var b []byte
	var t plain.Table
	for _, v := range verdicts {
		b = trust.AppendJSONString(append(b, `{"rule":`...), v.Rule)
		b = strconv.AppendUint(export.AppendName(b, "seq"), v.Seq, 10)
		for _, m := range [][2]string{{"state", string(v.State)}, {"why", v.Why}, {"line", v.Line}, {"key", string(v.Key)}, {"run", string(v.Run)}} {
			b = export.AppendString(b, m[0], m[1])
		}
		b = append(export.AppendText(b, "value", v.Value), '}', '\n')
		state := string(v.State)
		if v.Elsewhere {
			state = "does not listen to it"
		}
		t.Add(v.Rule, state, plain.Safe(v.Why), plain.Safe(v.Line))
	}
	if a.Flags.JSON {
		return a.Print(b)
	}
	return a.PrintTable(&t)
}
