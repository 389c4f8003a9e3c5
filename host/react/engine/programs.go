package engine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"eventdeck/host/react"
)

// checkEvery is how often the programs of the rules are checked for changes.
const checkEvery = 10 * time.Second

// made is the request of a rule without members, on which the hash of the rule depends.
type made struct {
	req  react.Request
	err  error         // why it cannot be prepared
	seen []fs.FileInfo // of its programs when they were read; nil: not found
}

// makeAct prepares the request of a rule without members. The programs are checked before they
// are read, so that a change in between is noticed at the next check.
func makeAct(r react.Runner, rule react.Rule) made {
	before := statPrograms(rule.Do, react.Request{})
	req, err := r.Prepare(rule, react.Run{Rule: rule.Name, NS: react.Live}, nil)
	return made{req, err, append(before, statPrograms(react.Do{}, req)...)}
}

// statPrograms returns the FileInfo of the programs of an act with their code, of their
// interpreters, and of the directories that they run in and may reach.
func statPrograms(do react.Do, made react.Request) (seen []fs.FileInfo) {
	add := func(name string) {
		info, err := os.Stat(name)
		if err != nil {
			info = nil
		}
		seen = append(seen, info)
	}
	for _, c := range do.Commands() {
		add(c.Argv[0])
		add(c.Dir)
		if c.Confine != nil {
			for _, name := range slices.Concat(c.Confine.Read, c.Confine.Write) {
				add(name)
			}
		}
		for _, dir := range c.Code {
			_ = filepath.WalkDir(dir+string(filepath.Separator), func(name string, _ fs.DirEntry, _ error) error {
				add(name)
				return nil // what cannot be read is missing
			})
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
	return os.SameFile(a, b) && (a.IsDir() || a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()))
}

// checkPrograms prepares the requests of rules again whose programs changed, or whose requests
// could not be prepared.
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
			if m := old[r.Name]; m.err != nil || !slices.EqualFunc(m.seen, statPrograms(r.Do, m.req), sameFile) {
				if m = makeAct(e.o.Runner, r); !errors.Is(m.err, react.ErrScarce) {
					fresh[r.Name] = m
				}
			}
		}
		e.post(func() { e.checkedPrograms(set, fresh) })
	})
}

// checkedPrograms puts the rules in force whose requests were prepared again, unless the file
// was read again meanwhile. Changed rules judge the records that are not decided yet.
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
