//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/ui/internal/runner"
)

// ingest measures how many events a second the host receives and stores, with its screen open.
func ingest(args []string) error {
	flags := flag.NewFlagSet("ingest", flag.ContinueOnError)
	mode := flags.String("mode", "push", "push or poll")
	streams := flags.Int("streams", 50, "subscriptions")
	rate := flags.Int("rate", 0, "events a second in all; 0: as fast as they are accepted")
	span := flags.Duration("for", time.Minute, "how long")
	program := flags.String("program", "", "the host; built when not given")
	pprof := flags.String("pprof", "", "address at which the host serves profiles")
	bounded := flags.Bool("retention", false, "with the retention of every new store, which removes the oldest events")
	rules := flags.Int("rules", 0, "rules on the type of the events; none matches")
	paced := flags.Int("paced", 90_000, "events a second of a second run that the host keeps up with; 0: no second run")
	dir, clean, err := begin(flags, args, program)
	if err != nil {
		return err
	}
	defer clean()
	run := hostRun{
		program: *program, dir: dir, mode: event.Mode(*mode), streams: *streams, rate: *rate, span: *span, pprof: *pprof, bounded: *bounded, rules: *rules,
	}
	fmt.Println(machine())
	res, err := runHost(run)
	if err != nil {
		return err
	}
	fmt.Println(res)
	fmt.Println(res.screen)
	if *paced > 0 && *rate == 0 {
		run.rate, run.span = *paced, min(*span, pacedFor)
		if res, err = runHost(run); err != nil {
			return err
		}
		fmt.Printf("paced, %s/s for %v: %s\n", thousands(run.rate), run.span, res)
	}
	return nil
}

// pacedFor bounds the paced run: long enough to show a growing delay.
const pacedFor = 20 * time.Second

// begin parses the flags of a measurement and makes a workspace.
func begin(flags *flag.FlagSet, args []string, program *string) (dir string, clean func(), err error) {
	if err := flags.Parse(args); err != nil {
		return "", nil, err
	}
	return workspace(program)
}

// workspace makes a directory for a measurement, and builds the host there if none is
// given. clean removes it.
func workspace(program *string) (dir string, clean func(), err error) {
	if dir, err = os.MkdirTemp("", "eventdeck-bench"); err != nil {
		return "", nil, err
	}
	clean = func() { os.RemoveAll(dir) }
	if *program == "" {
		if *program, err = build(dir, "eventdeck"); err != nil {
			clean()
			return "", nil, err
		}
	}
	return dir, clean, nil
}

// build compiles a program by its import path.
func build(dir, pkg string) (string, error) {
	path := filepath.Join(dir, "program-"+filepath.Base(pkg))
	out, err := exec.Command("go", "build", "-o", path, pkg).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build %s: %w: %s", pkg, err, out)
	}
	return path, nil
}

// hostRun is one run of the host with its screen.
type hostRun struct {
	program, dir string
	mode         event.Mode
	streams      int
	rate         int
	span         time.Duration
	pprof        string
	bounded      bool // with the store's usual retention
	rules        int  // on the type of the events
}

// result is the result of one run of a program.
type result struct {
	emitted, kept int
	pruned        int              // records of kept that retention removed
	took          time.Duration    // until the last one was received
	span          time.Duration    // in which cpu was used
	ingest        [3]time.Duration // emit to receipt: p50, p99, most
	visible       []time.Duration  // emit to visible, of each event
	cpu           time.Duration
	output        runner.Output
	memory        int
	screen        string
}

func (r result) String() string {
	pruned := ""
	if r.pruned > 0 {
		pruned = fmt.Sprintf(" (%s of them by their sequence numbers: retention removed them)", thousands(r.pruned))
	}
	return fmt.Sprintf("%s emitted, %s kept and verified%s, %s/s; emit to receipt p50 %v, p99 %v, most %v; emit to visible p50 %v, p99 %v; %.0f %% of a core, %.2f µs CPU an event; %d MB anonymous",
		thousands(r.emitted), thousands(r.kept), pruned, thousands(r.perSecond()), r.ingest[0], r.ingest[1], r.ingest[2],
		quantile(r.visible, 0.5).Round(100*time.Microsecond), quantile(r.visible, 0.99).Round(100*time.Microsecond),
		100*r.cpu.Seconds()/r.span.Seconds(), r.cpu.Seconds()*1e6/float64(max(r.kept, 1)), r.memory>>20)
}

func (r result) perSecond() int { return int(float64(r.kept) / r.took.Seconds()) }

// runHost feeds the host for a span, and then verifies its store.
func runHost(run hostRun) (res result, err error) {
	c := newClock()
	f, err := newFeeder(run.mode, run.streams, run.rate, 0, false, c)
	if err != nil {
		return res, err
	}
	defer f.close()
	data := filepath.Join(run.dir, fmt.Sprintf("data-%d", time.Now().UnixNano()))
	defer os.RemoveAll(data)
	if err := subscribed(data, f.address, run.mode, run.streams, run.bounded); err != nil {
		return res, err
	}
	args := []string{"--data", data}
	if run.pprof != "" {
		args = append(args, "--pprof", run.pprof)
	}
	watch := newWatch(c)
	if run.rules > 0 {
		config, err := listening(data, f.address, run.rules)
		if err != nil {
			return res, err
		}
		args = append(args, "--config", config)
	}
	term, err := runner.Start(exec.Command(run.program, append(args, f.address)...), false, watch.seen)
	if err != nil {
		return res, err
	}
	defer func() {
		if err != nil {
			term.End("q")
		}
	}()
	if err := awaitFeed(f, term); err != nil {
		return res, err
	}
	p := process(term.Cmd.Process.Pid)
	began := time.Now()
	res.cpu, err = p.cpuDuring(func() error {
		written := term.Output()
		time.Sleep(run.span)
		f.stop()
		res.emitted = c.end()
		settle(res.emitted, watch.newest)
		settle(res.emitted, func() int { return storedShown(term) }) // other streams may lag behind the newest event
		res.output = since(term.Output(), written)
		return nil
	})
	if err != nil {
		return res, fmt.Errorf("the host ended: %w\n%s", err, term.Text())
	}
	res.span = time.Since(began)
	if res.memory, err = p.memory(); err != nil {
		return res, err
	}
	res.visible, res.screen = watch.delays(), term.Text()
	term.End("q")
	last, err := verify(data, run.bounded, &res)
	res.took = last.Sub(began)
	if err != nil {
		err = fmt.Errorf("the store when nothing more had come for ten seconds: %w", err)
	}
	return res, err
}

var storedOnScreen = regexp.MustCompile(`([\d,]+) stored`)

// storedShown returns the number of stored events on the screen, 0 if there is none.
func storedShown(term *runner.Terminal) int {
	m := storedOnScreen.FindStringSubmatch(term.Text())
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.ReplaceAll(m[1], ",", "")) // digits and commas
	return n
}

// settle waits until value is n, or has not changed for ten seconds.
func settle(n int, value func() int) {
	last, since := value(), time.Now()
	for last < n && time.Since(since) < 10*time.Second {
		time.Sleep(50 * time.Millisecond) // shorter pauses would disturb the measurement
		if now := value(); now != last {
			last, since = now, time.Now()
		}
	}
}

func since(now, then runner.Output) runner.Output {
	return runner.Output{Bytes: now.Bytes - then.Bytes, Frames: now.Frames - then.Frames}
}

// awaitFeed waits until all streams are open.
func awaitFeed(f *feeder, term *runner.Terminal) error {
	if !within30s(func() bool { return f.began.Load() != 0 }) {
		return fmt.Errorf("the host opened %d of %d streams\n%s", f.opened.Load(), f.streams, term.Text())
	}
	return nil
}

// within30s waits for a condition, at most 30 seconds.
func within30s(holds func() bool) bool {
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// listening makes a configuration with n rules on the feeder's events that match none.
func listening(data, address string, n int) (config string, err error) {
	var rules []string
	for i := range n {
		rules = append(rules, fmt.Sprintf(`"rule-%d":{"on":{"server":%q,"type":%q},"when":".service=none-%d","do":{"note":"seen"}}`, i, address, loadType, i))
	}
	config = filepath.Join(data, "servers.json")
	err = os.WriteFile(filepath.Join(data, "rules.json"), []byte(`{"rules":{`+strings.Join(rules, ",")+`}}`), 0o600)
	return config, errors.Join(err, os.WriteFile(config, []byte(`{"mcpServers":{}}`), 0o600))
}

// subscribed makes a store with subscriptions of the feeder; bounded: see [openLoader].
func subscribed(dir, address string, mode event.Mode, streams int, bounded bool) (err error) {
	l, err := openLoader(dir, bounded, store.Hooks{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	for i := range streams {
		key := event.Key{Server: address, Type: trust.Untrusted(loadType), Args: streamArgs(i)}
		if err := l.add(event.Batch{Sub: key.ID(), Update: func(sub *event.Subscription) {
			sub.Key, sub.Mode, sub.Created = key, mode, time.Now()
		}}, nil); err != nil {
			return err
		}
	}
	return nil
}
