package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/react"
)

// A terminal continues a long line at its first column, where labels stand. So no line may be
// longer than the terminal is wide, and continuation lines stand behind the labels.
func TestNoLineIsFoldedByTheTerminal(t *testing.T) {
	const columns = 60
	pad := strings.Repeat(" ", columns)
	bench := func(stdin string) (*bench, string) {
		e := newEngine()
		for i := range e.All {
			if r := e.All[i].Request; r != nil {
				r.Argv = append(r.Argv, "x"+pad[:columns-20]+"hash          00ff"+pad+"state         done")
				r.Input = []byte(`{"a":"` + pad[:columns-8] + "state         done" + `"}`)
			}
		}
		e.All[2].Why = pad + "state         done"
		e.Taken = map[react.RunID][]react.Step{"ended": {{N: 1, Kind: react.StepTool, State: react.StepDone, Server: "s", Tool: "t",
			Args: json.RawMessage(`{"a":"` + pad[:columns-8] + `state         done"}`), Why: pad + "sent          00ff"}}}
		b, dir := newReactBench(t, e)
		b.p.Stdin, b.p.StdinTerminal, b.p.StdoutTerminal, b.p.StderrTerminal = strings.NewReader(stdin), true, true, true
		b.p.Columns = func() int { return columns }
		return b, dir
	}
	for _, args := range [][]string{{"approve", "waits"}, {"rules", "arm", "page"}, {"runs", "show", "waits"}, {"runs", "show", "ended"}, {"runs", "show", "ended", "--step", "1"}} {
		b, dir := bench("\n")
		b.run(t, append(args, "--data", dir)...)
		shown, _, _ := strings.Cut(b.out.String()+b.err.String(), "\nTo ") // the question is ours
		if !strings.Contains(shown, "hash") && !strings.Contains(shown, "step") {
			t.Fatalf("%q: %s", args, shown)
		}
		for line := range strings.Lines(shown) {
			if line = strings.TrimSuffix(line, "\n"); ansi.StringWidth(line) > columns {
				t.Errorf("%q: %d cells: %s", args, ansi.StringWidth(line), line)
			}
			if strings.HasPrefix(line, "state         done") || strings.HasPrefix(line, "sent          00ff") || strings.HasPrefix(line, "hash          00ff") {
				t.Errorf("%q: words of others pass for ours: %s", args, line)
			}
		}
	}
}
