//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"eventdeck/host/event"
	"eventdeck/ui/internal/runner"
)

// start measures the time to the host's first frame with a store, cached or not, and its memory and
// CPU while idle.
func start(args []string) error {
	flags := flag.NewFlagSet("start", flag.ContinueOnError)
	repeat := flags.Int("repeat", 11, "starts of each kind")
	idle := flags.Duration("idle", 20*time.Second, "how long the CPU is measured while nothing happens")
	streams := flags.Int("streams", 200, "subscriptions that are reopened; 0: this is not measured")
	program := flags.String("program", "", "the host; built when not given")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("usage: go run ./ui/internal/bench start [FLAGS] DIR; fill makes the directory")
	}
	_, clean, err := workspace(program)
	if err != nil {
		return err
	}
	defer clean()
	data := flags.Arg(0)
	fmt.Println(machine())
	for _, cold := range []bool{false, true} {
		var took []time.Duration
		for range *repeat {
			if cold {
				if err := forget(filepath.Join(data, "state.db")); err != nil {
					return err
				}
			}
			d, term, err := firstFrame(*program, data)
			if err != nil {
				return err
			}
			took = append(took, d)
			term.End("q")
		}
		fmt.Printf("first frame, pages of the store in memory: %t: median %v, best %v, worst %v of %d\n", !cold, round(quantile(took, 0.5)), round(quantile(took, 0)), round(quantile(took, 1)), len(took))
	}
	if err := rest(*program, data, *idle); err != nil {
		return err
	}
	if *streams > 0 {
		return reopen(*program, data, *streams)
	}
	return nil
}

// forget makes the system drop the cached pages of a file.
func forget(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// firstFrame starts the host and waits for a whole screen.
func firstFrame(program, data string, args ...string) (time.Duration, *runner.Terminal, error) {
	term, err := runner.Start(exec.Command(program, append([]string{"--data", data}, args...)...), false, nil)
	if err != nil {
		return 0, nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err = term.Wait(ctx, " stored")
	took := time.Since(term.Began)
	if err != nil {
		term.End("q")
	}
	return took, term, err
}

// rest measures memory and CPU while idle.
func rest(program, data string, idle time.Duration) error {
	_, term, err := firstFrame(program, data)
	if err != nil {
		return err
	}
	defer term.End("q")
	time.Sleep(5 * time.Second) // until the identities are read
	p := process(term.Cmd.Process.Pid)
	for _, focus := range []struct{ name, keys string }{{"with the focus", "\x1b[I"}, {"without it", "\x1b[O"}} {
		if err := term.Keys(focus.keys); err != nil {
			return err
		}
		time.Sleep(time.Second)
		used, err := p.cpuDuring(func() error { time.Sleep(idle); return nil })
		if err != nil {
			return err
		}
		fmt.Printf("idle %s: %.2f %% of a core\n", focus.name, 100*used.Seconds()/idle.Seconds())
	}
	memory, err := p.memory()
	if err != nil {
		return err
	}
	if err := term.Keys("/"); err != nil { // reads the newest records into an index
		return err
	}
	time.Sleep(5 * time.Second)
	indexed, err := p.memory()
	if err != nil {
		return err
	}
	fmt.Printf("anonymous memory: %d MB, %d MB with a filter that is being typed\n", memory>>20, indexed>>20)
	return term.Keys("\x1b[27u")
}

// reopen measures the time until all subscriptions of a store are open again. It adds them to the
// store.
func reopen(program, data string, streams int) error {
	f, err := newFeeder(event.ModePush, streams, 1, 1, false, newClock())
	if err != nil {
		return err
	}
	defer f.close()
	if err := subscribed(data, f.address, event.ModePush, streams, true); err != nil {
		return err
	}
	_, term, err := firstFrame(program, data, f.address)
	if err != nil {
		return err
	}
	defer term.End("q")
	if err := awaitFeed(f, term); err != nil {
		return err
	}
	fmt.Printf("%d subscriptions open again: %v after the start\n", streams, round(time.Since(term.Began)))
	time.Sleep(5 * time.Second)
	memory, err := process(term.Cmd.Process.Pid).memory()
	if err != nil {
		return err
	}
	fmt.Printf("anonymous memory with them: %d MB\n", memory>>20)
	return nil
}
