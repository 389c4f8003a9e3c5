package wiring

import (
	"os"
	"path/filepath"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/react/act"
	"eventdeck/host/react/engine"
	"eventdeck/host/react/rules"
	"eventdeck/ui/cli"
)

// Reactions are how reactions are begun. The zero value is what the program does; tests
// set the members.
type Reactions struct {
	Now       func() time.Time  // nil: time.Now
	Failpoint func(name string) // see [engine.Options]
}

// Run begins to run reactions on an open store; it is [cli.Program.RunReactions]. Errors:
// those of [act.New] and [engine.Open].
func (r Reactions) Run(o cli.ReactOptions) (cli.Reactions, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	runner, err := act.New(act.Options{Dir: o.Dir, Executable: self, Hidden: []string{filepath.Dir(o.Rules)}, Marks: o.API, Now: r.Now})
	if err != nil {
		return nil, err
	}
	known := rules.Known{Env: os.LookupEnv, Types: cli.ListedTypes(o.API.Snapshot)}
	e, err := engine.Open(engine.Options{
		Store: o.Store, Runner: runner, Path: o.Rules, Dir: o.Dir, Log: o.Log,
		Now: r.Now, Failpoint: r.Failpoint,
		Parse: func(path string, content []byte) (react.File, error) { return rules.Parse(path, content, known) },
		Live: func(server, eventType string) bool {
			for _, sub := range o.API.Snapshot().Subs {
				if sub.Key.Server == server && sub.Key.Type.Raw() == eventType && sub.Running && delivers(sub.Status.State) {
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
			return true // it is gone, and what proved its deliveries with it
		},
	})
	if err != nil {
		return nil, err // not a nil *engine.Engine in an interface
	}
	return e, nil
}

// delivers reports whether a subscription in this state would bring what its server sends.
func delivers(s event.State) bool {
	switch s {
	case event.StateLive, event.StatePolling, event.StateDraining, event.StateRefreshing:
		return true
	}
	return false
}
