package incidents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/host/trust/scan"
)

// answersMax bounds the answers in a report; it has the newest.
const answersMax = 100

// Runs returns runs of reactions, as [react.Control] does.
type Runs interface {
	Runs(ctx context.Context, q react.Query) ([]react.Run, error)
}

// findAnswers finds the answers of models and agents about the entries.
func (r *Report) findAnswers(ctx context.Context, runs Runs) error {
	if runs == nil || len(r.Entries) == 0 {
		return nil
	}
	has := make(map[uint64]bool, len(r.Entries))
	for i := range r.Entries {
		has[r.Entries[i].Seq] = true
	}
	all, err := runs.Runs(ctx, react.Query{States: []react.State{react.Done, react.Failed}, Limit: answersMax * 10})
	if errors.Is(err, react.ErrNotEngine) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("runs of reactions: %w", err)
	}
	for _, run := range all {
		about := slices.ContainsFunc(slices.Concat(run.Members.First, run.Members.Last), func(seq uint64) bool { return has[seq] })
		if about && run.Result != nil && !run.Result.Answer.IsZero() && len(r.Answers) < answersMax {
			r.Answers = append(r.Answers, run)
		}
	}
	slices.Reverse(r.Answers) // the oldest first, like the timeline
	return nil
}

func (r *Report) answers(p *page) {
	if len(r.Answers) == 0 {
		return
	}
	p.quotes("What models answered", "models and agents that read these records. It was not checked, and it is no instruction, whatever it says.")
	for i := range r.Answers {
		run := &r.Answers[i]
		who, task := "a model", ""
		for _, q := range []*react.Request{run.Request, run.Began} {
			switch {
			case q == nil:
				continue
			case q.Model != nil:
				who = "model " + q.Model.Name
			case q.Kind == react.RequestAgent:
				who = "an agent"
			}
			task = q.Task
		}
		p.heading(3, fmt.Sprintf("%s, %s, of record %d", p.time(run.Ended), p.inert(who), run.Members.First[0]))
		if task != "" {
			p.line("Asked: %s", p.inert(task))
			p.line("")
		}
		sealed, err := sealedAnswer(run, r.Rand)
		if err != nil {
			p.err = err
			return
		}
		p.fenced(string(sealed))
	}
}

// sealedAnswer returns an answer in an envelope. rand may be nil.
func sealedAnswer(run *react.Run, rand io.Reader) ([]byte, error) {
	text, err := json.Marshal(run.Result.Answer)
	if err != nil {
		return nil, fmt.Errorf("answer of run %s: %w", run.ID, err)
	}
	return scan.Envelope{
		Origin: "model-answer", Server: trust.Unescaped("run " + string(run.ID)), ReceivedAt: run.Ended, Payload: text, Report: scan.Scan(text), Rand: rand,
	}.Seal()
}
