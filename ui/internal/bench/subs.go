//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/ui/internal/runner"
)

// subs measures the memory of an idle push subscription: the difference between a host with many
// and one with one of them.
func subs(args []string) error {
	flags := flag.NewFlagSet("subs", flag.ContinueOnError)
	many := flags.Int("n", 1000, "subscriptions")
	over := flags.String("over", "HTTP/2,HTTP/1.1,stdio", "transports")
	program := flags.String("program", "", "the host; built when not given")
	profiles := flags.String("profiles", "", "directory for the profiles of the host with many of them")
	dir, clean, err := begin(flags, args, program)
	if err != nil {
		return err
	}
	defer clean()
	fmt.Println(machine())
	for _, transport := range strings.Split(*over, ",") {
		name := strings.ReplaceAll(transport, "/", "-")
		one, err := holding(*program, filepath.Join(dir, "one-"+name), 1, transport, "")
		if err != nil {
			return err
		}
		keep := ""
		if *profiles != "" {
			keep = filepath.Join(*profiles, name)
		}
		all, err := holding(*program, filepath.Join(dir, "many-"+name), *many, transport, keep)
		if err != nil {
			return err
		}
		each := func(all, one int) float64 { return float64(all-one) / float64(*many-1) / 1024 }
		fmt.Printf("%d idle push subscriptions over %s: %.1f KB each of anonymous memory (%.1f MB in all, %.1f MB with one); after a collection %.1f KB of heap and %.1f KB of stacks, of it %.1f KB of values\n",
			*many, transport, each(all.anonymous, one.anonymous), float64(all.anonymous)/(1<<20), float64(one.anonymous)/(1<<20),
			each(all.heap, one.heap), each(all.stacks, one.stacks), each(all.values, one.values))
	}
	return nil
}

// held is the memory of a host, in bytes.
type held struct {
	anonymous int // resident, without files
	// After a collection:
	heap   int // spans in use
	stacks int
	values int // in use in the heap
}

// holding returns the memory of a host with n idle subscriptions. If profiles is not empty,
// profiles are written to files whose names begin with it.
func holding(program, data string, n int, transport, profiles string) (h held, err error) {
	address, opened, end, err := idleServer(data, n, transport)
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := subscribed(data, address, event.ModePush, n, true); err != nil {
		return h, err
	}
	pprof, err := freeAddress()
	if err != nil {
		return h, err
	}
	_, term, err := firstFrame(program, data, "--pprof", pprof, address)
	if err != nil {
		return h, err
	}
	defer term.End("q")
	if err := opened(term); err != nil {
		return h, err
	}
	time.Sleep(10 * time.Second) // until memory of the start is released
	if h.anonymous, err = process(term.Cmd.Process.Pid).memory(); err != nil {
		return h, err
	}
	if profiles != "" {
		for name, query := range map[string]string{"heap": "heap?gc=1", "goroutines": "goroutine?debug=1"} {
			raw, err := fetch("http://" + pprof + "/debug/pprof/" + query)
			if err != nil {
				return h, err
			}
			if err := os.WriteFile(profiles+"."+name, raw, 0o644); err != nil {
				return h, err
			}
		}
	}
	return h, h.collect(pprof)
}

// idleServer starts a server that sends nothing. opened waits until all streams are open.
func idleServer(data string, streams int, transport string) (address string, opened func(*runner.Terminal) error, end func() error, err error) {
	if transport != "stdio" {
		f, err := newFeeder(event.ModePush, streams, 1, 1, transport == "HTTP/2", newClock())
		if err != nil {
			return "", nil, nil, err
		}
		return f.address, func(term *runner.Terminal) error { return awaitFeed(f, term) }, f.close, nil
	}
	all := data + ".opened" // exists when all streams are open
	address, err = pipeAddress(streams, all)
	opened = func(term *runner.Terminal) error {
		if !within30s(func() bool { _, err := os.Stat(all); return err == nil }) {
			return fmt.Errorf("the host did not open %d streams\n%s", streams, term.Text())
		}
		return nil
	}
	return address, opened, func() error { return nil }, err
}

// freeAddress returns an unused address on loopback.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func fetch(url string) ([]byte, error) {
	resp, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// memStat matches statistics at the end of a heap profile in text form.
var memStat = regexp.MustCompile(`(?m)^# (HeapInuse|HeapAlloc|Stack) = (\d+)`)

// collect makes the host collect garbage and reads the remaining memory.
func (h *held) collect(pprof string) error {
	for range 3 { // stacks shrink by half each time
		raw, err := fetch("http://" + pprof + "/debug/pprof/heap?debug=1&gc=1")
		if err != nil {
			return err
		}
		for _, m := range memStat.FindAllSubmatch(raw, -1) {
			n, err := strconv.Atoi(string(m[2]))
			if err != nil {
				return err
			}
			switch string(m[1]) {
			case "HeapInuse":
				h.heap = n
			case "HeapAlloc":
				h.values = n
			case "Stack":
				h.stacks = n
			}
		}
	}
	if h.heap == 0 || h.stacks == 0 {
		return errors.New("the host's heap profile has no numbers")
	}
	return nil
}
