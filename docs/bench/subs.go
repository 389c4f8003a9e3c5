//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"eventdeck/host/event"
)

// subs measures what an idle push subscription holds in memory: the difference
// between a host with many and one with one of them.
func subs(args []string) error {
	flags := flag.NewFlagSet("subs", flag.ContinueOnError)
	many := flags.Int("n", 1000, "subscriptions")
	program := flags.String("program", "", "the host; built when not given")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "eventdeck-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if *program == "" {
		if *program, err = build(dir, "."); err != nil {
			return err
		}
	}
	fmt.Println(machine())
	for _, two := range []bool{true, false} {
		one, err := holding(*program, filepath.Join(dir, fmt.Sprint("one", two)), 1, two)
		if err != nil {
			return err
		}
		all, err := holding(*program, filepath.Join(dir, fmt.Sprint("many", two)), *many, two)
		if err != nil {
			return err
		}
		fmt.Printf("%d idle push subscriptions, HTTP/2: %t: %d KB each (%d MB in all, %d MB with one)\n",
			*many, two, (all-one)/(*many-1)>>10, all>>20, one>>20)
	}
	return nil
}

// holding returns the anonymous memory of a host with so many idle subscriptions.
func holding(program, data string, n int, two bool) (int, error) {
	f, err := newFeeder(n, 1, 1, two, newClock())
	if err != nil {
		return 0, err
	}
	defer f.close()
	if err := subscribed(data, f.address, event.ModePush, n, true); err != nil {
		return 0, err
	}
	_, term, err := firstFrame(program, data, f.address)
	if err != nil {
		return 0, err
	}
	defer term.End("q")
	if err := awaitFeed(f, term); err != nil {
		return 0, err
	}
	time.Sleep(10 * time.Second) // what the opening took is given back
	return process(term.Cmd.Process.Pid).memory()
}
