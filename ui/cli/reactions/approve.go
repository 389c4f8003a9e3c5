package reactions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host/export"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/cli/plain"
)

func (a *commands) approveCommand() *cobra.Command {
	var span string
	cmd := &cobra.Command{
		Use:   "approve ID [HASH]",
		Short: "Let a run that asks act",
		Long: `approve shows what a run would do and asks for the last 6 characters of its hash, on a terminal only.
With the hash it approves without asking. Only these exact bytes are approved: if the program, the rule or the input
changes before the start, the run asks anew. With --for the rule as it stands may also do exactly the same for that long,
at most a day; rules disarm ends that.`,
		Args: plain.RangeArgs(1, 2), ValidArgsFunction: a.completeFirst(waitingRuns),
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			d, err := react.ParseDuration(span)
			if span != "" && (err != nil || d <= 0) {
				return plain.UsageErrorf("approve: --for %q must be a duration such as 30m or 2h", span)
			}
			return a.actOnRun(cmd.Context(), args[0], func(ctx context.Context, c react.Control, id react.RunID) error {
				what := "approve exactly this"
				if span != "" {
					what += ", and whenever the rule does the same for " + span
				}
				hash := args[len(args)-1]
				if len(args) == 1 {
					if hash, err = a.confirmed(ctx, c, id, what); err != nil {
						return err
					}
				}
				if span != "" {
					return c.Grant(ctx, id, hash, a.Now().Add(d))
				}
				return c.Approve(ctx, id, hash)
			})
		}),
	}
	cmd.Flags().StringVar(&span, "for", "", "let the rule do the same without asking for this long")
	return cmd
}

func (a *commands) denyCommand() *cobra.Command {
	var reason string
	var undo bool
	cmd := &cobra.Command{
		Use: "deny ID", Short: "End a run that asks, without its act", Args: plain.ExactArgs(1), ValidArgsFunction: a.completeFirst(waitingRuns),
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			return a.actOnRun(cmd.Context(), args[0], func(ctx context.Context, c react.Control, id react.RunID) error {
				if undo {
					return c.Undeny(ctx, id)
				}
				return c.Deny(ctx, id, reason)
			})
		}),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record")
	cmd.Flags().BoolVar(&undo, "undo", false, "have a run that was denied ask again, as long as it would have asked")
	cmd.MarkFlagsMutuallyExclusive("reason", "undo")
	return cmd
}

// typedEnd is how many characters of a hash are typed to approve it.
const typedEnd = 6

// errNotTyped: the text typed is not the end of the hash.
var errNotTyped = errors.New("nothing was done")

// confirmed shows a run and returns its hash if the operator types the end of it. what says
// what that does. The block stands last, so that nothing of the payload comes between it and
// the question.
func (a *commands) confirmed(ctx context.Context, c react.Control, id react.RunID, what string) (string, error) {
	r, rule, err := oneRun(ctx, c, id)
	if err != nil {
		return "", err
	}
	if !a.StdinTerminal || !a.StderrTerminal {
		return "", plain.UsageErrorf("approve: this asks on a terminal; elsewhere give the hash too, which `eventdeck runs show %s` tells", id)
	}
	if r.State != react.Asking || r.Request == nil {
		return "", fmt.Errorf("run %s: %w: it is %s", id, react.ErrState, r.State)
	}
	before, err := approvedBefore(ctx, c, r)
	if err != nil {
		return "", err
	}
	hash := r.Request.Hash()
	text := payloadText(*r.Request, a.Width(a.StderrTerminal)) + "\n" + blockText(react.Block(r, rule, before), a.Width(a.StderrTerminal))
	return hash, a.typed(text, what, hash, fmt.Sprintf("run %s still asks", id))
}

// typed shows a text and returns nil if the operator types the end of the hash. otherwise says
// what holds if not.
//
// Error: errNotTyped.
func (a *commands) typed(text, what, hash, otherwise string) error {
	text += fmt.Sprintf("\nTo %s, type the last %d characters of the hash: ", what, typedEnd)
	if _, err := io.WriteString(a.Stderr, text); err != nil {
		return err
	}
	line, err := bufio.NewReader(io.LimitReader(a.Stdin, 1024)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(hash) < typedEnd || strings.TrimSpace(line) != hash[len(hash)-typedEnd:] {
		return fmt.Errorf("%w: that is not the end of the hash; %s", errNotTyped, otherwise)
	}
	return nil
}

// blockText returns a block as plain text, folded to width cells, and marks the lines that
// need care.
func blockText(lines []react.BlockLine, width int) string {
	var b strings.Builder
	for _, l := range lines {
		mark := "  "
		if l.Warn {
			mark = "! "
		}
		b.WriteString(plain.Hanging(fmt.Sprintf("%-*s%s", plain.LabelWidth-2, l.Label, mark), l.Text.Plain(), width))
	}
	return b.String()
}

func payloadText(r react.Request, width int) string {
	var b strings.Builder
	for _, line := range react.Payload(r, width) {
		b.WriteString(line.Plain() + "\n")
	}
	return b.String()
}

// ruleVerbs are the commands below rules that change how far a rule may act.
func (a *commands) ruleVerbs() []*cobra.Command {
	silenced := func(v react.RuleView) bool { return v.Silenced.After(a.Now()) }
	verb := func(use, short string, args cobra.PositionalArgs, shows func(react.RuleView) bool, do func(ctx context.Context, c react.Control, args []string) error) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: args, ValidArgsFunction: a.completeFirst(ruleNames),
			Run: a.Run(func(cmd *cobra.Command, args []string) error {
				return a.reactions(cmd.Context(), func(ctx context.Context, c react.Control) error {
					if err := do(ctx, c, args); err != nil {
						return err
					}
					return a.printRuleView(ctx, c, args[0], shows)
				})
			}),
		}
	}
	var silence time.Duration
	return []*cobra.Command{
		{
			Use: "show NAME", Short: "Show a rule and its tools as they would be armed, with the hash for it", Args: plain.ExactArgs(1), ValidArgsFunction: a.completeFirst(ruleNames),
			Run: a.Run(func(cmd *cobra.Command, args []string) error {
				return a.reactions(cmd.Context(), func(ctx context.Context, c react.Control) error { return a.showRule(ctx, c, args[0]) })
			}),
		},
		verb("arm NAME [HASH]", "Let a rule act by itself as it is shown, as far as the policy allows", plain.RangeArgs(1, 2), func(v react.RuleView) bool { return v.Armed },
			a.arm),
		verb("disarm NAME", "Let a rule act only when it is approved", plain.ExactArgs(1), func(v react.RuleView) bool { return !v.Armed && v.Granted.IsZero() },
			func(ctx context.Context, c react.Control, args []string) error { return c.Disarm(ctx, args[0]) }),
		verb("silence NAME TIME", "Keep a rule from acting for a time, such as 2h", cobra.MatchAll(plain.ExactArgs(2), func(_ *cobra.Command, args []string) (err error) {
			if silence, err = react.ParseDuration(args[1]); err != nil || silence <= 0 {
				return plain.UsageErrorf("rules silence: %q must be a duration such as 30m, 2h or 1d", args[1])
			}
			return nil
		}), silenced,
			func(ctx context.Context, c react.Control, args []string) error {
				return c.Silence(ctx, args[0], a.Now().Add(silence))
			}),
		verb("unsilence NAME", "End the silence of a rule", plain.ExactArgs(1), func(v react.RuleView) bool { return !silenced(v) },
			func(ctx context.Context, c react.Control, args []string) error {
				return c.Silence(ctx, args[0], time.Time{})
			}),
	}
}

// arm arms a rule by the given hash, or shows the rule and asks for the end of its hash, so
// that no edit is armed that the operator has not seen.
func (a *commands) arm(ctx context.Context, c react.Control, args []string) error {
	if len(args) == 2 {
		return c.Arm(ctx, args[0], react.Hash(args[1]))
	}
	v, err := toArm(ctx, c, args[0])
	if err != nil {
		return err
	}
	if !a.StdinTerminal || !a.StderrTerminal {
		return plain.UsageErrorf("rules arm: this asks on a terminal; elsewhere give the hash too, which `eventdeck rules show NAME` tells")
	}
	if err := a.typed(blockText(react.RuleBlock(v), a.Width(a.StderrTerminal)), "arm exactly this", string(v.ArmHash()), "the rule is as it was"); err != nil {
		return err
	}
	return c.Arm(ctx, args[0], v.ArmHash())
}

// toArm returns a rule as it would be armed. Error: [react.ErrNoRule].
func toArm(ctx context.Context, c react.Control, name string) (react.RuleView, error) {
	if _, err := ruleNamed(c, name); err != nil {
		return react.RuleView{}, err
	}
	return c.Rule(ctx, name)
}

// showRule prints what `rules arm` would arm.
func (a *commands) showRule(ctx context.Context, c react.Control, name string) error {
	v, err := toArm(ctx, c, name)
	if err != nil {
		return err
	}
	text := blockText(react.RuleBlock(v), a.Width(a.StdoutTerminal))
	if a.Flags.JSON {
		text = showJSON(&v)
	}
	_, err = io.WriteString(a.Stdout, text)
	return err
}

// showJSON returns a rule with its tools as one line.
func showJSON(v *react.RuleView) string {
	b := trust.AppendJSONString([]byte(`{"name":`), v.Rule.Name)
	b = export.AppendString(b, "hash", string(v.ArmHash()))
	b = strconv.AppendBool(export.AppendName(b, "armed"), v.Armed)
	b = append(export.AppendName(b, "tools"), '[')
	for i, t := range v.Tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = trust.AppendJSONString(append(b, `{"server":`...), t.Server)
		b = export.AppendString(b, "name", t.Name)
		b = export.AppendString(b, "class", string(t.Class))
		b = export.AppendString(b, "description", t.Description.Raw())
		b = trust.AppendCompactJSON(export.AppendName(b, "schema"), t.Schema)
		b = append(export.AppendString(b, "pin", t.Pin), '}')
	}
	b = append(export.AppendName(append(b, ']'), "rule"), trust.AppendCompactJSON(nil, v.Rule.Freeze())...)
	return string(append(b, '}', '\n'))
}

// ruleNamed returns a rule that is in force. Error: [react.ErrNoRule].
func ruleNamed(c react.Control, name string) (react.RuleView, error) {
	for _, v := range c.Reactions().Rules {
		if v.Rule.Name == name {
			return v, nil
		}
	}
	return react.RuleView{}, fmt.Errorf("%w %q; `eventdeck rules list` shows them", react.ErrNoRule, name)
}

// How long the state may take to show a change, and how often it is checked.
const (
	shownWithin = 30 * time.Second
	shownEvery  = 20 * time.Millisecond
)

// printRuleView prints how far a rule may act, once the state shows the change.
func (a *commands) printRuleView(ctx context.Context, c react.Control, name string, shows func(react.RuleView) bool) error {
	late := time.After(shownWithin)
	look := time.NewTicker(shownEvery)
	defer look.Stop()
	v, err := ruleNamed(c, name)
	for waits := true; waits && err == nil && !shows(v); v, err = ruleNamed(c, name) {
		select {
		case <-look.C:
		case <-late:
			waits = false
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err != nil {
		return err
	}
	if a.Flags.JSON {
		b := trust.AppendJSONString([]byte(`{"name":`), v.Rule.Name)
		b = export.AppendString(b, "mode", string(v.Rule.Mode))
		b = export.AppendString(b, "effective", string(v.Effective))
		b = strconv.AppendBool(export.AppendName(b, "armed"), v.Armed)
		b = export.AppendTime(b, "granted", v.Granted)
		b = export.AppendTime(b, "silenced", v.Silenced)
		b = export.AppendString(b, "hash", string(v.Hash))
		b = export.AppendString(b, "why", v.Why)
		b = export.AppendString(b, "line", v.Line)
		return a.Print(append(b, '}', '\n'))
	}
	words := []string{v.Rule.Name, string(v.Effective), "not armed"}
	if v.Armed {
		words[2] = "armed"
	}
	words = append(words, untilWords(&v, a.Now())...)
	if v.Why != "" {
		words = append(words, plain.Safe(v.Why))
	}
	return a.Print([]byte(strings.Join(words, "  ") + "\n"))
}
