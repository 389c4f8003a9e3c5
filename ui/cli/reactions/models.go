package reactions

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

func (a *commands) modelsCommand() *cobra.Command {
	cmd := group("models", "Look at the models that rules may ask, and try them",
		`The models stand in rules.json, beside the rules; docs/reactions.md tells their members.
A key stays where it is: in the environment or in the system's keyring. It is never printed.`,
		"list or test", "list, or test NAME")
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the models: name, wire, model, address, price, whether the key is there", Args: plain.ExactArgs(0),
			Run: a.Run(func(cmd *cobra.Command, _ []string) error { return a.listModels(cmd.Context()) }),
		},
		&cobra.Command{
			Use: "test NAME", Short: "Ask a model for a word: how long it takes, what it uses and costs",
			Long: `test sends one short question, and nothing of any event. What it costs does not count among what rules spend.`,
			Args: plain.ExactArgs(1), ValidArgsFunction: a.completeFromFile(namesOfModels),
			Run: a.Run(func(cmd *cobra.Command, args []string) error { return a.testModel(cmd.Context(), args[0]) }),
		},
	)
	return cmd
}

func (a *commands) listModels(ctx context.Context) error {
	f, err := a.loadRules()
	if err != nil {
		return err
	}
	if len(f.Models) == 0 {
		a.Say("there are no models in %s", plain.Safe(f.Path))
	}
	// All at once: each may wait for the keyring.
	missing := make([]error, len(f.Models))
	var wg sync.WaitGroup
	for i, m := range f.Models {
		wg.Go(func() { missing[i] = a.Models.HasKey(ctx, m) })
	}
	wg.Wait()
	var t plain.Table
	var b []byte
	for i, m := range f.Models {
		if a.Flags.JSON {
			b = appendModel(b, m, missing[i])
			continue
		}
		t.Add(m.Name, string(m.Wire), plain.Safe(m.Model), plain.Safe(m.URL), priceWords(m.Price), keyWords(m, missing[i]))
	}
	if a.Flags.JSON {
		_, err := a.Stdout.Write(b)
		return err
	}
	return a.PrintTable(&t)
}

// priceWords says what a million tokens cost.
func priceWords(p *react.Price) string {
	switch {
	case p == nil:
		return "price not known"
	case *p == react.Price{}:
		return "free"
	}
	return fmt.Sprintf("$%s read, $%s written", react.Money(p.In), react.Money(p.Out))
}

// keyWords says where the key is, and whether it is there; it never shows the key.
func keyWords(m react.Model, missing error) string {
	switch {
	case m.Key == "":
		return "no key"
	case missing != nil:
		return "NO KEY: " + plain.Message(missing)
	case m.Key == "keyring":
		return "key in the keyring"
	}
	return "key in " + plain.Safe(m.Key)
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
		why := trust.Untrusted(plain.Message(missing))
		line.Why = &why
	}
	raw, err := json.Marshal(line)
	if err != nil {
		panic("a model cannot be encoded: " + err.Error()) // texts and numbers only
	}
	return append(append(b, raw...), '\n')
}

func (a *commands) testModel(ctx context.Context, name string) error {
	f, err := a.loadRules()
	if err != nil {
		return err
	}
	names := namesOfModels(f)
	if len(names) == 0 {
		return plain.UsageErrorf("there is no model %q: %s names none", name, plain.Safe(f.Path))
	}
	if i := slices.Index(names, name); i >= 0 {
		return a.try(ctx, f.Models[i])
	}
	return plain.UsageErrorf("there is no model %q in %s; there are %s", name, plain.Safe(f.Path), strings.Join(names, ", "))
}

func (a *commands) try(ctx context.Context, m react.Model) error {
	tried, err := a.Models.Try(ctx, m)
	if err != nil {
		if tried.Usage != (react.Usage{}) {
			return fmt.Errorf("%w; it may have cost as much as %s", err, costWords(m, tried))
		}
		return fmt.Errorf("%w; nothing was spent", err)
	}
	if a.Flags.JSON {
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
	_, err = io.WriteString(a.Stdout, text+plain.Lines(react.Gutter, tried.Answer, a.Width(a.StdoutTerminal)))
	return err
}

// costWords says how many tokens a question used and what it cost.
func costWords(m react.Model, tried program.Tried) string {
	text := fmt.Sprintf("%d tokens read, %d written", tried.Usage.In, tried.Usage.Out)
	if tried.Usage.Estimated {
		text += " (at most: it does not say)"
	}
	if m.Price == nil {
		return text + ", at a price that is not known"
	}
	return text + ", $" + react.Money(tried.Cost)
}
