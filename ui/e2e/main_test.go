// Package e2e tests the whole program: real processes, real sockets, kills.
//
// The test binary is the program too: started with the variable below it runs the command line
// with the same parts as main, and with what a test injects (failpoints, short durations).
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/term"

	"eventdeck/host"
	"eventdeck/host/acp/acptest"
	"eventdeck/host/event"
	"eventdeck/host/model"
	"eventdeck/host/react/act"
	"eventdeck/store"
	"eventdeck/store/maintain"
	"eventdeck/store/seal"
	"eventdeck/ui/cli"
	"eventdeck/ui/cli/program"
	"eventdeck/ui/crash"
	"eventdeck/ui/tui"
	"eventdeck/ui/wiring"
)

// Variables by which a test injects something into the program.
const (
	envProgram   = "EVENTDECK_E2E_PROGRAM"   // be the program
	envFailpoint = "EVENTDECK_E2E_FAILPOINT" // NAME:N, die by SIGKILL at the Nth passing; react.NAME:N in the engine of reactions
	envGate      = "EVENTDECK_E2E_GATE"      // file without which no failpoint counts
	envPanic     = "EVENTDECK_E2E_PANIC"     // panic at the failpoint, in a goroutine of its own
	envLate      = "EVENTDECK_E2E_LATE"      // the monitor of the terminal begins after the program's death
	envWatchdog  = "EVENTDECK_E2E_WATCHDOG"  // duration
	envClock     = "EVENTDECK_E2E_CLOCK"     // file with a duration by which the host's clock is off
)

// reachCommand makes the test binary, as the command of a reaction, try what it can reach.
const reachCommand = "reach"

func TestMain(m *testing.M) {
	if crash.IsMonitor() {
		beLate()
		os.Exit(crash.Monitor())
	}
	if code, ok := act.Main(os.Args); ok {
		os.Exit(code)
	}
	if code, ok := acptest.Main(os.Args); ok {
		os.Exit(code)
	}
	// An agent, and the program itself, start it as a server with a minimal environment.
	asServer := len(os.Args) > 1 && (os.Args[1] == "gate" || os.Args[1] == "demo-server")
	if os.Getenv(envProgram) != "" || asServer {
		os.Exit(runProgram())
	}
	// A confined command cannot write the coverage files of a test.
	if len(os.Args) == 3 && os.Args[1] == reachCommand {
		os.Exit(reach(os.Args[2]))
	}
	os.Exit(m.Run())
}

// beLate waits for the death of the program that started this monitor, if the test asks for
// that.
func beLate() {
	parent, late := os.LookupEnv(envLate)
	for late && strconv.Itoa(os.Getppid()) == parent {
		time.Sleep(time.Millisecond)
	}
}

func runProgram() int {
	if os.Getenv(envLate) != "" {
		os.Setenv(envLate, strconv.Itoa(os.Getpid()))
	}
	interrupts := &tui.Interrupts{}
	ctx, uninterrupted := interrupts.End(context.Background())
	defer uninterrupted()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	return cli.Main(ctx, program.Program{
		Args:           os.Args[1:],
		Stdin:          os.Stdin,
		Stdout:         os.Stdout,
		Stderr:         os.Stderr,
		Env:            os.LookupEnv,
		Home:           os.Getenv("HOME"),
		System:         runtime.GOOS,
		Version:        "test",
		StdinTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		StdoutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		Screen:         wiring.Screen(interrupts),
		RunReactions:   wiring.Reactions{Now: now(), Failpoint: failpoint("react.")}.Run,
		OpenStore:      openStore,
		NewHost:        newHost,
		CA:             host.CA,
		DemoServer:     host.DemoServer,
		Executable:     os.Executable,
		Models:         wiring.Models{Options: model.Options{Keyring: seal.NoKeyring()}},
		WatchTerminal: func(dir string) (func() error, error) {
			self, err := os.Executable()
			if err != nil {
				return nil, err
			}
			return crash.Watch(crash.Options{Executable: self, Terminal: os.Stdin, Output: os.Stdout, Dir: dir, Version: "test"})
		},
		StoreTools: program.StoreTools{
			Check: maintain.Check, Compact: maintain.Compact, Backup: maintain.Backup, Restore: maintain.Restore, Recover: maintain.Recover,
		},
	})
}

func openStore(ctx context.Context, o program.StoreOptions) (event.Store, error) {
	s, err := store.Open(ctx, store.Options{Dir: o.Dir, Temporary: o.Temporary, Keyring: seal.NoKeyring()})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func newHost(o host.Options) (program.OwnHost, error) {
	o.Failpoint, o.Now = failpoint(""), now()
	if text := os.Getenv(envWatchdog); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, err
		}
		o.Timing.Watchdog = d
		o.Timing.BackoffMin = 50 * time.Millisecond
		if d < 5*time.Second {
			o.Timing.BackoffMax = 2 * time.Second
		}
	}
	return host.New(o)
}

// failpoint returns a function that is called at the failpoints of a part, and kills the
// process at the wanted one, whose name begins with the part's prefix; nil if none is wanted
// there.
func failpoint(prefix string) func(at string) {
	name, count, _ := strings.Cut(os.Getenv(envFailpoint), ":")
	name, ok := strings.CutPrefix(name, prefix)
	n, err := strconv.ParseInt(count, 10, 64)
	if !ok || err != nil {
		return nil
	}
	var passed atomic.Int64
	gate := os.Getenv(envGate)
	return func(at string) {
		if at == name && isOpen(gate) && passed.Add(1) == n {
			if os.Getenv(envPanic) != "" {
				go panic(envPanic)
				select {}
			}
			kill()
		}
	}
}

// now is the clock of the program; nil: the system's.
func now() func() time.Time {
	file := os.Getenv(envClock)
	if file == "" {
		return nil
	}
	return func() time.Time { return time.Now().Add(clockError(file)) }
}

func isOpen(gate string) bool {
	if gate == "" {
		return true
	}
	_, err := os.Stat(gate)
	return err == nil
}

// clockError reads by how much the clock is off; 0 for a file that is just being written.
func clockError(file string) time.Duration {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return 0
	}
	return d
}

// kill ends the process as kill -9 does, and does not return.
func kill() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		err = p.Kill()
		if err != nil {
			fmt.Fprintln(os.Stderr, "cannot kill myself:", err)
		}
	}
	select {}
}
