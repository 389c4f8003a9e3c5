// Package program is what every command needs: what the program runs with, the global options,
// and a host on an open store, in this process or in the one that has the store open.
package program

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
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

	// StdinTerminal, StdoutTerminal and StderrTerminal report whether each is a terminal.
	StdinTerminal  bool
	StdoutTerminal bool
	StderrTerminal bool
	// Columns returns the width in cells of the terminal of standard output, or of standard
	// error if standard output is none; 0 or nil if it is not known.
	Columns func() int

	Version string           // of the program
	Now     func() time.Time // the clock; nil: time.Now

	OpenStore  OpenStore
	NewHost    func(host.Options) (OwnHost, error)
	Screen     func(context.Context, ScreenOptions) error
	CA         func(dir string) (certPath string, err error)
	DemoServer func(ctx context.Context, name string, o host.DemoOptions) error
	// Libraries redirects what libraries write with package log from standard error, where it
	// would spoil the screen, to a log; nil: it stays there.
	Libraries func(*slog.Logger)
	// Browse opens an address in the operator's browser; nil: there is none.
	Browse     func(address string) error
	StoreTools StoreTools
	// WatchTerminal restores the terminal whatever ends the program, and keeps crash reports
	// in dir; nil: it does neither. stop ends that in good order.
	WatchTerminal func(dir string) (stop func() error, err error)
	// RunReactions runs reactions; nil: this program cannot.
	RunReactions func(ReactOptions) (Reactions, error)
	// Models asks models.
	Models Models
	// Executable returns the path of this program, which starts itself as a demo
	// server.
	Executable func() (string, error)
}

// OwnHost is a host of this process. Only it can call the tools of its servers; an attached
// client cannot.
type OwnHost interface {
	host.API
	react.Toolbox
}

// Models asks the models of rules.json, outside of every rule.
type Models interface {
	// HasKey returns why the key of a model is not available; nil if it is, or none is needed.
	HasKey(ctx context.Context, m react.Model) error
	// Try asks a model one short question. What that may have cost is returned with an error
	// too.
	Try(ctx context.Context, m react.Model) (Tried, error)
	// Sent reconstructs the bytes that the model of a run was sent in step n, from the request
	// with which the run began and its steps. It asks no model.
	Sent(first react.Request, steps []react.Step, n int) ([]byte, error)
}

// Tried is the result of one short question to a model.
type Tried struct {
	Answer trust.Text
	Took   time.Duration
	Usage  react.Usage
	Cost   int64 // micro-dollars; 0 where the price is not known
}

// OpenStore opens a store. Its errors name the process that holds it or the damage.
type OpenStore func(ctx context.Context, o StoreOptions) (event.Store, error)

// StoreOptions say which store.
type StoreOptions struct {
	Dir       string // its directory; ignored by a temporary one
	Temporary bool   // a new one that is removed when it is closed
	Stays     bool   // this process stays attached, as a screen does: see [attach.Follow]
	// The store must have this position of a generation: see [event.Generations.Has]; "": any.
	Generation string
	Position   uint64
	Imports    bool // records of another log will be stored

	KeyPlace string // where a new store keeps its sealing key, "file" or "keyring"; "": what can be had
	Prompt   bool   // the keyring may ask the operator to unlock it
}

// ScreenOptions are what the screen needs.
type ScreenOptions struct {
	API     host.API
	Demo    bool // on the demo servers
	Input   io.Reader
	Output  io.Writer
	NoColor bool
	Servers config.Source // where servers are configured
	// StartDemo starts the demo servers inside of the program and returns their names; nil: it
	// cannot. They and their subscriptions end with the screen.
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

// ErrNotMet: --for ended before --count was reached, or before anything could come.
var ErrNotMet = errors.New("not met in time")

// ErrStopped: the operator ended a command that was waiting for something.
var ErrStopped = errors.New("interrupted")

// ReactOptions say what reactions run on.
type ReactOptions struct {
	Store event.Store
	API   host.API // on the store
	Tools react.Toolbox
	Dir   string // the data directory
	Rules string // the file with the rules
	// Servers returns the configured servers.
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

// StoreTools work on a store that no process has open. Each takes the store's directory; say
// is called with lines of a report.
type StoreTools struct {
	Check   func(ctx context.Context, dir string, say func(string)) error
	Compact func(dir string) (before, after int64, err error)
	Backup  func(dir, file string) (bytes int64, err error)
	// Restore returns the name under which the former store is kept, "" if there was none. It
	// reads the copy from in, if that is not nil; file then names it.
	Restore func(ctx context.Context, dir, file string, in io.Reader, now time.Time, say func(string)) (aside string, err error)
	Recover func(ctx context.Context, dir string, now time.Time, say func(string)) error
	// ChangeKey moves the sealing key to the place to, or makes another one if to is "new". What
	// becomes unreadable by that it loses only if lose is set, else it is in the error.
	ChangeKey func(ctx context.Context, o StoreOptions, to string, lose bool, say func(string)) error
}
