//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/filter"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/seal"
)

// Numbers of measurements for each store.
const (
	curveCommits = 200
	curveGroup   = 50 // events in a commit
	curveKeys    = 100
	curveRepeat  = 11
)

// searches are the measured searches: for the rows of a window; for the first of a few hits; for a
// number without an index, until 100,000 events are examined; and the same over all events.
var searches = []struct {
	name, text string
	enough     func(hits int, f eventlog.Found) bool
}{
	{"a window of a word in one of 32", "db-17", func(hits int, f eventlog.Found) bool { return hits >= 10_000 || f.Examined >= 100_000 }},
	{"newest event of a word in one of 900", "999", func(hits int, _ eventlog.Found) bool { return hits > 0 }},
	{"a number that is nowhere, newest 100,000", ".n<0", func(_ int, f eventlog.Found) bool { return f.Examined >= 100_000 }},
	{"the same, all events", ".n<0", func(int, eventlog.Found) bool { return false }},
}

// curves measures the cost of a commit, a search and a key with more and more stored events. It
// removes its stores.
func curves(args []string) (err error) {
	flags := flag.NewFlagSet("curves", flag.ContinueOnError)
	most := flags.Int("most", 10_000_000, "stored events of the last of the stores, which begin with 10,000 and grow tenfold")
	program := flags.String("program", "", "the host; built when not given")
	dir, clean, err := begin(flags, args, program)
	if err != nil {
		return err
	}
	defer clean()
	fmt.Println(machine())
	fmt.Printf("| Stored events | commit of %d, p50; p99 | key to frame, p50; p99 | CPU of a key |", curveGroup)
	for _, s := range searches {
		fmt.Printf(" %s |", s.name)
	}
	fmt.Print("\n|---|---|---|---|---|---|---|---|\n")
	for events := 10_000; events <= *most; events *= 10 {
		data := filepath.Join(dir, fmt.Sprint(events))
		if err := errors.Join(curve(*program, data, events), os.RemoveAll(data)); err != nil {
			return err
		}
	}
	return nil
}

// curve prints the row of one store.
func curve(program, data string, events int) error {
	if err := fill(data, events); err != nil {
		return err
	}
	keys, used, err := keyed(program, data)
	if err != nil {
		return err
	}
	s, err := store.Open(context.Background(), store.Options{Dir: data, Keyring: seal.NoKeyring()})
	if err != nil {
		return err
	}
	found, err := searched(eventlog.New(s))
	var commits []time.Duration
	if err == nil {
		commits, err = committed(s, events)
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	fmt.Printf("| %s | %v; %v | %v; %v | %v |", thousands(events), brief(quantile(commits, 0.5)), brief(quantile(commits, 0.99)),
		brief(quantile(keys, 0.5)), brief(quantile(keys, 0.99)), brief(used))
	for _, d := range found {
		fmt.Printf(" %v |", brief(d))
	}
	fmt.Println()
	return nil
}

// brief rounds to significant digits.
func brief(d time.Duration) time.Duration {
	switch {
	case d > 100*time.Millisecond:
		return d.Round(time.Millisecond)
	case d > time.Millisecond:
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(time.Microsecond)
}

// committed stores groups of events one after another.
func committed(s *store.Store, from int) (took []time.Duration, err error) {
	ctx := context.Background()
	key := event.Key{Server: "pager", Type: trust.Untrusted("deploy.changed"), Args: []byte("{}")}
	for i := range curveCommits {
		b := event.Batch{Sub: key.ID()}
		for k := range curveGroup {
			b.Records = append(b.Records, record(key, from+i*curveGroup+k, time.Now().UTC()))
		}
		done := make(chan error, 1)
		b.Done = func(_ event.Outcome, err error) { done <- err }
		time.Sleep(6 * time.Millisecond) // the store pauses between commits, which is not measured
		began := time.Now()
		if err := s.Submit(ctx, b); err != nil {
			return nil, err
		}
		if err := <-done; err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}

// searched returns the median time of each search.
func searched(l *eventlog.Log) (took []time.Duration, err error) {
	ctx := context.Background()
	for _, s := range searches {
		f, err := filter.Parse(s.text, time.Now())
		if err != nil {
			return nil, err
		}
		var all []time.Duration
		for began := time.Now(); len(all) < curveRepeat && (len(all) == 0 || time.Since(began) < 10*time.Second); {
			hits, at := 0, time.Now()
			err := l.Search(ctx, f.Match, 0, func(found eventlog.Found) bool {
				hits += len(found.Seqs)
				return !s.enough(hits, found)
			})
			if err != nil {
				return nil, err
			}
			all = append(all, time.Since(at))
		}
		took = append(took, quantile(all, 0.5))
	}
	return took, nil
}

// keyed pages through the stream on a terminal and returns the times from each key to the next
// output, and the CPU time of one.
func keyed(program, data string) (took []time.Duration, used time.Duration, err error) {
	_, term, err := firstFrame(program, data)
	if err != nil {
		return nil, 0, err
	}
	defer term.End("q")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p := process(term.Cmd.Process.Pid)
	for rested := time.Duration(-1); ; { // until the identities are read
		now, err := p.cpu()
		if err != nil {
			return nil, 0, err
		}
		if now == rested {
			break
		}
		rested = now
		time.Sleep(500 * time.Millisecond)
	}
	if _, err := term.Answer(ctx, "2"); err != nil {
		return nil, 0, err
	}
	used, err = p.cpuDuring(func() error {
		for range curveKeys {
			time.Sleep(20 * time.Millisecond)
			d, err := term.Answer(ctx, "\x1b[5~")
			if err != nil {
				return err
			}
			took = append(took, d)
		}
		return nil
	})
	return took, used / curveKeys, err
}
