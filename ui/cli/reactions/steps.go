package reactions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"eventdeck/host/export"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/cli/plain"
)

// showStep prints one step of a run in full, or with body the bytes that its model was sent.
func (a *commands) showStep(ctx context.Context, id react.RunID, n int, body bool) error {
	return a.onRun(ctx, id, func(ctx context.Context, c react.Control, r react.Run, _ react.RuleView) error {
		steps, err := c.Steps(ctx, id)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(steps, func(s react.Step) bool { return s.N == n })
		if i < 0 {
			return fmt.Errorf("run %s has no step %d; it took %d", id, n, len(steps))
		}
		if body {
			return a.showBody(&r, steps, i)
		}
		if a.Flags.JSON {
			text, err := json.Marshal(steps[i])
			if err != nil {
				return fmt.Errorf("step %d: %w", n, err)
			}
			return a.Print(append(trust.CompactJSON(text), '\n'))
		}
		width := a.Width(a.StdoutTerminal)
		text := stepText(&steps[i], width)
		if x := steps[i].Result; x != nil {
			text += plain.Lines(react.Gutter, x.Content, width)
		}
		return a.Print([]byte(text))
	})
}

// showBody prints the bytes that the model of a run was sent in a step, reconstructed from the
// run. It prints nothing if their hash differs from that of the bytes sent.
func (a *commands) showBody(r *react.Run, steps []react.Step, i int) error {
	first := r.Began
	if first == nil {
		first = r.Request
	}
	if first == nil {
		return fmt.Errorf("run %s has no request", r.ID)
	}
	sent, err := a.Models.Sent(*first, steps, steps[i].N)
	if err != nil {
		return err
	}
	if got := react.Digest(sent); got != steps[i].Sent {
		return fmt.Errorf("step %d of run %s: what was sent cannot be made again: SHA-256 is %s, and was %s", steps[i].N, r.ID, got, steps[i].Sent)
	}
	if a.Flags.JSON {
		b := trust.AppendJSONString([]byte(`{"id":`), string(r.ID))
		b = fmt.Appendf(export.AppendName(b, "step"), "%d", steps[i].N)
		b = export.AppendString(b, "sha256", steps[i].Sent)
		return a.Print(append(export.AppendText(b, "body", trust.Untrusted(string(sent))), '}', '\n'))
	}
	return a.Print([]byte(plain.Lines("", trust.Untrusted(string(sent)), 0)))
}

// stepText is a step as plain text, folded to width cells; untrusted words stand behind the
// gutter.
func stepText(s *react.Step, width int) string {
	var b strings.Builder
	line := func(label, words string) { b.WriteString(plain.Labelled(label, words, width)) }
	words := []string{string(s.Kind), string(s.State)}
	if s.Kind == react.StepTool {
		words = []string{plain.Safe(s.Server) + "/" + plain.Safe(s.Tool), string(s.Class), string(s.State)}
	}
	if react.Total(s.Usage) > 0 {
		words = append(words, fmt.Sprintf("%d tokens in, %d out", s.Usage.In, s.Usage.Out))
		if s.Usage.Estimated {
			words = append(words, "estimated")
		}
	}
	if s.Cost > 0 {
		words = append(words, "$"+react.Money(s.Cost))
	}
	if !s.Ended.IsZero() {
		words = append(words, s.Ended.Sub(s.Began).Round(time.Millisecond).String())
	}
	line(fmt.Sprintf("step %d", s.N), strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", "))
	line("because", plain.Safe(s.Why))
	line("line", plain.Safe(s.Line))
	line("sent", s.Sent)
	if len(s.Args) > 0 {
		b.WriteString(plain.Lines(react.Gutter, trust.Untrusted(string(s.Args)), width))
	}
	if a := s.Answer; a != nil {
		b.WriteString(plain.Lines(react.Gutter, a.Text, width))
		for _, c := range a.Calls {
			line("calls", plain.Safe(c.Name))
			b.WriteString(plain.Lines(react.Gutter, trust.Untrusted(string(c.Args)), width))
		}
		if a.Cut {
			line("cut", "the answer ended because it was as long as it may be")
		}
	}
	if x := s.Result; x != nil {
		words := fmt.Sprintf("%d bytes", x.Content.Len())
		if x.Failed {
			words += ", the tool says that it failed"
		}
		if x.Cut > 0 {
			words += fmt.Sprintf(", %d more were not kept", x.Cut)
		}
		line("result", words)
	}
	return b.String()
}

// saidLast reports whether the last answer of the steps is this text.
func saidLast(steps []react.Step, text trust.Text) bool {
	for i := len(steps) - 1; i >= 0; i-- {
		if a := steps[i].Answer; a != nil {
			return a.Text == text
		}
	}
	return false
}
