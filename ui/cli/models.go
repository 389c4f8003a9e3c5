package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// Models asks the models of rules.json, outside of every rule.
type Models interface {
	// HasKey tells why the key of a model cannot be had; nil: it can, or none is needed.
	HasKey(ctx context.Context, m react.Model) error
	// Try asks a model for a word. What it may have cost is returned with an error too.
	Try(ctx context.Context, m react.Model) (Tried, error)
	// Sent makes again what the model of a run was sent in step n, from the request with
	// which the run began and its steps. It asks no model.
	Sent(first react.Request, steps []react.Step, n int) ([]byte, error)
}

// Tried is what became of one short question to a model.
type Tried struct {
	Answer trust.Text
	Took   time.Duration
	Usage  react.Usage
	Cost   int64 // micro-dollars; 0 where the price is not known
}

func (a *app) modelsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "models",
		Short: "Look at the models that rules may ask, and try them",
		Long: `The models stand in rules.json, beside the rules; docs/reactions.md tells their members.
A key stays where it is: in the environment or in the system's keyring. It is never printed.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no command models %q%s; use list or test", args[0], meantCommand(cmd, args[0]))
			}
			return usagef("models: say what to do: list, or test NAME")
		},
		Run: func(*cobra.Command, []string) {},
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the models: name, wire, model, address, price, whether the key is there", Args: exactly(0),
			Run: a.run(func(cmd *cobra.Command, _ []string) error { return a.listModels(cmd.Context()) }),
		},
		&cobra.Command{
			Use: "test NAME", Short: "Ask a model for a word: how long it takes, what it uses and costs",
			Long: `test sends one short question, and nothing of any event. What it costs does not count among what rules spend.`,
			Args: exactly(1), ValidArgsFunction: a.completeModel,
			Run: a.run(func(cmd *cobra.Command, args []string) error { return a.testModel(cmd.Context(), args[0]) }),
		},
	)
	return cmd
}

func (a *app) completeModel(_ *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	f, err := a.loadRules()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, m := range f.Models {
		names = append(names, m.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) listModels(ctx context.Context) error {
	f, err := a.loadRules()
	if err != nil {
		return err
	}
	if len(f.Models) == 0 {
		a.say("there are no models in %s", safe(f.Path))
	}
	// All at once: each may wait for the keyring.
	missing := make([]error, len(f.Models))
	var wg sync.WaitGroup
	for i, m := range f.Models {
		wg.Go(func() { missing[i] = a.Models.HasKey(ctx, m) })
	}
	wg.Wait()
	var t table
	var b []byte
	for i, m := range f.Models {
		if a.flags.json {
			b = appendModel(b, m, missing[i])
			continue
		}
		t.add(m.Name, string(m.Wire), safe(m.Model), safe(m.URL), priceWords(m.Price), keyWords(m, missing[i]))
	}
	if a.flags.json {
		_, err := a.Stdout.Write(b)
		return err
	}
	return a.printTable(&t)
}

// priceWords tells what a million tokens cost.
func priceWords(p *react.Price) string {
	switch {
	case p == nil:
		return "price not known"
	case *p == react.Price{}:
		return "free"
	}
	return fmt.Sprintf("$%s read, $%s written", react.Money(p.In), react.Money(p.Out))
}

// keyWords tells where the key is, and whether it is there; never the key.
func keyWords(m react.Model, missing error) string {
	switch {
	case m.Key == "":
		return "no key"
	case missing != nil:
		return "NO KEY: " + message(missing)
	case m.Key == "keyring":
		return "key in the keyring"
	}
	return "key in " + safe(m.Key)
}

// appendModel appends a model as a line of JSON.
func appendModel(b []byte, m react.Model, missing error) []byte {
	line := struct {
		Name    string      `json:"name"`
		Wire    react.Wire  `json:"wire"`
		Model   trust.Text  `json:"model"`
		URL     trust.Text  `json:"url"`
		Price   *[2]string  `json:"price"` // dollars for a million tokens, read and written
		Output  int         `json:"output"`
		Key     string      `json:"key"` // where it is
		Present bool        `json:"keyPresent"`
		Why     *trust.Text `json:"why,omitempty"`
		Line    string      `json:"line"`
	}{
		Name: m.Name, Wire: m.Wire, Model: trust.Untrusted(m.Model), URL: trust.Untrusted(m.URL), Output: m.Output,
		Key: m.Key, Present: missing == nil && m.Key != "", Line: m.Where,
	}
	if m.Price != nil {
		line.Price = &[2]string{react.Money(m.Price.In), react.Money(m.Price.Out)}
	}
	if missing != nil {
		why := trust.Untrusted(message(missing))
		line.Why = &why
	}
	raw, err := json.Marshal(line)
	if err != nil {
		panic("a model cannot be encoded: " + err.Error()) // texts and numbers only
	}
	return append(append(b, raw...), '\n')
}

// errNoModel: rules.json names no such model.
var errNoModel = errors.New("there is no model")

func (a *app) testModel(ctx context.Context, name string) error {
	f, err := a.loadRules()
	if err != nil {
		return err
	}
	var names []string
	for _, m := range f.Models {
		if m.Name == name {
			return a.try(ctx, m)
		}
		names = append(names, m.Name)
	}
	if len(names) == 0 {
		return fmt.Errorf("%w %q: %s names none", errNoModel, name, safe(f.Path))
	}
	return fmt.Errorf("%w %q in %s; there are %s", errNoModel, name, safe(f.Path), strings.Join(names, ", "))
}

func (a *app) try(ctx context.Context, m react.Model) error {
	tried, err := a.Models.Try(ctx, m)
	if err != nil {
		if tried.Usage != (react.Usage{}) {
			return fmt.Errorf("%w; it may have cost as much as %s", err, costWords(m, tried))
		}
		return fmt.Errorf("%w; nothing was spent", err)
	}
	if a.flags.json {
		raw, err := json.Marshal(map[string]any{
			"model": m.Name, "answer": tried.Answer, "ms": tried.Took.Milliseconds(), "in": tried.Usage.In, "out": tried.Usage.Out,
			"estimated": tried.Usage.Estimated, "microDollars": tried.Cost,
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.Stdout, "%s\n", raw)
		return err
	}
	text := fmt.Sprintf("%s answered in %v, %s\n", m.Name, tried.Took.Round(time.Millisecond), costWords(m, tried))
	_, err = io.WriteString(a.Stdout, text+safeLines(react.Gutter, tried.Answer, a.width(a.StdoutTerminal)))
	return err
}

// costWords tells what a question used and cost.
func costWords(m react.Model, tried Tried) string {
	text := fmt.Sprintf("%d tokens read, %d written", tried.Usage.In, tried.Usage.Out)
	if tried.Usage.Estimated {
		text += " (at most: it does not say)"
	}
	if m.Price == nil {
		return text + ", at a price that is not known"
	}
	return text + ", $" + react.Money(tried.Cost)
}
