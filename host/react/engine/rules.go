package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/internal/jsonfile"
	"eventdeck/host/react"
)

// fileState is the state of rules.json.
type fileState struct {
	modified time.Time
	size     int64
	there    bool
	content  []byte // in force
	fault    string // why the newest content is not in force
	writable string // who else can change the file, so that nothing starts; "": nobody
	reading  bool
}

// readFile is rules.json as it was read, compiled.
type readFile struct {
	state fileState
	set   *react.Set
	made  map[string]made
}

// loadRules reads rules.json. If it cannot be used, and no rules are in force yet, the last good
// content is taken from the journal.
func (e *Engine) loadRules() readFile {
	out := e.readNewest()
	if out.set != nil || e.set != nil {
		return out
	}
	good, err := e.o.Store.Journal().Entry(event.TableReact, keyFile)
	if err != nil {
		good = nil
	}
	fault := out.state.fault
	if out.set, err = e.parse(good); err != nil {
		good = nil
		out.set, _ = react.Compile(react.File{Path: e.o.Path}, e.now()) // no rules: it cannot fail
	}
	out.state.content, out.state.fault = good, fault
	out.make(e.o.Runner)
	return out
}

// readNewest reads the file. The set is nil if the file cannot be used.
func (e *Engine) readNewest() (out readFile) {
	content, err := e.readContent(&out.state)
	if err == nil {
		out.set, err = e.parse(content)
	}
	if err != nil {
		out.state.fault = err.Error()
		return out
	}
	out.state.content = content
	out.make(e.o.Runner)
	return out
}

func (e *Engine) parse(content []byte) (*react.Set, error) {
	file := react.File{Path: e.o.Path}
	if content != nil {
		var err error
		if file, err = e.o.Parse(e.o.Path, content); err != nil {
			return nil, err
		}
	}
	for i := range file.Rules {
		if _, err := frozen(&file.Rules[i]); err != nil {
			return nil, err
		}
	}
	return react.Compile(file, e.now())
}

// frozen freezes a rule for a run. Error: the rule is too long for that.
func frozen(r *react.Rule) (react.Frozen, error) {
	f := r.Freeze()
	if n := len(encode(f)); n > maxRule {
		return nil, fmt.Errorf("%s: rule %q takes %d bytes, and a run keeps %d of one at most; shorten it", r.Where, r.Name, n, maxRule)
	}
	return f, nil
}

// readContent returns nil if there is no file. Only regular files are opened: a pipe may never
// end.
func (e *Engine) readContent(s *fileState) ([]byte, error) {
	info, err := os.Stat(e.o.Path)
	if errors.Is(err, fs.ErrNotExist) || e.o.Path == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.modified, s.size, s.there, s.writable = info.ModTime(), info.Size(), true, writable(e.o.Path)
	return jsonfile.ReadOwn(e.o.Path, react.MaxFile, false)
}

// writable says who else can change a file; "": nobody, or none exists.
func writable(path string) string {
	if _, err := jsonfile.Own(path); errors.Is(err, jsonfile.ErrWritable) {
		return err.Error()
	}
	return ""
}

// make prepares the request of each rule.
func (f *readFile) make(r react.Runner) {
	f.made = map[string]made{}
	for _, rule := range f.set.File.Rules {
		f.made[rule.Name] = makeAct(r, rule)
	}
}

// stopFile reports whether there is a stop file. If that cannot be determined, there is.
func (e *Engine) stopFile() bool {
	if e.o.Dir == "" {
		return false
	}
	_, err := os.Lstat(filepath.Join(e.o.Dir, react.StopFile))
	return !errors.Is(err, fs.ErrNotExist)
}

// lookAtStopFile checks whether there is a stop file, and records changes in the audit log.
func (e *Engine) lookAtStopFile() {
	there := e.stopFile()
	e.stopSwitch.setFile(there)
	if there != e.fileStops {
		e.fileStops, e.stale = there, true
		e.audit(event.ActorOperator, "stop file", 0, map[bool]string{true: "stops", false: "no longer stops"}[there])
	}
}

// lookAtRules reads rules.json again if it changed.
func (e *Engine) lookAtRules() {
	if e.file.reading || e.o.Path == "" {
		return
	}
	info, err := os.Stat(e.o.Path)
	there, who := err == nil, ""
	if there {
		who = writable(e.o.Path)
	}
	if there == e.file.there && who == e.file.writable && (!there || info.ModTime().Equal(e.file.modified) && info.Size() == e.file.size) {
		return
	}
	e.file.reading, e.file.writable = true, who
	e.wg.Go(func() {
		read := e.readNewest()
		e.post(func() { e.readRules(read) })
	})
}

// readRules puts the rules that were read in force, or keeps why they cannot be.
func (e *Engine) readRules(read readFile) {
	content := e.file.content
	e.file = read.state
	e.stale = true
	if read.set == nil {
		e.file.content = content
		e.o.Log.Warn("rules.json cannot be used; what was good last stays in force", "err", read.state.fault)
		return
	}
	// Commits from now on are checked against the new types.
	e.interest.listen(read.set)
	fresh := e.set == nil
	e.watchStore(len(read.set.File.Rules) > 0, fresh)
	last := e.o.Store.Last()
	e.set = read.set
	in := map[string]bool{}
	for i := range read.set.File.Rules {
		r := &read.set.File.Rules[i]
		in[r.Name] = true
		e.takeRule(r, read.made[r.Name], last, fresh)
	}
	for name, rs := range e.rules {
		if !in[name] && rs.Hash != "" {
			rs.Hash, rs.watch = "", nil
			rs.Armed, rs.Pins = "", nil // a later rule of the same name must be armed again
			e.stageRule(name)
			e.endGrants(name)
		}
	}
	if !fresh || !bytes.Equal(content, e.file.content) {
		if len(e.file.content) <= maxEntry && len(e.file.content) > 0 {
			e.stagePut(event.TableReact, keyFile, e.file.content)
		}
	}
	e.staged.again = true
}

// takeRule puts a rule in force. A new or changed rule begins after the newest record.
func (e *Engine) takeRule(r *react.Rule, m made, last uint64, fresh bool) {
	rs := e.ruleState(r.Name)
	hash := r.Hash(m.req)
	if errors.Is(m.err, react.ErrScarce) && rs.Hash != "" {
		hash = rs.Hash // the next check tells what it is
	}
	same := rs.Hash == hash
	if !same || m.err == nil && (fresh || rs.made.err != nil) {
		rs.Unprepared = nil // try it again
	}
	rs.made = m
	if !same {
		if m.err == nil { // otherwise it is unknown what the rule does now
			e.endGrants(r.Name)
		}
		rs.Hash, rs.Since = hash, last
		e.stageRule(r.Name)
	}
	switch {
	case r.Window.IsZero():
		rs.watch = nil
	case same && fresh:
		e.loadWatch(r.Name, rs, r)
	case !same || rs.watch == nil:
		rs.watch = react.NewWatch(r)
		e.stageWatch(r.Name)
	}
}
