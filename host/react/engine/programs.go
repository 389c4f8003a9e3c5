package engine

import (
	"io/fs"
	"os"
	"slices"
	"time"

	"eventdeck/host/react"
)

// checkEvery is how often is looked whether the programs of the rules were changed.
const checkEvery = 10 * time.Second

// made is what is known of the act of a rule before there is a run.
type made struct {
	req  react.Request
	err  error
	seen []fs.FileInfo // its programs as they were read; nil: not there
}

// makeAct asks the Runner for the act of a rule: what it is armed by depends on its programs.
// What was changed while they were read is looked at again.
func makeAct(r react.Runner, rule react.Rule) made {
	before := look(rule.Do, react.Request{})
	req, err := r.Prepare(rule, react.Run{Rule: rule.Name, NS: react.Live}, nil)
	return made{req, err, append(before, look(react.Do{}, req)...)}
}

// look returns what can be seen of the programs of an act, and of the interpreters that run
// them, without reading them.
func look(do react.Do, made react.Request) (seen []fs.FileInfo) {
	add := func(name string) {
		info, err := os.Stat(name)
		if err != nil {
			info = nil
		}
		seen = append(seen, info)
	}
	switch {
	case do.Command != nil:
		add(do.Command.Argv[0])
	case do.Agent != nil:
		add(do.Agent.Argv[0])
	case do.Choice != nil:
		for _, act := range do.Choice.Acts {
			if act.Do.Command != nil {
				add(act.Do.Command.Argv[0])
			}
		}
	}
	for _, i := range made.Interpreters {
		add(i.Name)
	}
	for _, act := range made.Choices {
		for _, i := range act.Interpreters {
			add(i.Name)
		}
	}
	return seen
}

func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// checkPrograms makes the acts of those rules again whose programs were changed, and of those
// that could not be made.
func (e *Engine) checkPrograms(now time.Time) {
	if e.checking || now.Sub(e.checked) < checkEvery {
		return
	}
	e.checking, e.checked = true, now
	set, old := e.set, map[string]made{}
	for _, r := range set.File.Rules {
		old[r.Name] = e.rules[r.Name].made
	}
	e.wg.Go(func() {
		fresh := map[string]made{}
		for _, r := range set.File.Rules {
			if m := old[r.Name]; m.err != nil || !slices.EqualFunc(m.seen, look(r.Do, m.req), sameFile) {
				fresh[r.Name] = makeAct(e.o.Runner, r)
			}
		}
		e.post(func() { e.checkedPrograms(set, fresh) })
	})
}

// checkedPrograms puts rules in force whose acts were made again, as far as they are still
// those of the file. They begin behind what was decided.
func (e *Engine) checkedPrograms(set *react.Set, fresh map[string]made) {
	e.checking = false
	if e.set != set {
		return
	}
	for name, m := range fresh {
		e.takeRule(set.Rule(name).Rule, m, e.position, false)
		e.stale = true
	}
}
