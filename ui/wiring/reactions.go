package wiring

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"eventdeck/host/attach"
	"eventdeck/host/event"
	"eventdeck/host/model"
	"eventdeck/host/react"
	"eventdeck/host/react/act"
	"eventdeck/host/react/agent"
	"eventdeck/host/react/converse"
	"eventdeck/host/react/engine"
	"eventdeck/host/react/rules"
	"eventdeck/ui/cli/program"
)

// Reactions starts reactions. The program uses the zero value; tests set the members.
type Reactions struct {
	Now       func() time.Time  // nil: time.Now
	Failpoint func(name string) // see [engine.Options]
	Keyring   model.Keyring     // of the keys of models; nil: there is none
}

// Run starts reactions on an open store; it is [program.Program.RunReactions]. Errors: those of
// [act.New] and [engine.Open].
func (r Reactions) Run(o program.ReactOptions) (program.Reactions, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	started := &programs{servers: o.Servers}
	acts, err := act.New(act.Options{Dir: o.Dir, Executable: self, Hidden: []string{filepath.Dir(o.Rules)}, Programs: started.all, Marks: o.API, Subscriptions: subscriptions{o.API}, Now: r.Now})
	if err != nil {
		return nil, err
	}
	agents, err := agent.New(agent.Options{
		Commands: acts, Dir: o.Dir, Executable: self, Version: o.Version, Tools: o.Tools, Now: r.Now,
		Socket: func() string { return attach.SocketOf(o.Dir) },
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	models := converse.New(converse.Options{Tools: o.Tools, Acts: acts, Model: model.Options{Keyring: r.Keyring, Log: o.Log}, Context: ctx, Now: r.Now, Log: o.Log})
	known := rules.Known{Env: os.LookupEnv, Types: program.ListedTypes(o.API.Snapshot)}
	e, err := engine.Open(engine.Options{
		Store: o.Store, Runner: kinds{acts, models, agents}, Path: o.Rules, Dir: o.Dir, Log: o.Log,
		Now: r.Now, Failpoint: r.Failpoint,
		Parse: func(path string, content []byte) (react.File, error) {
			file, err := rules.Parse(path, content, known)
			if err == nil {
				started.take(file)
			}
			return file, err
		},
		Live: func(on react.Source) bool {
			for _, sub := range o.API.Snapshot().Subs {
				// The events of other dialects have names of their own.
				if sub.Key.Server == on.Server && (sub.Dialect != "" || on.Types.Match(sub.Key.Type.Raw())) && sub.Running && sub.Status.State.Alive() {
					return true
				}
			}
			return false
		},
		Unsigned: func(id event.SubID) bool {
			for _, sub := range o.API.Snapshot().Subs {
				if sub.ID == id {
					return sub.Hook.Scheme == event.SchemeNone
				}
			}
			return true // it is gone, and with it the proof of its deliveries
		},
	})
	if err != nil {
		cancel()
		return nil, err
	}
	return reactions{e, cancel, agents}, nil
}

// reactions is an engine with the context and agents of its runner.
type reactions struct {
	*engine.Engine
	cancel context.CancelFunc
	agents *agent.Runner
}

// Gate returns the tools of a run under way, for the holder of its token. Error: [react.ErrNoGate].
func (r reactions) Gate(run react.RunID, token string) (react.Gate, error) {
	return r.agents.Gate(run, token)
}

// Close implements [program.Reactions].
func (r reactions) Close() error {
	r.cancel()
	return r.Engine.Close()
}
