package program

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"eventdeck/host"
	"eventdeck/host/attach"
	"eventdeck/host/event"
	"eventdeck/host/react"
)

// Reacts says whether a command runs reactions if it has the store itself, and whose rules.
type Reacts int

const (
	NoReactions Reacts = iota
	OwnReactions
	DemoReactions
)

// reacting is a host with reactions on it.
type reacting struct {
	host.API
	control react.Control
}

// Control implements [attach.Controller].
func (r reacting) Control() react.Control { return r.control }

var _ attach.Controller = reacting{}

// Control returns the reactions of the process that has the store; nil if none run.
func (d *OpenHost) Control() react.Control {
	if c, ok := d.API.(attach.Controller); ok {
		return c.Control()
	}
	return nil
}

// gated are reactions whose agents have tools.
type gated interface {
	// Gate returns the tools of a run that is under way, for a caller that has its token.
	// Error: [react.ErrNoGate].
	Gate(run react.RunID, token string) (react.Gate, error)
}

// gates finds the tools of runs; nil if none run here.
func (d *OpenHost) gates() attach.Gates {
	if g, ok := d.Reactions.(gated); ok {
		return g.Gate
	}
	return nil
}

// startReactions runs reactions on the open host's store, if this command does. If they cannot
// run, it says so and goes on.
func (a *App) startReactions(d *OpenHost, tools react.Toolbox, log *slog.Logger) {
	if a.Flags.Reacts == NoReactions || a.RunReactions == nil {
		return
	}
	if err := a.openReactions(d, tools, log); err != nil {
		log.Error("reactions do not run", "err", err)
		a.Say("reactions do not run: %v", err)
	}
}

func (a *App) openReactions(d *OpenHost, tools react.Toolbox, log *slog.Logger) error {
	dir := d.Store.Info().Path
	path, err := a.reactionRules(dir)
	if err != nil {
		return err
	}
	d.Reactions, err = a.RunReactions(ReactOptions{Store: d.Store, API: d.API, Tools: tools, Version: a.Version, Dir: dir, Rules: path, Servers: a.configured, Log: log})
	if err != nil {
		return err
	}
	d.API = reacting{d.API, d.Reactions}
	if a.Flags.Reacts == DemoReactions {
		return armAll(d.Reactions)
	}
	return nil
}

// demoRules is the file with the rules of the demo, in its own data directory.
const demoRules = "demo-rules.json"

// demoModel names what stands in for a language model in the demo.
const demoModel = "demo-model-scripted"

// The demo has safe rules: one asks, and its act is a note; the other has a model without
// tools write a text. %s is the address of the model, a JSON string.
const demoRulesText = `{
  // This is no model but a script, which says so in its answers. :ask puts questions to it.
  "models": {
    "` + demoModel + `": { "wire": "chat", "url": %s, "model": "scripted-stand-in", "price": 0 }
  },
  "rules": {
    // A run of this rule has the script look for the cause; its answer is in Runs (6, then ]).
    "explain-incident": {
      "on": { "server": "pager", "type": "incident.changed" },
      "when": ".state=cause-suspected", "key": ".incident", "wait": "1s", "mode": "auto",
      "do": { "model": { "use": "` + demoModel + `", "task": "Find the likely cause; cite ids.", "fields": ["incident", "deploy", "title"] } }
    },
    // A run of this rule waits on the screen of reactions (6) when an incident is opened.
    "note-incident": {
      "on": { "server": "pager", "type": "incident.changed" },
      "when": ".state=opened", "key": ".incident", "wait": "2s", "mode": "ask",
      "do": { "note": "look into this incident" }
    }
  }
}
`

// reactionRules returns the file of the rules that run: the one beside the file with the
// servers, or the demo's.
func (a *App) reactionRules(dir string) (string, error) {
	if a.Flags.Reacts == DemoReactions {
		return a.demoRulesIn(dir)
	}
	return a.RulesFile()
}

// demoRulesIn writes the rules of the demo, unless the operator has changed them in this
// directory. The address of the model differs in each run.
func (a *App) demoRulesIn(dir string) (path string, err error) {
	path = filepath.Join(dir, demoRules)
	before, after, _ := strings.Cut(demoRulesText, "%s")
	old, err := os.ReadFile(path)
	switch {
	case err == nil && !(strings.HasPrefix(string(old), before) && strings.HasSuffix(string(old), after)):
		return path, nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return path, err
	}
	url, err := json.Marshal(a.Flags.DemoModel)
	if err != nil {
		return path, err
	}
	return path, os.WriteFile(path, []byte(before+string(url)+after), 0o600)
}

// configured returns the configured servers, read anew.
func (a *App) configured() ([]event.Server, error) {
	file, err := a.Config()
	if err != nil {
		return nil, err
	}
	return file.All(), nil
}

// armAll arms every rule as it stands, for the demo.
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

// RulesFile is rules.json beside the file with the servers. In the data directory of a demo
// it is the demo's, unless --config says otherwise.
func (a *App) RulesFile() (string, error) {
	if a.Flags.Config == "" && a.Flags.Data != "" {
		path := filepath.Join(a.Flags.Data, demoRules)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	servers := a.Flags.Config
	if servers == "" {
		var err error
		if servers, err = a.Paths().ConfigFile(); err != nil {
			return "", err
		}
	}
	return filepath.Join(filepath.Dir(servers), "rules.json"), nil
}

// Waiting is how many runs wait for the operator in the store, if it is kept and this process
// has it.
func (d *OpenHost) Waiting() int {
	if d.Reactions == nil || d.Store.Info().Temporary {
		return 0
	}
	return d.Reactions.Reactions().Asking
}

// ListedTypes returns a function that returns the types that a server lists, none while they
// are not known. view returns the newest state of the host.
func ListedTypes(view func() host.Snapshot) func(server string) []event.Type {
	return func(server string) []event.Type {
		for _, s := range view().Servers {
			if s.Name == server && s.TypesKnown {
				return s.Types
			}
		}
		return nil
	}
}
