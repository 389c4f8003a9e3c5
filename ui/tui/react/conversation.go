package react

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
)

// conversation writes the steps of a run: the task, the calls of tools, the answers. Text of a server,
// a model or an agent is behind the gutter; long text is folded until the operator opens it.
type conversation struct {
	pane    *Pane
	fetched fetched[runVersion]
	of      react.RunID // the run of steps
	steps   []react.Step
	open    map[string]bool // the folds that the operator opened, by run and place
}

// first returns the first request of a run, nil if there is none yet.
func first(r *react.Run) *react.Request {
	if r.Began != nil {
		return r.Began
	}
	return r.Request
}

// hasSteps reports whether a run takes several steps.
func hasSteps(r *react.Run) bool {
	f := first(r)
	if r.Steps > 0 {
		return true
	}
	return f != nil && (f.Kind == react.RequestModel || f.Kind == react.RequestChoice || f.Kind == react.RequestAgent)
}

// read reads the steps of the chosen run.
func (t *conversation) read(r *react.Run) tea.Cmd {
	p := t.pane
	if r == nil || !hasSteps(r) {
		return nil
	}
	want := runVersion{r.ID, p.view.Revision}
	return fetch(p, &t.fetched, want, func(ctx context.Context) ([]react.Step, error) {
		return p.env.Engine.Steps(ctx, want.id)
	}, func(steps []react.Step, err error) {
		if err == nil || t.of != want.id {
			t.of, t.steps = want.id, steps
		}
		p.Board.Tabs[Runs].Gen++
	})
}

// write writes the conversation of a run.
func (t *conversation) write(d *detail.Text, r *react.Run) {
	f := first(r)
	if f == nil || !hasSteps(r) {
		return
	}
	d.Section("Conversation")
	label := "asked   "
	for line := range strings.SplitSeq(f.Task, "\n") {
		d.Lines = append(d.Lines, folded(d, label, themes.Strong, trust.Line(trust.Untrusted(line)))...)
		label = "        "
	}
	if m := f.Model; m != nil {
		d.Say("model   ", themes.Plain, quoted(m.Name)+", "+quoted(m.Model)+" at "+quoted(m.URL))
	}
	t.envelope(d, r, f)
	var steps []react.Step
	if t.of == r.ID {
		steps = t.steps
	}
	for i := range steps {
		t.step(d, r, f, &steps[i])
	}
	if says := t.pane.view.Says[r.ID]; r.State == react.Running && !says.IsZero() {
		d.Say("", themes.Busy, t.pane.env.Glyphs.Busy+" it says now")
		quote(d, speaker(f), says)
	}
	t.answer(d, r, f, steps)
	t.total(d, r, steps)
}

// envelope writes the fold with the events that the model or agent got.
func (t *conversation) envelope(d *detail.Text, r *react.Run, f *react.Request) {
	if len(f.Input) == 0 {
		if r.State.Over() {
			d.Say("given   ", themes.Dim, "an envelope, which is not kept of a run that is over")
		}
		return
	}
	if t.fold(d, r, "envelope", "an envelope of "+cells.Count(len(f.Input), "byte")) {
		in := f.Input[:min(len(f.Input), inputShownMax)]
		quote(d, "the events", trust.Untrusted(string(in)))
		if rest := len(f.Input) - len(in); rest > 0 {
			d.Say("", themes.Warn, "+"+cells.Count(rest, "byte")+" not shown")
		}
	}
}

// step writes one step.
func (t *conversation) step(d *detail.Text, r *react.Run, f *react.Request, s *react.Step) {
	sign, role := stepSign(t.pane.env.Glyphs, s.State)
	words := []string{string(s.Kind), string(s.State)}
	if s.Kind == react.StepTool {
		words = []string{quoted(s.Server) + "/" + quoted(s.Tool), string(s.Class), string(s.State)}
	}
	if n := react.Total(s.Usage); n > 0 {
		words = append(words, fmt.Sprintf("%s in, %s out", tokens(s.Usage.In), tokens(s.Usage.Out)))
		if s.Usage.Estimated {
			words = append(words, "estimated")
		}
	}
	if s.Cost > 0 {
		words = append(words, "$"+react.Money(s.Cost))
	}
	if !s.Ended.IsZero() && s.State != react.StepRefused {
		words = append(words, cells.ShortSpan(s.Ended.Sub(s.Began)))
	}
	d.Lines = append(d.Lines, detail.Line{})
	d.Say(fmt.Sprintf("step %-3d", s.N), role, sign+" "+cells.Commas(words...))
	d.Say("        ", themes.Dim, cells.Commas(s.Why, s.Line))
	if len(s.Args) > 0 {
		quote(d, speaker(f)+": arguments", trust.Untrusted(string(s.Args)))
	}
	if a := s.Answer; a != nil {
		if !a.Text.IsZero() {
			quote(d, speaker(f), a.Text)
		}
		for _, c := range a.Calls {
			quote(d, speaker(f)+": a call", trust.Untrusted(c.Name+" "+string(c.Args)))
		}
		if a.Cut {
			d.Say("        ", themes.Warn, "the answer ended because it was as long as it may be")
		}
	}
	t.result(d, r, s)
}

// result writes the fold with the result of a tool.
func (t *conversation) result(d *detail.Text, r *react.Run, s *react.Step) {
	x := s.Result
	if x == nil {
		return
	}
	what := "a result of " + cells.Count(x.Content.Len(), "byte")
	if x.Failed {
		what += ", the tool says that it failed"
	}
	if x.Cut > 0 {
		what += ", and " + cells.Count(x.Cut, "byte") + " that were not kept"
	}
	if t.fold(d, r, "result "+strconv.Itoa(s.N), what) {
		quote(d, s.Server, x.Content)
	}
}

// answer writes the answer of the run, unless the last step had the same answer.
func (t *conversation) answer(d *detail.Text, r *react.Run, f *react.Request, steps []react.Step) {
	if r.Result == nil || r.Result.Answer.IsZero() {
		return
	}
	for i := len(steps) - 1; i >= 0; i-- {
		if a := steps[i].Answer; a != nil {
			if a.Text == r.Result.Answer {
				return
			}
			break
		}
	}
	d.Lines = append(d.Lines, detail.Line{})
	quote(d, speaker(f)+": the answer", r.Result.Answer)
}

// total writes the usage of all steps.
func (t *conversation) total(d *detail.Text, r *react.Run, steps []react.Step) {
	var u react.Usage
	for _, s := range steps {
		u.In, u.Out = react.Sum(u.In, max(s.Usage.In, 0)), react.Sum(u.Out, max(s.Usage.Out, 0))
	}
	if react.Total(u) == 0 && r.Spend == 0 {
		return
	}
	d.Lines = append(d.Lines, detail.Line{})
	d.Say("in all  ", themes.Plain, fmt.Sprintf("%s, %s tokens in, %s out, $%s", cells.Count(len(steps), "step"), tokens(u.In), tokens(u.Out), react.Money(r.Spend)))
}

// fold adds the line of a fold that enter opens and closes, and reports whether it is open.
func (t *conversation) fold(d *detail.Text, r *react.Run, place, what string) bool {
	key := string(r.ID) + " " + place
	open, sign := t.open[key], t.pane.env.Glyphs.Closed
	if open {
		sign = t.pane.env.Glyphs.Open
	}
	d.Lines = append(d.Lines, detail.Line{Label: "        ", Role: themes.Key, Text: cells.Sanitize(sign + " " + what), Do: func() {
		if t.open[key] = !open; open {
			delete(t.open, key)
		}
		t.pane.Board.Tabs[Runs].Gen++
	}})
	return open
}

// speaker names the source of the answers in a run.
func speaker(f *react.Request) string {
	switch {
	case f.Kind == react.RequestAgent:
		return "an agent"
	case f.Model != nil:
		return "the model " + f.Model.Name
	}
	return "a model"
}

// quote adds untrusted text behind the gutter; whose names its source.
func quote(d *detail.Text, whose string, text trust.Text) {
	d.Quote(whose, trust.Block(text, max(1, d.Width-1)))
}

// folded returns a line of the operator's text, wrapped to the width of the pane.
func folded(d *detail.Text, label string, role themes.Role, text trust.Rendered) (out []detail.Line) {
	for _, part := range cells.Fold(text, max(8, d.Width-len(label)-2)) {
		out = append(out, detail.Line{Label: label, Role: role, Text: part})
		label = strings.Repeat(" ", len(label))
	}
	if len(out) == 0 {
		out = append(out, detail.Line{Label: label})
	}
	return out
}

func tokens(n int64) string { return cells.Number(uint64(max(n, 0))) }

// stepSign returns the sign and the role of the state of a step.
func stepSign(g *cells.Glyphs, s react.StepState) (sign string, role themes.Role) {
	switch s {
	case react.StepDone:
		return g.Live, themes.Good
	case react.StepFailed:
		return g.Bad, themes.Bad
	case react.StepRefused:
		return g.Ended, themes.Warn
	}
	return g.Busy, themes.Busy
}
