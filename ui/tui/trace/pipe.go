package trace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/ui/incidents"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/widget"
)

// pipeMax bounds the events that a command gets; further ones are left out, which is said above the
// output.
const pipeMax = 1_000

// AskPipe asks for a command; problem says why the previous line failed, "" for none.
func (t *Tracer) AskPipe(line, problem string) {
	says := "input: envelopes; for JSON lines begin with ndjson (jq gets them anyway)   no shell   esc back"
	if len(t.env.Persist.Pipes) > 0 {
		says += "   up: " + t.env.Persist.Pipes[0]
	}
	p := &widget.Prompt{Label: "|", Says: says, Past: t.env.Persist.Pipes}
	p.Change = func(text string) {
		if sign := ShellSign(text); sign != "" {
			p.Warning = "there is no shell: " + sign + " is handed to the command as it is; sh -c '…' runs one"
		}
	}
	p.Done = func(text string) tea.Cmd {
		cmd, err := t.pipe(text)
		if err != nil {
			p.Problem = err.Error()
		}
		return cmd
	}
	t.env.Screen.AskLine(p, line)
	p.Problem = problem
}

// pipe runs a line on the chosen event, or on the selected ones.
func (t *Tracer) pipe(line string) (tea.Cmd, error) {
	args, err := PipeArgs(line, t.env.Getenv)
	if err != nil {
		return nil, err
	}
	ndjson := args[0] == "ndjson"
	if ndjson {
		if args = args[1:]; len(args) == 0 {
			return nil, ErrNoCommand
		}
	}
	ndjson = ndjson || readsOnlyJSON(args[0])
	t.env.Persist.Pipes = widget.Remember(t.env.Persist.Pipes, line)
	return t.env.Selected(func(records []event.Record) tea.Cmd {
		events := slices.DeleteFunc(slices.Clone(records), func(r event.Record) bool { return r.Kind != event.KindEvent })
		pipe := Pipe{Again: t.AskPipe, Run: t.Command}
		if n := len(events); n > pipeMax {
			events = events[:pipeMax]
			pipe.Note = "The command got the first " + cells.Number(pipeMax) + " of " + cells.Count(n, "event") + "."
		}
		return OpenPipe(&t.env, pipe, line, args, func(ctx context.Context) ([]byte, error) { return piped(ctx, events, ndjson) })
	}), nil
}

// readsOnlyJSON reports whether a program cannot read envelopes.
func readsOnlyJSON(program string) bool {
	return strings.TrimSuffix(filepath.Base(program), ".exe") == "jq"
}

// piped returns the input of a command: each event in an envelope, or as a line of JSON.
func piped(ctx context.Context, events []event.Record, ndjson bool) (out []byte, err error) {
	if len(events) == 0 {
		return nil, errors.New("there is no event among these records")
	}
	for i := range events {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r := &events[i]
		if ndjson {
			out = export.AppendLine(out, r, false)
			continue
		}
		sealed, err := incidents.Envelope(r, nil)
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", r.Seq, err)
		}
		out = append(out, sealed...)
	}
	return out, nil
}

// RunPipe runs a typed command, or asks for one.
//
// Errors: those of [PipeArgs], or that no event is chosen.
func (t *Tracer) RunPipe(typed []string) (tea.Cmd, error) {
	if t.env.Stream.At == 0 {
		return nil, errors.New("no event is chosen")
	}
	if len(typed) == 0 {
		t.AskPipe("", "")
		return nil, nil
	}
	line := make([]string, len(typed))
	for i, w := range typed {
		line[i] = evidence.Quote(w)
	}
	return t.pipe(strings.Join(line, " "))
}
