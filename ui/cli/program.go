// Package cli is the command line: every command, its flags, what it prints and
// the code with which it ends. Commands use the host through [host.API], as the
// screen does; what only the whole program has (the store, the demo servers, the
// screen) is handed in by main.
package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/host/react"
)

// Program is what the command line runs with. Tests put stand-ins here.
type Program struct {
	Args   []string // without the program's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Env    func(name string) (string, bool) // as os.LookupEnv
	Home   string                           // the user's home directory, "" if unknown
	Dir    string                           // the present directory, "" if unknown
	System string                           // as runtime.GOOS

	// StdinTerminal, StdoutTerminal and StderrTerminal tell whether a person sits there.
	StdinTerminal  bool
	StdoutTerminal bool
	StderrTerminal bool
	// Columns returns how wide the terminal of standard output is, of standard error where
	// standard output is none, in cells; 0 or nil: it is not known.
	Columns func() int

	Version string // of the program

	OpenStore  OpenStore
	NewHost    func(host.Options) (OwnHost, error)
	Screen     func(context.Context, ScreenOptions) error
	CA         func(dir string) (certPath string, err error)
	DemoServer func(ctx context.Context, name string, o host.DemoOptions) error
	// Libraries sends what libraries write with package log, which is standard error,
	// to a log: under a screen it would stand in its cells. nil: it stays there.
	Libraries func(*slog.Logger)
	// Browse opens an address in the operator's browser; nil: there is none.
	Browse     func(address string) error
	StoreTools StoreTools
	// WatchTerminal sees to it that the terminal is as it was whatever ends the
	// program, and keeps reports of crashes in dir; nil: neither happens. stop ends
	// that in good order.
	WatchTerminal func(dir string) (stop func() error, err error)
	// RunReactions begins to run reactions; nil: this program cannot.
	RunReactions func(ReactOptions) (Reactions, error)
	// Models asks models.
	Models Models
	// Executable returns the path of this program, which starts itself as a demo
	// server.
	Executable func() (string, error)
}

// OwnHost is a host of this process. It alone can call the tools of its servers: not who is
// attached.
type OwnHost interface {
	host.API
	react.Toolbox
}

// OpenStore opens a store. Its errors name what holds or breaks it.
type OpenStore func(ctx context.Context, o StoreOptions) (event.Store, error)

// StoreOptions say which store.
type StoreOptions struct {
	Dir       string // its directory; ignored by a temporary one
	Temporary bool   // a new one that is removed when it is closed

	// Bounds that the operator has set; 0: the store's own.
	QueueRecords, QueueBytes, AuditEntries int
}

// ScreenOptions are what the screen needs.
type ScreenOptions struct {
	API     host.API
	Demo    bool // on the demo servers
	Input   io.Reader
	Output  io.Writer
	NoColor bool
	Servers config.Source // where servers are configured
	// StartDemo starts the demo servers inside of the program and names them; nil:
	// it cannot. They and their subscriptions end with the screen.
	StartDemo func(context.Context) (names []string, err error)

	Present  bool   // for an audience
	Session  string // what the window title calls this run
	View     string // name of a saved view that is shown, "" for what was shown last
	Theme    string // name of a theme, "" for the one that was kept or suits
	ThemeDir string // where the operator's themes are, "" for nowhere
	Glyphs   string // "ascii", or "" for what suits

	React react.Control // of the reactions that run; nil: none do

	ReadOnly bool   // actions that change something are hidden and refused
	Settings string // the operator's file of settings, "" for none
}

// Exit codes of the program.
const (
	exitDone    = 0
	exitError   = 1
	exitUsage   = 2
	exitNotMet  = 3 // what was asked for did not happen in time
	exitRefused = 4 // the server refused for lack of rights
)

// Main runs one command and returns its exit code. Cancelling ctx ends a running
// command in good order; that is how SIGINT and SIGTERM arrive. What went wrong
// is one line on p.Stderr.
func Main(ctx context.Context, p Program) int {
	a := &app{Program: p}
	err := a.execute(ctx)
	if err == nil {
		return exitDone
	}
	code := exitCode(err)
	if code != exitDone {
		a.say("%s", message(err))
	}
	return code
}

// errNotMet: --for ended before --count was reached, or before anything could come.
var errNotMet = errors.New("not met in time")

// errStopped: the operator ended a command that was waiting for something.
var errStopped = errors.New("interrupted")
