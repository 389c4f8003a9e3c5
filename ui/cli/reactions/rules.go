package reactions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host"
	"eventdeck/host/attach"
	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/host/react"
	"eventdeck/host/react/rules"
	"eventdeck/host/trust"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

// errMistakes: the file of rules has mistakes, which were printed.
var errMistakes = errors.New("the rules are not in force")

func (a *commands) rulesCommand() *cobra.Command {
	cmd := group("rules", "Look at the rules of reactions, check them, try them on what is kept",
		`rules.json stands beside servers.json and says which events start what; docs/reactions.md tells its members.
A rule that is written there does nothing by itself before it is armed.`,
		"", "")
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the rules as the file has them, and where reactions run how far each may go", Args: plain.ExactArgs(0),
			Run: a.Run(func(cmd *cobra.Command, _ []string) error { return a.listRules(cmd.Context()) }),
		},
		&cobra.Command{
			Use: "check [FILE]", Short: "Tell what is wrong in the rules, with its place and what to write",
			Long: `check reads rules.json, or FILE, and prints a line for each mistake: FILE:LINE:COLUMN: what is wrong; write: what helps.
It ends with 1 if there is one. Types and members of payloads are checked as far as a running eventdeck has them listed.`,
			Args: plain.MaximumArgs(1),
			Run:  a.Run(func(cmd *cobra.Command, args []string) error { return a.checkRules(cmd.Context(), args) }),
		},
		&cobra.Command{
			Use: "schema", Short: "Print the JSON Schema of rules.json", Args: plain.ExactArgs(0),
			Run: a.Run(func(*cobra.Command, []string) error {
				_, err := a.Stdout.Write(rules.Schema())
				return err
			}),
		},
		a.rulesTestCommand(),
	)
	cmd.AddCommand(a.ruleVerbs()...)
	return cmd
}

// loadRules reads the rules, without checking them against servers.
func (a *commands) loadRules() (react.File, error) {
	path, err := a.RulesFile()
	if err != nil {
		return react.File{}, err
	}
	return rules.Load(path, rules.Known{})
}

func (a *commands) listRules(ctx context.Context) error {
	f, err := a.loadRules()
	if err != nil {
		return err
	}
	if len(f.Rules) == 0 {
		a.Say("there are no rules in %s", plain.Safe(f.Path))
	}
	running := a.rulesInForce(ctx)
	if a.Flags.JSON {
		var b []byte
		for i := range f.Rules {
			b = appendRule(b, &f.Rules[i], running[f.Rules[i].Name])
		}
		_, err = a.Stdout.Write(b)
		return err
	}
	var t plain.Table
	for i := range f.Rules {
		r := &f.Rules[i]
		t.Add(r.Name, modeWords(r, running[r.Name], a.Now()), onWords(r.On), orDash(plain.Safe(r.When)), doWords(r.Do), plain.Safe(r.Where))
	}
	return a.PrintTable(&t)
}

// rulesInForce returns the rules by name, as the process that runs reactions has them, and says
// what keeps it from running them. There are none if no such process can be asked.
func (a *commands) rulesInForce(ctx context.Context) map[string]*react.RuleView {
	c := a.attachedIfAny(ctx)
	if c == nil {
		return nil
	}
	defer c.Close() // it was only read
	out := map[string]*react.RuleView{}
	view := c.Control().Reactions()
	a.sayTroubles(view)
	for i := range view.Rules {
		out[view.Rules[i].Rule.Name] = &view.Rules[i]
	}
	return out
}

// attachedIfAny attaches to the process that has the kept store open; nil if none can be
// asked. It says why one that listens cannot.
func (a *commands) attachedIfAny(ctx context.Context) *attach.Client {
	o, err := a.Kept()
	if err != nil {
		return nil
	}
	c, err := a.Attached(ctx, o)
	if err != nil {
		a.Say("what a running eventdeck knows is missing here: %s", plain.Message(err))
	}
	return c
}

// modeWords says the mode of a rule, and its state where it runs, if that is known.
func modeWords(r *react.Rule, v *react.RuleView, now time.Time) string {
	words := string(r.Mode)
	switch {
	case v == nil:
		return words
	case v.Effective != r.Mode:
		words += ", now " + string(v.Effective)
	}
	switch {
	case v.Armed:
		words += ", armed"
	case v.Disarmed != "":
		words += ", disarmed: " + v.Disarmed
	default:
		words += ", not armed"
	}
	return strings.Join(append([]string{words}, untilWords(v, now)...), ", ")
}

// untilWords says until when a rule is granted and silenced.
func untilWords(v *react.RuleView, now time.Time) (words []string) {
	if !v.Granted.IsZero() {
		words = append(words, "granted until "+v.Granted.Local().Format(time.DateTime))
	}
	if v.Silenced.After(now) {
		words = append(words, "silenced until "+v.Silenced.Local().Format(time.DateTime))
	}
	return words
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func onWords(on react.Source) string {
	return plain.Safe(on.Server) + " " + plain.Safe(on.Types.String()) + " " + string(on.Kind)
}

// doWords says on one line what a rule does.
func doWords(do react.Do) string {
	switch {
	case do.Command != nil:
		words := make([]string, len(do.Command.Argv))
		for i, w := range do.Command.Argv {
			words[i] = fmt.Sprintf("%q", w)
		}
		return "command " + strings.Join(words, " ") + pinned(do.Command)
	case do.Webhook != nil:
		return "webhook " + plain.Safe(do.Webhook.URL)
	case do.Task != nil:
		return "model " + do.Task.Model.Name + ": " + plain.Safe(do.Task.Task)
	case do.Choice != nil:
		names := make([]string, len(do.Choice.Acts))
		for i, a := range do.Choice.Acts {
			names[i] = a.Name
		}
		return "choose " + strings.Join(names, " or ") + " by " + do.Choice.Model.Name + ": " + plain.Safe(do.Choice.Task)
	case do.Agent != nil:
		return fmt.Sprintf("agent %q: ", do.Agent.Argv[0]) + plain.Safe(do.Agent.Task) + pinned(&do.Agent.Command)
	}
	return "note " + plain.Safe(do.Note)
}

func pinned(c *react.Command) string { return " (pinned: " + react.Pinning(c.Code) + ")" }

// appendRule appends a rule as one line of JSON, with its state where it runs, if that is
// known.
func appendRule(b []byte, r *react.Rule, v *react.RuleView) []byte {
	could := react.CapabilitiesOf(r.Do, r.On.Server)
	b = append(b, `{"name":`...)
	b = trust.AppendJSONString(b, r.Name)
	for _, m := range [][2]string{
		{"mode", string(r.Mode)}, {"best", string(could.Best)}, {"letters", could.Letters},
		{"server", r.On.Server}, {"type", r.On.Types.String()}, {"kind", string(r.On.Kind)}, {"when", r.When}, {"where", r.Where},
	} {
		b = export.AppendString(b, m[0], m[1])
	}
	b = export.AppendList(b, "asks", could.Calls, func(call string) string { return call })
	if cost := r.WorstCost(); cost > 0 {
		b = export.AppendString(b, "cost", react.Money(cost))
	}
	if v != nil {
		b = export.AppendString(b, "effective", string(v.Effective))
		b = export.AppendString(b, "hash", string(v.Hash))
		b = strconv.AppendBool(export.AppendName(b, "armed"), v.Armed)
		if v.Disarmed != "" {
			b = export.AppendString(b, "disarmed", v.Disarmed)
		}
		b = export.AppendTime(b, "granted", v.Granted)
		b = export.AppendTime(b, "silenced", v.Silenced)
		b = strconv.AppendUint(export.AppendName(b, "matched"), v.Matched, 10)
		b = append(export.AppendName(b, "suppressed"), '{')
		for i, why := range slices.Sorted(maps.Keys(v.Suppressed)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(trust.AppendJSONString(b, why), ':')
			b = strconv.AppendUint(b, v.Suppressed[why], 10)
		}
		b = append(b, '}')
	}
	b = export.AppendName(b, "rule")
	return append(append(b, trust.AppendCompactJSON(nil, r.Freeze())...), '}', '\n')
}

func (a *commands) checkRules(ctx context.Context, args []string) error {
	path, err := a.RulesFile()
	if len(args) > 0 {
		path, err = args[0], mustExist(args[0])
	}
	if err != nil {
		return err
	}
	f, err := rules.Load(path, a.knownToRules(ctx))
	var faulty *rules.Faulty
	if errors.As(err, &faulty) {
		return a.printMistakes(faulty)
	}
	if err != nil {
		return err
	}
	if !a.Flags.JSON {
		_, err = fmt.Fprintf(a.Stdout, "%s: %s, no mistakes\n", plain.Safe(path), event.Some(len(f.Rules), "rule", "rules"))
	}
	return err
}

// mustExist refuses a file that was named and is missing; only the operator's own rules.json
// may be.
func mustExist(path string) error {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no file %s; without a name rules.json is checked", plain.Safe(path))
	}
	return nil // reading says what else is wrong
}

func (a *commands) printMistakes(faulty *rules.Faulty) error {
	var b []byte
	for _, m := range faulty.Mistakes {
		if !a.Flags.JSON {
			b = append(b, plain.Safe(m.String())...)
			b = append(b, '\n')
			continue
		}
		b = append(b, `{"where":`...)
		b = trust.AppendJSONString(b, m.Where)
		b = export.AppendString(b, "what", m.What)
		b = export.AppendString(b, "write", m.Write)
		b = append(b, '}', '\n')
	}
	if _, err := a.Stdout.Write(b); err != nil {
		return err
	}
	return fmt.Errorf("%w: %s", errMistakes, event.Some(len(faulty.Mistakes), "mistake", "mistakes"))
}

// knownToRules is what is known of servers without asking them. If no server is configured,
// any name is accepted.
func (a *commands) knownToRules(ctx context.Context) rules.Known {
	known := rules.Known{Env: a.Env}
	if file, err := a.Config(); err == nil && len(file.Names()) > 0 {
		known.Servers = file.Names()
	}
	// A process that cannot be asked proves nothing against a rule.
	if c := a.attachedIfAny(ctx); c != nil {
		defer c.Close() // it was only read
		view := c.Snapshot()
		known.Types = program.ListedTypes(func() host.Snapshot { return view })
		for _, s := range view.Servers {
			if known.Servers != nil && !slices.Contains(known.Servers, s.Name) {
				known.Servers = append(known.Servers, s.Name)
			}
		}
	}
	return known
}

// completeFromFile offers the shell what the file of rules has, for the first argument.
func (a *commands) completeFromFile(offer func(react.File) []cobra.Completion) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		f, err := a.loadRules()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offer(f), cobra.ShellCompDirectiveNoFileComp
	}
}

func namesOfRules(f react.File) (names []string) {
	for _, r := range f.Rules {
		names = append(names, r.Name)
	}
	return names
}

func namesOfModels(f react.File) (names []string) {
	for _, m := range f.Models {
		names = append(names, m.Name)
	}
	return names
}
