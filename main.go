// Command eventdeck is a terminal host for MCP Events.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/term"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/host/model"
	"eventdeck/host/react/act"
	"eventdeck/store"
	"eventdeck/store/maintain"
	"eventdeck/store/seal"
	"eventdeck/ui/cli"
	"eventdeck/ui/cli/program"
	"eventdeck/ui/crash"
	"eventdeck/ui/startup"
	"eventdeck/ui/tui"
	"eventdeck/ui/wiring"
)

func main() {
	if crash.IsMonitor() {
		os.Exit(crash.Monitor())
	}
	if code, ok := act.Main(os.Args); ok {
		os.Exit(code)
	}
	os.Exit(run())
}

// repeats is how long after a first signal further signals count as the same request: timeout(1)
// signals a process and then its group, and a terminal multiplexer that ends sends SIGHUP besides.
// Only a later signal ends the program at once, without ending the processes of its servers.
const repeats = 500 * time.Millisecond

// endedBy returns a context that ends at the first of the signals. Another one that comes later
// than repeats ends the program at once, by the system's default. The caller calls stop.
func endedBy(parent context.Context, repeats time.Duration, signals ...os.Signal) (ctx context.Context, stop context.CancelFunc) {
	ctx, stop = signal.NotifyContext(parent, signals...)
	context.AfterFunc(ctx, func() { time.AfterFunc(repeats, stop) })
	return ctx, stop
}

func run() int {
	ends := []os.Signal{syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	if err := startup.EnoughSpace(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "eventdeck:", err)
		return 1
	}
	if err := startup.UseZone(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "eventdeck:", err) // there is nowhere else to tell it
	}
	interrupts := &tui.Interrupts{}
	ctx, uninterrupted := interrupts.End(context.Background())
	defer uninterrupted()
	ctx, stop := endedBy(ctx, repeats, ends...)
	defer stop()
	defer context.AfterFunc(ctx, uninterrupted)()
	// With a handler for SIGPIPE a write to a closed pipe returns an error instead
	// of ending the process; children do not inherit it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	paths := config.OwnPaths()
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // it is only searched for project files of other clients
	}
	return cli.Main(ctx, program.Program{
		Dir:            dir,
		Args:           os.Args[1:],
		Stdin:          os.Stdin,
		Stdout:         os.Stdout,
		Stderr:         os.Stderr,
		Env:            paths.Env,
		Home:           paths.Home,
		System:         paths.System,
		StdinTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		StdoutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		StderrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Columns:        columns,
		Version:        version(),
		OpenStore:      openStore,
		NewHost:        newHost,
		Screen:         wiring.Screen(interrupts),
		Libraries:      libraries,
		CA:             host.CA,
		DemoServer:     host.DemoServer,
		Browse:         cli.Browse,
		Executable:     executable,
		RunReactions:   wiring.Reactions{Keyring: seal.SystemKeyring()}.Run,
		Models:         wiring.Models{Options: model.Options{Keyring: seal.SystemKeyring()}},
		WatchTerminal:  watchTerminal,
		StoreTools: program.StoreTools{
			Check: maintain.Check, Compact: maintain.Compact, Backup: maintain.Backup, Restore: maintain.Restore, Recover: maintain.Recover,
			ChangeKey: func(ctx context.Context, o program.StoreOptions, to string, lose bool, say func(string)) error {
				return store.ChangeKey(ctx, store.Options{Dir: o.Dir, KeyPlace: o.KeyPlace, Prompt: o.Prompt}, to, lose, say)
			},
		},
	})
}

func openStore(ctx context.Context, o program.StoreOptions) (event.Store, error) {
	dir := o.Dir
	if o.Temporary {
		dir = "" // the system's directory for temporary files
	}
	s, err := store.Open(ctx, store.Options{
		Dir: dir, Temporary: o.Temporary, Imports: o.Imports, KeyPlace: o.KeyPlace, Prompt: o.Prompt,
	})
	if err != nil {
		return nil, err // not a nil *store.Store in an interface
	}
	return s, nil
}

func newHost(o host.Options) (program.OwnHost, error) {
	h, err := host.New(o)
	if err != nil {
		return nil, err
	}
	return h, nil
}

// columns returns the width of the terminal, 0 if it is unknown.
func columns() int {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// executable returns the path of this program, also on a Linux without /proc, where only its
// arguments tell it.
func executable() (string, error) { return programPath(os.Executable, os.Args[0]) }

func programPath(system func() (string, error), arg string) (string, error) {
	path, err := system()
	if err == nil {
		return path, nil
	}
	found, missing := exec.LookPath(arg)
	if missing != nil {
		return "", errors.Join(err, missing)
	}
	return filepath.Abs(found)
}

func watchTerminal(dir string) (stop func() error, err error) {
	self, err := executable()
	if err != nil {
		return nil, err
	}
	return crash.Watch(crash.Options{Executable: self, Terminal: os.Stdin, Output: os.Stdout, Dir: dir, Version: version()})
}

// libraries sends the output of package log to a log: net/http writes there if it cannot accept
// connections.
func libraries(to *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(slog.NewLogLogger(to.Handler(), slog.LevelWarn).Writer())
}

// version returns the version that the toolchain recorded.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}
