package react

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/react"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/widget"
)

// modelQuestion is the operator's newest question to a model, until its answer was shown. The status
// line shows its state, so that the operator can go on reading the stream.
type modelQuestion struct {
	run   react.RunID // "" for no question
	model string
	seq   uint64 // of the record that it is about
	at    time.Time
	state react.State
	of    uint64 // the revision of the view at which state was read
	busy  bool
}

// CanAsk reports whether a model can be asked.
func (p *Pane) CanAsk() bool { return p.On() && !p.env.Masked && len(p.view.Models) > 0 }

// Ask asks a model a question about a record. typed is the name of a model and the question; the name
// may be omitted if there is only one model. Error: there is no such model or no question, or values
// are masked.
func (p *Pane) Ask(seq uint64, typed string) (tea.Cmd, error) {
	models := p.view.Models
	model, task, _ := strings.Cut(strings.TrimSpace(typed), " ")
	named := slices.Contains(models, model)
	if !named && len(models) == 1 {
		model, task = models[0], typed
	}
	switch {
	case p.env.Masked:
		return nil, errors.New("no model is asked while names are masked")
	case len(models) == 0:
		return nil, fmt.Errorf("there is no model to ask: %s names none", p.view.Path)
	case !named && len(models) > 1:
		return nil, fmt.Errorf("there is no model %q; begin with one of: %s", model, strings.Join(models, ", "))
	case strings.TrimSpace(task) == "":
		return nil, errors.New("nothing is asked; write what you want to know")
	}
	var made react.RunID
	return p.perform("asked "+model+" about record "+cells.Number(seq)+"; "+p.env.Screen.KeyOf("reactions")+" shows the answer", func() {
		p.question = modelQuestion{run: made, model: model, seq: seq, at: p.env.Now(), state: react.Ready}
	}, func(ctx context.Context) (err error) {
		made, err = p.env.Engine.AskModel(ctx, react.Question{Seq: seq, Model: model, Task: strings.TrimSpace(task), Typed: true})
		return err
	}), nil
}

// readQuestion reads the state of the question, and says when it was answered or has failed.
func (p *Pane) readQuestion() tea.Cmd {
	q := &p.question
	if q.run == "" || q.busy || q.state.Over() || q.of == p.view.Revision {
		return nil
	}
	q.busy = true
	id, of := q.run, p.view.Revision
	return p.env.Screen.Do(func(ctx context.Context) tea.Msg {
		r, err := p.env.Engine.Run(ctx, id)
		return widget.Then(func() tea.Cmd {
			if q.run != id { // another question was asked meanwhile
				return nil
			}
			q.busy, q.of = false, of
			if err == nil {
				q.state = r.State
				p.answered(&r)
			}
			return nil
		})
	})
}

// answered says how the question ended, once it has.
func (p *Pane) answered(r *react.Run) {
	q, key := &p.question, p.env.Screen.KeyOf("reactions")
	if p.env.Panes.Focus == layout.React && p.Board.Table().At.Name == string(q.run) && r.State.Over() {
		p.question = modelQuestion{} // the operator is reading the answer
		return
	}
	switch {
	case r.State == react.Done:
		p.env.Screen.Tell(q.model + " answered about record " + cells.Number(q.seq) + "; " + key + " shows it")
	case r.State.Over():
		p.env.Screen.Fail("ask "+q.model, errors.New(cells.Commas(string(r.State), r.Why)+"; "+key+" shows the run"))
	}
}

// ShowAnswer chooses the run of the question, and reports whether there is one.
func (p *Pane) ShowAnswer() bool {
	q := &p.question
	if q.run == "" {
		return false
	}
	p.ShowTab(Runs, "")
	if q.state == react.Asking {
		p.ShowTab(Waiting, "")
	}
	row := table.RowID{Name: string(q.run)}
	if t := p.Board.Table(); t.Src.Find(row) >= 0 {
		t.At = row
	}
	p.runs.want, p.runs.changed = row, true
	p.question = modelQuestion{}
	return true
}

// drawQuestion writes the state of the question, for the status line.
func (p *Pane) drawQuestion(c *cells.Canvas) {
	q, key := &p.question, p.env.Screen.KeyOf("reactions")
	switch {
	case q.run == "":
		return
	case q.state == react.Done:
		c.Put(themes.Good, " "+p.env.Glyphs.Live+" answer: "+key)
	case q.state == react.Asking:
		c.Put(themes.Warn, " ? asking "+q.model+" waits for you: "+key)
	case q.state.Over():
		c.Put(themes.Bad, " "+p.env.Glyphs.Bad+" no answer: "+key)
	default:
		c.Put(themes.Busy, " "+p.env.Glyphs.Busy+" asking "+q.model+" "+cells.Span(p.env.Now().Sub(q.at).Truncate(time.Second)))
	}
	c.Put(themes.Rule, " "+p.env.Glyphs.Divider)
}

// ChipsVersion changes whenever [Pane.DrawChips] would write something else.
func (p *Pane) ChipsVersion() uint64 {
	n := p.view.Revision << 8
	for _, b := range []byte(p.question.run + react.RunID(p.question.state)) {
		n = n*31 + uint64(b)
	}
	return n
}
