package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host"
	"eventdeck/host/attach"
	"eventdeck/host/event"
	"eventdeck/host/react"
)

// ReactOptions say on what reactions run.
type ReactOptions struct {
	Store event.Store
	API   host.API // on the store
	Tools react.Toolbox
	Dir   string // the data directory
	Rules string // the file with the rules
	// Servers returns those that are configured.
	Servers func() ([]event.Server, error)
	Log     *slog.Logger
	// Version of this program, for agents.
	Version string
}

// Reactions run until they are closed.
type Reactions interface {
	react.Control
	// Close ends the engine; acts that run go on, and the next engine finds them.
	Close() error
}

// reacts says whether a command runs reactions where it has the store, and of which rules.
type reacts int

const (
	noReactions reacts = iota
	ownReactions
	demoReactions
)

// reacting is a host with reactions on it.
type reacting struct {
	host.API
	control react.Control
}

// Control implements [attach.Controller].
func (r reacting) Control() react.Control { return r.control }

var _ attach.Controller = reacting{}

// control returns the reactions of the process that has the store; nil if none run.
func (d *deck) control() react.Control {
	if c, ok := d.API.(attach.Controller); ok {
		return c.Control()
	}
	return nil
}

// gated are reactions whose agents have tools.
type gated interface {
	// Gate returns the tools of a run that is under way, for who has its token. Error:
	// [react.ErrNoGate].
	Gate(run react.RunID, token string) (react.Gate, error)
}

// gates finds the tools of runs; nil if none run here.
func (d *deck) gates() attach.Gates {
	if g, ok := d.reactions.(gated); ok {
		return g.Gate
	}
	return nil
}

// startReactions runs reactions on the deck's store, if this command does. What keeps them
// from running ends nothing else.
func (a *app) startReactions(d *deck, tools react.Toolbox, log *slog.Logger) {
	if a.flags.reacts == noReactions || a.RunReactions == nil {
		return
	}
	if err := a.openReactions(d, tools, log); err != nil {
		log.Error("reactions do not run", "err", err)
		a.say("reactions do not run: %v", err)
	}
}

func (a *app) openReactions(d *deck, tools react.Toolbox, log *slog.Logger) error {
	dir := d.store.Info().Path
	path, err := a.reactionRules(dir)
	if err != nil {
		return err
	}
	d.reactions, err = a.RunReactions(ReactOptions{Store: d.store, API: d.API, Tools: tools, Version: a.Version, Dir: dir, Rules: path, Servers: a.configured, Log: log})
	if err != nil {
		return err
	}
	d.API = reacting{d.API, d.reactions}
	if a.flags.reacts == demoReactions {
		return armAll(d.reactions)
	}
	return nil
}

// demoRules is the file with the rules of the demo, in its own data directory.
const demoRules = "demo-rules.json"

// The demo has one rule that is safe: it asks, and its act is a note.
const demoRulesText = `{
  // A run of this rule waits on the screen of reactions (6) when an incident is opened.
  "rules": {
    "note-incident": {
      "on": { "server": "pager", "type": "incident.changed" },
      "when": ".state=opened", "key": ".incident", "wait": "2s", "mode": "ask",
      "do": { "note": "look into this incident" }
    }
  }
}
`

// reactionRules is the file whose rules run: beside the file with the servers, or the demo's.
func (a *app) reactionRules(dir string) (string, error) {
	if a.flags.reacts == demoReactions {
		path := filepath.Join(dir, demoRules)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		return path, os.WriteFile(path, []byte(demoRulesText), 0o600)
	}
	return a.rulesFile()
}

// configured returns the servers of the configuration as it is now.
func (a *app) configured() ([]event.Server, error) {
	file, err := a.config()
	if err != nil {
		return nil, err
	}
	return file.All(), nil
}

// armAll arms every rule as it stands: those of the demo.
func armAll(c react.Control) error {
	for _, r := range c.Reactions().Rules {
		v, err := c.Rule(context.Background(), r.Rule.Name)
		if err == nil {
			err = c.Arm(context.Background(), r.Rule.Name, v.ArmHash())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *app) reactRunCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Keep the subscriptions and run the rules of rules.json, without a screen",
		Long: "run does what the screen does behind its panes: it connects to the configured servers, goes on with the\n" +
			"subscriptions that are kept, and runs the reactions of rules.json. Runs that wait for you are told on\n" +
			"standard error. Where another process has the store open, that one runs the reactions or none does.",
		Args: exactly(0),
		Run:  a.run(func(cmd *cobra.Command, _ []string) error { return a.reactRun(cmd.Context()) }),
	}
}

// reactRun runs reactions until ctx ends or the store does.
func (a *app) reactRun(ctx context.Context) error {
	servers, err := a.servers(nil)
	if err != nil {
		return err
	}
	a.flags.reacts = ownReactions
	d, _, err := a.keptDeck(ctx)
	if err != nil {
		return err
	}
	if d.client != nil {
		return d.finish(a.reactsElsewhere(d))
	}
	if d.reactions == nil {
		return d.finish(fmt.Errorf("%w; standard error says why", react.ErrNotEngine))
	}
	if err := d.named(ctx, servers); err != nil {
		return d.finish(err)
	}
	for _, s := range servers {
		d.AddServer(s)
	}
	err = d.whileSound(ctx, func(ctx context.Context) error { return a.tellReactions(ctx, d.reactions) })
	return d.finish(err)
}

// reactsElsewhere says that another process has the store, and what that means.
func (a *app) reactsElsewhere(d *deck) error {
	if c := d.control(); c != nil && c.Reactions().On {
		a.say("process %d runs the reactions already", d.client.PID())
		return nil
	}
	return fmt.Errorf("%w: process %d has the store open and runs none; quit it first", react.ErrNotEngine, d.client.PID())
}

// lookEvery is how often it is looked whether there is something to tell.
const lookEvery = time.Second

// tellReactions tells on standard error what an operator without a screen should know.
func (a *app) tellReactions(ctx context.Context, c react.Control) error {
	v := c.Reactions()
	armed := 0
	for _, r := range v.Rules {
		if r.Armed {
			armed++
		}
	}
	a.say("reactions run: %s of %s, %d armed", event.Some(len(v.Rules), "rule", "rules"), v.Path, armed)
	told, fault, held := map[react.RunID]bool{}, "", ""
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for {
		if v.Fault != fault && v.Fault != "" {
			a.say("%s; %s", v.Fault, v.InForce())
		}
		if v.Held != held && v.Held != "" {
			a.say("nothing acts: %s; `eventdeck react go` lets it", v.Held)
		}
		fault, held = v.Fault, v.Held
		waiting := map[react.RunID]bool{}
		for _, r := range v.Waiting {
			if waiting[r.ID] = true; !told[r.ID] {
				a.say("run %s of %s waits for you; `eventdeck approve %s` shows it", r.ID, r.Rule, r.ID)
			}
		}
		told = waiting
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
			v = c.Reactions()
		}
	}
}
