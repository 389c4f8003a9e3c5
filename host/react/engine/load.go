package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// load reads the journal.
func (e *Engine) load() error {
	j := e.o.Store.Journal()
	e.position = e.o.Store.Last()
	var bad error
	each := func(table event.JournalTable, prefix string, fn func(key string, value []byte) error) {
		if bad != nil {
			return
		}
		err := j.Entries(table, prefix, func(key string, value []byte) bool {
			if err := fn(strings.TrimPrefix(key, prefix), value); err != nil {
				bad = fmt.Errorf("entry %q of %s: %w", key, table, err)
			}
			return bad == nil
		})
		if bad == nil {
			bad = err
		}
	}
	each(event.TableRules, "", decoded(func(name string, rs ruleState) { e.rules[name] = &rs }))
	each(event.TableSpend, "", decoded(func(name string, starts []time.Time) {
		if name == allRules {
			e.starts = starts
			return
		}
		e.ruleState(name).starts = starts
	}))
	each(event.TableApprovals, "", decoded(func(name string, r react.Request) { e.ruleState(name).approved = &r }))
	each(event.TableGrants, "", decoded(func(hash string, g grant) { e.grants[hash] = g }))
	each(event.TableReact, prefixOnce, decoded(func(key string, c onceCharge) { e.once[key] = c }))
	each(event.TableReact, event.PrefixImported, e.loadImported)
	each(event.TableReact, prefixSpend, e.loadSpent)
	// The table also has the steps of all runs, so single entries are looked up by key.
	one := func(key string, fn func(value []byte) error) {
		value, err := j.Entry(event.TableReact, key)
		if err == nil {
			err = fn(value)
		}
		if err != nil && !errors.Is(err, event.ErrNotFound) && bad == nil {
			bad = fmt.Errorf("entry %q of %s: %w", key, event.TableReact, err)
		}
	}
	one(keyPosition, e.loadPosition)
	one(keyStop, func([]byte) error {
		e.stopSwitch.stop = true
		return nil
	})
	one(event.KeyLag, func(value []byte) error {
		e.lag, e.stopSwitch.held = string(value), true
		return nil
	})
	each(event.TableRuns, "", func(_ string, value []byte) error { return e.loadRun(value) })
	if bad != nil {
		return bad
	}
	e.index()
	return nil
}

// decoded returns a function that decodes the JSON of an entry and passes it to take.
func decoded[V any](take func(key string, v V)) func(string, []byte) error {
	return func(key string, value []byte) error {
		var v V
		if err := json.Unmarshal(value, &v); err != nil {
			return err
		}
		take(key, v)
		return nil
	}
}

func (e *Engine) loadPosition(value []byte) error {
	var p position
	if err := json.Unmarshal(value, &p); err != nil {
		return err
	}
	e.position = min(p.Seq, e.position)
	for _, id := range p.Gaps {
		e.arrivals.Behind(id)
	}
	return nil
}

func (e *Engine) loadImported(key string, value []byte) error {
	from, err := strconv.ParseUint(key, 16, 64)
	if err != nil {
		return err
	}
	i := imported{from: from, to: e.o.Store.Last()}
	if len(value) > 0 {
		if i.to, err = strconv.ParseUint(string(value), 16, 64); err != nil {
			return err
		}
	} else {
		e.stagePut(event.TableReact, event.PrefixImported+key, fmt.Appendf(nil, "%016x", i.to))
	}
	e.imported = append(e.imported, i)
	return nil
}

func (e *Engine) loadRun(value []byte) error {
	r := &run{}
	if err := json.Unmarshal(value, r); err != nil {
		return err
	}
	if !r.Started.IsZero() && e.now().Sub(r.Started) < loopSpan {
		e.recent[r.ID] = r.Started
	}
	if r.State.Over() {
		e.over = append(e.over, headOf(&r.Run, len(value)+r.StepBytes))
		e.overSize += len(value) + r.StepBytes
		e.block(r)
		return nil
	}
	if r.Live { // the attempt that asked is gone, or asks again
		r.Live, r.State = false, react.Running
		r.restoreFirst()
	}
	var err error
	if r.rule, err = react.Thaw(r.Frozen); err != nil {
		return err
	}
	if r.Request != nil {
		r.held = len(value)
	}
	e.runs[r.ID] = r
	e.order = append(e.order, r)
	return nil
}

// index sorts the loaded runs, and adds them to their groups and counts.
func (e *Engine) index() {
	slices.SortFunc(e.over, func(a, b head) int { return a.created.Compare(b.created) })
	slices.SortFunc(e.order, func(a, b *run) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
	for _, r := range e.order {
		g := e.group(r)
		if r.State == react.Gathering && r.NS == react.Live {
			g.gathering = r
			e.ruleState(r.Rule).newest = r
		}
		g.frozen += r.frozen(r.State)
		g.fresh += r.fresh(r.State)
		e.asking += asking(r.State)
		e.ruleState(r.Rule).waiting += waiting(r.State)
		e.waiting += waiting(r.State)
		if e.lag != "" && r.State != react.Asking {
			r.Lag, r.Approved = true, "" // the act may have been done already
		}
	}
}

// loadWatch reads the state of a rule's window.
func (e *Engine) loadWatch(name string, rs *ruleState, r *react.Rule) {
	rs.watch = react.NewWatch(r)
	var parts [][]byte
	err := e.o.Store.Journal().Entries(event.TableReact, prefixWatch+name+"/", func(_ string, value []byte) bool {
		parts = append(parts, bytes.Clone(value))
		return true
	})
	if rs.parts = len(parts); rs.parts == 0 && err == nil {
		return
	}
	if err == nil {
		err = json.Unmarshal(bytes.Join(parts, nil), rs.watch)
	}
	if err != nil {
		e.o.Log.Error("the window of a rule begins anew", "rule", name, "err", err)
		rs.watch = react.NewWatch(r)
	}
}

func (e *Engine) ruleState(name string) *ruleState { return entry(e.rules, name) }
