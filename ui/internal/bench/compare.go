//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/ui/internal/runner"
)

// compare feeds the host and its peers the same events and prints the results as a table.
func compare(args []string) error {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	program := flags.String("program", "", "the host; built when not given")
	rates := flags.String("rates", "1000,20000", "events a second")
	span := flags.Duration("for", 10*time.Second, "how long each run is fed")
	only := flags.String("only", "", "names of the peers, with commas; all that are installed when not given")
	repeat := flags.Int("repeat", 3, "runs of each; the one with the middle p50 is shown")
	dir, clean, err := begin(flags, args, program)
	if err != nil {
		return err
	}
	defer clean()
	plain, err := build(dir, "eventdeck/ui/internal/bench/plain")
	if err != nil {
		return err
	}
	all := []contender{{"eventdeck", "scanned, deduplicated, stored", func(rate int) (result, error) {
		return runHost(hostRun{program: *program, dir: dir, mode: event.ModePush, streams: 1, rate: rate, span: *span})
	}}}
	for _, p := range peers(plain) {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), p.name) {
			continue
		}
		if _, err := exec.LookPath(p.args[0]); err != nil {
			fmt.Fprintf(os.Stderr, "%s is not installed\n", p.args[0])
			continue
		}
		all = append(all, contender{p.name, p.note, func(rate int) (result, error) { return p.run(dir, rate, *span) }})
	}
	fmt.Printf("%s, %s. Events of %d bytes.\n", time.Now().UTC().Format("2006-01-02 15:04"), machine(), eventBytes)
	for field := range strings.SplitSeq(*rates, ",") {
		rate, err := strconv.Atoi(field)
		if err != nil || rate < 1 {
			return fmt.Errorf("%q is no number of events a second", field)
		}
		fmt.Printf("\nAt %s events/s for %v:\n\n", thousands(rate), *span)
		if err := compareAt(rate, *repeat, all); err != nil {
			return err
		}
	}
	fmt.Println("\nThe ratios are those of eventdeck to the program.")
	return nil
}

// contender is a compared program; the others are compared with the first one.
type contender struct {
	name, note string
	run        func(rate int) (result, error)
}

// compareAt feeds each program at a rate, repeat times, and prints the runs with the middle
// p50 as a table.
func compareAt(rate, repeat int, all []contender) error {
	runs := make([][]result, len(all))
	for range repeat { // in turns, so that load from outside affects all of them
		for i, c := range all {
			r, err := c.run(rate)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			runs[i] = append(runs[i], r)
		}
	}
	fmt.Println("| Program | visible p50 | p99 | ratio p50 | ratio p99 | seen in time | CPU of a core | frames/s, written | anonymous memory | |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	base := middleOf(runs[0])
	for i, c := range all {
		r := middleOf(runs[i])
		p50, p99 := quantile(r.visible, 0.5), quantile(r.visible, 0.99)
		fmt.Printf("| %s | %v | %v | %.2f | %.2f | %.0f %% | %.0f %% | %.0f, %d kB/s | %d MB | %s |\n", c.name, round(p50), round(p99),
			ratio(quantile(base.visible, 0.5), p50), ratio(quantile(base.visible, 0.99), p99),
			100*float64(len(r.visible))/float64(max(r.emitted, 1)), 100*r.cpu.Seconds()/r.span.Seconds(),
			float64(r.output.Frames)/r.span.Seconds(), int(float64(r.output.Bytes)/r.span.Seconds())/1000, r.memory>>20, c.note)
	}
	return nil
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

// middleOf returns the run with the middle p50.
func middleOf(runs []result) result {
	slices.SortFunc(runs, func(a, b result) int { return int(quantile(a.visible, 0.5) - quantile(b.visible, 0.5)) })
	return runs[len(runs)/2]
}

// run feeds the peer for a span and measures it.
func (p peer) run(dir string, rate int, span time.Duration) (res result, err error) {
	open := p.source
	if open == nil {
		open = piped
	}
	from, err := open(dir)
	if err != nil {
		return res, err
	}
	defer from.close()
	args := slices.Clone(p.args)
	if from.fill != nil {
		for i := range args {
			args[i] = from.fill.Replace(args[i])
		}
	}
	cmd := exec.Command(args[0], args[1:]...)
	if from.input != nil {
		cmd.Stdin = from.input
	}
	c := newClock()
	w := newWatch(c)
	term, err := runner.Start(cmd, p.plain, w.seen)
	if err != nil {
		return res, err
	}
	defer term.End(p.quit)
	if err := p.await(term); err != nil {
		return res, err
	}
	proc := process(cmd.Process.Pid)
	res.cpu, err = proc.cpuDuring(func() error {
		began, written := time.Now(), term.Output()
		err := from.feed(&pace{rate: rate}, c, span)
		res.emitted = c.emitted()
		res.span, res.output = time.Since(began), since(term.Output(), written)
		return err
	})
	if err != nil { // the program may have ended
		return res, fmt.Errorf("%w\n%s", err, term.Text())
	}
	res.visible = w.delays() // events that become visible later do not count
	res.memory, err = proc.memory()
	return res, err
}

// await waits until the peer is ready.
func (p peer) await(term *runner.Terminal) error {
	if p.ready == "" {
		time.Sleep(time.Second)
	} else {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := term.Wait(ctx, p.ready); err != nil {
			return err
		}
	}
	if p.keys == "" {
		return nil
	}
	return term.Keys(p.keys)
}

// piped is a source that writes to the standard input.
func piped(string) (*source, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s := lines(out, func() error { return errors.Join(in.Close(), out.Close()) })
	s.input = in
	return s, nil
}

// appended is a source that appends to a file.
func appended(dir string) (*source, error) {
	path := filepath.Join(dir, fmt.Sprintf("feed-%d.jsonl", time.Now().UnixNano()))
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := out.WriteString("{}\n"); err != nil { // some do not open an empty file
		return nil, err
	}
	s := lines(out, func() error { return errors.Join(out.Close(), os.Remove(path)) })
	s.fill = strings.NewReplacer("FILE", path)
	return s, nil
}

func lines(out *os.File, end func() error) *source {
	return &source{close: end, feed: func(p *pace, c *clock, span time.Duration) error {
		p.start()
		return feedLines(out, newTemplate(occurrence("")+"\n"), p, c, span)
	}}
}

// outlet is the destination of events: a file, a pipe, a connection.
type outlet interface {
	Write(b []byte) (int, error)
	SetWriteDeadline(t time.Time) error
}

// feedLines writes events when they are due.
func feedLines(out outlet, line *template, p *pace, c *clock, span time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), span)
	defer cancel()
	tick := time.NewTicker(gather)
	defer tick.Stop()
	sent := 0
	var b []byte
	for {
		if n := min(p.due()-sent, 100); n > 0 {
			first, n := c.emit(n)
			now := time.Now().UTC().Format(timeLayout)
			b = b[:0]
			for k := range n {
				b = line.append(b, first+k, now)
			}
			// A pipe blocks if its reader is slow.
			if err := out.SetWriteDeadline(time.Now().Add(span)); err != nil && !errors.Is(err, os.ErrNoDeadline) {
				return err
			}
			if _, err := out.Write(b); err != nil {
				if errors.Is(err, os.ErrDeadlineExceeded) {
					return nil
				}
				return err
			}
			sent += n
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
