package program

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host/config"
	"eventdeck/host/filter"
	"eventdeck/ui/cli/plain"
)

// App is one run of the program.
type App struct {
	Program
	Flags Flags
	Err   error // of the command that ran

	settingsRead sync.Once
	keyPlace     string // by the settings, see App.KeyPlace
}

// Flags are the flags that every command has.
type Flags struct {
	Config    string
	Data      string
	JSON      bool
	Headers   []string
	Inherit   []string // variables that the server's process gets too
	Observe   ObserveFlags
	NoColor   bool
	Callback  string
	Listen    string
	PlainHTTP bool
	Rotate    time.Duration
	Hooks     HookFlags
	Proxies   []string // addresses or networks of proxies in front of the receiver
	Screen    ScreenFlags
	Reacts    Reacts // set by the command
	DemoModel string // address of the stand-in for a model; of the demo
}

// ScreenFlags are the flags of the commands that open the screen.
type ScreenFlags struct {
	Theme    string
	View     string
	ASCII    bool
	Plain    bool
	Present  bool
	ReadOnly bool
}

// Run makes the Run function of a command. It keeps the error in a.Err and does not return it
// to cobra and fang: they take every error for a mistake in the command line, and query the
// terminal for its colours before they report it.
func (a *App) Run(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) { a.Err = f(cmd, args) }
}

// Say writes one line for the operator to standard error.
func (a *App) Say(format string, args ...any) {
	// There is nowhere left to tell that standard error is gone.
	_, _ = fmt.Fprintf(a.Stderr, "eventdeck: "+format+"\n", args...)
}

// Print writes to standard output.
func (a *App) Print(b []byte) error {
	if _, err := a.Stdout.Write(b); err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return nil
}

// PrintJSON writes a value of this program as a line of JSON to standard output.
func (a *App) PrintJSON(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return a.Print(append(line, '\n'))
}

// PrintTable writes a table: one line per row, with wrapped cells on a terminal that is
// narrower than that.
func (a *App) PrintTable(t *plain.Table) error {
	columns := 0
	if a.StdoutTerminal && a.Columns != nil {
		columns = a.Columns()
	}
	return a.Print([]byte(t.Text(columns)))
}

// usualWidth is the width in cells of a terminal that does not report its own.
const usualWidth = 80

// Width returns the width in cells to which text is folded: that of the terminal, or 0 (not
// folded) if the output is none. A terminal itself folds to its first column, where text of a
// server could pass for a label of this program.
func (a *App) Width(terminal bool) int {
	if !terminal {
		return 0
	}
	if a.Columns != nil {
		if columns := a.Columns(); columns > 0 {
			return columns
		}
	}
	return usualWidth
}

// Hint says on standard error how a filter was read, if that is probably not what the operator
// meant.
func (a *App) Hint(flag, text string) {
	if h, ok := filter.HintOf(text, nil); ok {
		a.Say("--%s: %s", flag, plain.Safe(h.String()))
	}
}

// BatchBytes is the size at which a batch of lines is written; a smaller one is written when
// there is nothing more to print.
const BatchBytes = 256 << 10

// NoColor reports whether colours are unwanted. It may be asked before the flags
// are parsed: help is printed while they are.
func (a *App) NoColor() bool {
	for _, arg := range a.Args {
		if arg == "--" {
			break
		}
		if arg == "--no-color" || arg == "--no-color=true" {
			return true
		}
	}
	set, ok := a.Env("NO_COLOR")
	return a.Flags.NoColor || ok && set != ""
}

// CompleteServer offers the configured servers to the shell.
func (a *App) CompleteServer(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	file, err := a.Config()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return file.Names(), cobra.ShellCompDirectiveNoFileComp
}

// Config reads the configuration that --config names, or the default one. Where no place for the
// default one is known, no server is configured.
//
// Errors: those of [config.Load].
func (a *App) Config() (*config.File, error) {
	path := a.Flags.Config
	if path == "" {
		path, _ = a.Paths().ConfigFile()
	}
	return config.Load(path, a.Flags.Config != "", a.Env)
}

// Paths are the places of files in the user's environment.
func (a *App) Paths() config.Paths {
	return config.Paths{System: a.System, Env: a.Env, Home: a.Home}
}

// SettingsFile is the operator's file of settings, "" if no such place is known.
func (a *App) SettingsFile() string {
	file, err := a.Paths().SettingsFile()
	if err != nil {
		return "" // the screen works without
	}
	return file
}
