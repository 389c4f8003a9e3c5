package engine

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// query runs fn on the deciding goroutine. fn must change nothing.
// Errors: those of fn, the cause of ctx, [event.ErrClosed].
func (e *Engine) query(ctx context.Context, fn func() error) error {
	done := make(chan error, 1)
	select {
	case e.calls <- func() { done <- fn() }:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-e.ctx.Done():
		return event.ErrClosed
	}
	return <-done // the deciding goroutine took it and does nothing else before
}

func noRule(name string) error { return fmt.Errorf("rule %q: %w", name, react.ErrNoRule) }

// asks returns an asking run. Errors: [react.ErrNoRun], [react.ErrState].
func (e *Engine) asks(id react.RunID) (*run, error) {
	r := e.runs[id]
	if r == nil {
		for _, h := range e.over {
			if h.id == id {
				return nil, fmt.Errorf("run %s is %s: %w", id, h.state, react.ErrState)
			}
		}
		return nil, fmt.Errorf("run %s: %w", id, react.ErrNoRun)
	}
	if r.State != react.Asking || r.busy {
		return nil, fmt.Errorf("run %s is %s: %w", id, r.State, react.ErrState)
	}
	return r, nil
}

// Approve implements [react.Control].
func (e *Engine) Approve(ctx context.Context, id react.RunID, hash string) error {
	return e.call(ctx, func() error { return e.approve(id, hash, "approval allowed") })
}

func (e *Engine) approve(id react.RunID, hash, action string) error {
	r, err := e.asks(id)
	if err != nil {
		return err
	}
	if r.Request == nil || hash != r.Request.Hash() {
		return fmt.Errorf("run %s: %w; look at it again", id, react.ErrChanged)
	}
	if !r.Due.After(e.now()) {
		return fmt.Errorf("run %s: its time to be approved is over: %w", id, react.ErrState)
	}
	rs := e.ruleState(r.Rule)
	r.Approved, r.By, r.Under = hash, "operator", rs.Hash
	if r.Live {
		e.answer(r, answer{Answered: react.Answered{Approved: true}}, "the operator approved what it asked")
	} else {
		e.setState(r, react.Ready, "the operator approved it", "")
		r.Due, r.later = e.now(), time.Time{}
	}
	last := *r.Request
	last.Input = nil
	rs.approved = &last
	e.stagePut(event.TableApprovals, r.Rule, encode(last))
	e.audit(event.ActorOperator, action, 0, fmt.Sprintf("run %s of %s, request %s", id, r.Rule, hash))
	e.o.Failpoint("approved")
	return nil
}

// Grant implements [react.Control].
func (e *Engine) Grant(ctx context.Context, id react.RunID, hash string, until time.Time) error {
	return e.call(ctx, func() error {
		now := e.now()
		if !until.After(now) || until.Sub(now) > grantAtMost {
			return fmt.Errorf("a grant ends within %s, and not before now: %w", grantAtMost, react.ErrState)
		}
		if r := e.runs[id]; r != nil && (r.Began != nil || r.Request != nil && !r.Request.Kind.Grantable()) {
			return fmt.Errorf("run %s asks for what a model, an agent or a client wants, and that is approved one by one; approve it once: %w", id, react.ErrState)
		}
		if err := e.approve(id, hash, "grant"); err != nil {
			return err
		}
		r := e.runs[id]
		r.By = "grant"
		g := grant{Rule: r.Rule, Under: r.Under, Until: until.UTC()}
		e.grants[r.Request.ActHash()] = g
		e.stagePut(event.TableGrants, r.Request.ActHash(), encode(g))
		return nil
	})
}

// Deny implements [react.Control].
func (e *Engine) Deny(ctx context.Context, id react.RunID, reason string) error {
	return e.call(ctx, func() error {
		r, err := e.asks(id)
		if err != nil {
			return err
		}
		e.audit(event.ActorOperator, "approval denied", 0, fmt.Sprintf("run %s of %s", id, r.Rule))
		if r.Live {
			e.answer(r, answer{Answered: react.Answered{Reason: reason}}, "the operator said no to what it asked")
			return nil
		}
		r.Reason, r.AskUntil, r.By = reason, r.Due, "operator"
		if !r.Goes {
			e.charge(r)
		}
		e.end(r, react.Denied, "the operator said no", "")
		return nil
	})
}

// Undeny implements [react.Control].
func (e *Engine) Undeny(ctx context.Context, id react.RunID) error {
	return e.call(ctx, func() error {
		r, err := e.loadOver(id)
		switch {
		case err != nil:
			return err
		case r.State != react.Denied:
			return fmt.Errorf("run %s is %s: %w", id, r.State, react.ErrState)
		case !r.AskUntil.After(e.now()):
			return fmt.Errorf("run %s: its time to be approved is over: %w", id, react.ErrState)
		case e.asking >= react.MaxAsking:
			return fmt.Errorf("%d runs ask already: %w", e.asking, react.ErrState)
		}
		if !r.Goes {
			e.uncharge(r)
		}
		e.forget(id)
		due := r.AskUntil
		r.Reason, r.By, r.AskUntil, r.Ended = "", "", time.Time{}, time.Time{}
		e.add(r) // over, as far as counts go
		e.setState(r, react.Asking, "the operator took the denial back", "")
		r.Due = due
		e.audit(event.ActorOperator, "denial taken back", 0, "run "+string(id))
		return nil
	})
}

// forget removes a run from over.
func (e *Engine) forget(id react.RunID) {
	e.over = slices.DeleteFunc(e.over, func(h head) bool {
		if h.id == id {
			e.overSize -= h.size
		}
		return h.id == id
	})
}

// loadOver reads an ended run.
func (e *Engine) loadOver(id react.RunID) (*run, error) {
	if r := e.runs[id]; r != nil {
		return nil, fmt.Errorf("run %s is %s: %w", id, r.State, react.ErrState)
	}
	value, err := e.o.Store.Journal().Entry(event.TableRuns, string(id))
	if errors.Is(err, event.ErrNotFound) {
		err = fmt.Errorf("run %s: %w", id, react.ErrNoRun)
	}
	if err != nil {
		return nil, err
	}
	r := &run{}
	if err := json.Unmarshal(value, r); err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	r.rule, err = react.Thaw(r.Frozen)
	return r, err
}

// Retry implements [react.Control].
func (e *Engine) Retry(ctx context.Context, id react.RunID) (made react.RunID, err error) {
	err = e.call(ctx, func() error {
		old, err := e.loadOver(id)
		if err != nil {
			return err
		}
		m := cloneRun(&old.Run).Members
		made, err = e.manual(old.rule, old.Hash, old.Key, m, "run "+string(id)+" again")
		return err
	})
	return made, err
}

// Once implements [react.Control].
func (e *Engine) Once(ctx context.Context, rule string, seq uint64) (made react.RunID, err error) {
	rec, err := e.o.Store.Get(seq)
	if err != nil {
		return "", err
	}
	err = e.call(ctx, func() error {
		m := e.set.Rule(rule)
		if m == nil {
			return noRule(rule)
		}
		// Flows and approvals are judged by the source of the rule.
		if on := m.Rule.On; !on.Covers(&rec) {
			return fmt.Errorf("record %d is %s of %s, and rule %q listens to %s of %s: %w", seq, quoted(rec.Name().Raw()), rec.Server, rule, on.Types, on.Server, react.ErrSource)
		}
		var members react.Members
		members.Add(&rec)
		made, err = e.manual(*m.Rule, e.ruleState(rule).Hash, m.Key(&rec), members, fmt.Sprintf("record %d", seq))
		return err
	})
	return made, err
}

// manual creates a run for the operator, which will ask.
func (e *Engine) manual(rule react.Rule, hash react.Hash, key react.Key, members react.Members, what string) (react.RunID, error) {
	var salt [8]byte
	if _, err := io.ReadFull(e.o.Random, salt[:]); err != nil {
		return "", fmt.Errorf("no randomness: %w", err)
	}
	as, err := frozen(&rule)
	if err != nil {
		return "", err
	}
	first, now := members.Oldest(), e.now()
	r := &run{Run: react.Run{
		ID: runID(react.Manual, rule.Name, key, first, hex.EncodeToString(salt[:])), NS: react.Manual, Rule: rule.Name, Hash: hash,
		Frozen: as, Key: key, Members: members, State: react.Gathering, Created: now, Due: now,
	}, rule: rule}
	e.add(r)
	e.audit(event.ActorOperator, "run created", first, fmt.Sprintf("run %s of %s: %s", r.ID, rule.Name, what))
	return r.ID, nil
}

// Settle implements [react.Control].
func (e *Engine) Settle(ctx context.Context, id react.RunID, done bool, reason string) error {
	return e.call(ctx, func() error {
		r, err := e.loadOver(id)
		if err != nil {
			return err
		}
		if r.State != react.Parked {
			return fmt.Errorf("run %s is %s: %w", id, r.State, react.ErrState)
		}
		r.State, r.Why, r.Reason = react.Failed, "the operator says that it was not done", reason
		if done {
			r.State, r.Why = react.Done, "the operator says that it was done"
		}
		e.unblock(r, done)
		e.stageRun(r)
		e.audit(event.ActorOperator, "run settled", 0, fmt.Sprintf("run %s: %s", id, r.State))
		return nil
	})
}

// Rule implements [react.Control].
func (e *Engine) Rule(ctx context.Context, name string) (v react.RuleView, err error) {
	err = e.query(ctx, func() error {
		m := e.set.Rule(name)
		if m == nil {
			return noRule(name)
		}
		v = e.ruleView(m.Rule)
		return nil
	})
	if err != nil {
		return v, err
	}
	v.Tools, v.Listed = e.pin(ctx, v.Rule), true
	return v, nil
}

// pin lists the tools of a rule as their servers describe them now.
func (e *Engine) pin(ctx context.Context, r react.Rule) []react.Pinned {
	if p, ok := e.o.Runner.(react.Pinner); ok {
		return p.Pin(ctx, r)
	}
	return nil
}

// Arm implements [react.Control].
func (e *Engine) Arm(ctx context.Context, rule string, hash react.Hash) error {
	var r react.Rule
	err := e.query(ctx, func() error {
		m := e.set.Rule(rule)
		if m == nil {
			return noRule(rule)
		}
		r = *m.Rule
		if e.lookAtRules(); e.file.writable != "" {
			return fmt.Errorf("rule %q: %s: %w", rule, e.file.writable, react.ErrState)
		}
		return nil
	})
	if err != nil {
		return err
	}
	req, err := e.o.Runner.Prepare(r, react.Run{Rule: rule, NS: react.Live}, nil)
	if err != nil {
		return fmt.Errorf("rule %q: %w", rule, err)
	}
	pins := e.pin(ctx, r)
	now, changed := r.Hash(req), true
	shown := react.RuleView{Hash: now, Tools: pins}
	err = e.call(ctx, func() error {
		m := e.set.Rule(rule)
		if m == nil || m.Rule.Hash(req) != now {
			return nil
		}
		rs := e.ruleState(rule)
		if rs.Hash != now { // its program changed after rules.json was read
			e.takeRule(m.Rule, made{req: req}, e.o.Store.Last(), false)
		}
		if changed = shown.ArmHash() != hash; changed {
			return nil
		}
		rs.Armed, rs.Pins, rs.Disarmed = now, pins, ""
		rs.Failures, rs.Unprepared = 0, nil
		e.stageRule(rule)
		e.staged.again = true
		e.audit(event.ActorOperator, "rule armed", 0, fmt.Sprintf("%s, %s", rule, now))
		return nil
	})
	if err == nil && changed {
		err = fmt.Errorf("rule %q: %w; look at it again", rule, react.ErrChanged)
	}
	return err
}

// Disarm implements [react.Control].
func (e *Engine) Disarm(ctx context.Context, rule string) error {
	return e.onRule(ctx, rule, func(rs *ruleState) {
		rs.Armed, rs.Pins, rs.Disarmed = "", nil, ""
		e.endGrants(rule)
		e.audit(event.ActorOperator, "rule disarmed", 0, rule)
	})
}

// endGrants ends the grants of a rule.
func (e *Engine) endGrants(rule string) {
	for act, g := range e.grants {
		if g.Rule == rule {
			delete(e.grants, act)
			e.stageDelete(event.TableGrants, act)
		}
	}
}

// Silence implements [react.Control].
func (e *Engine) Silence(ctx context.Context, rule string, until time.Time) error {
	return e.onRule(ctx, rule, func(rs *ruleState) {
		rs.Silenced = until.UTC()
		if until.IsZero() {
			rs.Silenced = time.Time{}
			e.audit(event.ActorOperator, "silence ended", 0, rule)
			return
		}
		e.audit(event.ActorOperator, "rule silenced", 0, rule+" until "+until.UTC().Format(time.RFC3339))
	})
}

func (e *Engine) onRule(ctx context.Context, rule string, change func(*ruleState)) error {
	return e.call(ctx, func() error {
		rs := e.rules[rule]
		if rs == nil || e.set.Rule(rule) == nil && rs.Armed == "" {
			return noRule(rule)
		}
		change(rs)
		e.stageRule(rule)
		return nil
	})
}

// Stop implements [react.Control]. It takes effect at once, even while the engine is busy.
func (e *Engine) Stop(ctx context.Context, kill bool) error {
	e.stopSwitch.press(kill)
	return e.call(ctx, func() error {
		e.stagePut(event.TableReact, keyStop, []byte(e.now().Format(time.RFC3339)))
		e.answerAll()
		e.audit(event.ActorOperator, "reactions stopped", 0, map[bool]string{true: "what ran was ended", false: event.ResultOK}[kill])
		return nil
	})
}

// Go implements [react.Control]. It removes the stop file.
func (e *Engine) Go(ctx context.Context) error {
	if e.o.Dir != "" {
		if err := os.Remove(filepath.Join(e.o.Dir, react.StopFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the stop file stays: %w", err)
		}
	}
	return e.call(ctx, func() error {
		e.stageDelete(event.TableReact, keyStop)
		e.stageDelete(event.TableReact, event.KeyLag)
		e.audit(event.ActorOperator, "reactions go on", 0, event.ResultOK)
		e.afterCommit(func() {
			e.lag = ""
			e.fileStops = e.stopFile()
			e.stopSwitch.setFile(e.fileStops)
			e.stopSwitch.release()
			e.staged.again = true
		})
		return nil
	})
}

// Run implements [react.Control].
func (e *Engine) Run(_ context.Context, id react.RunID) (react.Run, error) {
	value, err := e.o.Store.Journal().Entry(event.TableRuns, string(id))
	if errors.Is(err, event.ErrNotFound) {
		err = fmt.Errorf("run %s: %w", id, react.ErrNoRun)
	}
	if err != nil {
		return react.Run{}, err
	}
	var r run
	if err := json.Unmarshal(value, &r); err != nil {
		return react.Run{}, fmt.Errorf("run %s: %w", id, err)
	}
	return r.Run, nil
}

// defaultRuns is how many runs a query without a limit returns.
const defaultRuns = 100

// Runs implements [react.Control].
func (e *Engine) Runs(ctx context.Context, q react.Query) ([]react.Run, error) {
	if q.Limit == 0 {
		q.Limit = defaultRuns
	}
	var heads []head
	if err := e.query(ctx, func() error {
		heads = slices.Clone(e.over)
		for _, r := range e.runs {
			heads = append(heads, headOf(&r.Run, 0))
		}
		return nil
	}); err != nil {
		return nil, err
	}
	slices.SortStableFunc(heads, func(a, b head) int { return b.created.Compare(a.created) })
	var out []react.Run
	for _, h := range heads {
		if len(out) >= q.Limit || h.created.Before(q.Since) {
			break
		}
		if q.Rule != "" && h.rule != q.Rule || len(q.States) > 0 && !slices.Contains(q.States, h.state) || q.Seq > 0 && (q.Seq < h.first || q.Seq > h.last) {
			continue
		}
		r, err := e.Run(ctx, h.id)
		switch {
		case errors.Is(err, react.ErrNoRun):
			continue // not committed yet, or pruned meanwhile
		case err != nil:
			return nil, err
		case q.Seq > 0 && !slices.Contains(r.Members.First, q.Seq) && !slices.Contains(r.Members.Last, q.Seq):
			continue
		case len(q.States) > 0 && !slices.Contains(q.States, r.State):
			continue
		}
		out = append(out, r)
	}
	return out, nil
}
