package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host"
	"eventdeck/host/attach"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

// demoFlags are the flags of demo.
type demoFlags struct {
	speed float64
	seed  int64
}

func (a *app) demoCommand() *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Open the screen on the built-in demo servers",
		Args:  plain.ExactArgs(0),
		Run: a.Run(func(cmd *cobra.Command, _ []string) error {
			if f.speed <= 0 {
				return plain.UsageErrorf("--speed must be more than 0")
			}
			return a.demo(cmd.Context(), f)
		}),
	}
	a.addScreenFlags(cmd)
	cmd.Flags().Float64Var(&f.speed, "speed", 1, "how many times faster than life the incident runs")
	cmd.Flags().Int64Var(&f.seed, "seed", 1, "fixes content and timing")
	return cmd
}

// demoSubscriptions are the subscriptions of a first start: the story first, then a little of
// what people say meanwhile. Together they use every mode. The last one collects events for a
// minute.
var demoSubscriptions = [...]struct {
	server, typ string
	mode        event.Mode
	args        string
}{
	{"pager", "incident.changed", event.ModePush, ""},
	{"pager", "alert.fired", event.ModePush, ""},
	{"pager", "page.sent", event.ModeWebhook, ""},
	{"pager", "deploy.changed", event.ModePoll, ""},
	{"pager", "incident.activity", event.ModePush, ""},
	{"chat", "message.posted", event.ModePoll, ""},
	{"chat", "presence.changed", event.ModePush, ""},
	{"archive", "event://archive/filed", event.ModePush, ""},
	{"digest", "filtered-stream", event.ModePush, `{"eventTypes":["canary.*"]}`},
	{"digest", "filtered-stream", event.ModePush, `{"eventTypes":["alert.*"],"channels":["cron"],"cronExpression":"* * * * *"}`},
}

// The demo servers make typical mistakes: the first page is signed with an unknown secret, and
// the streams of chat are cut when they have been open for demoCut of the incident (at speed
// 1); presence has no replay.
const (
	demoForgery = "signature-wrong-once"
	demoCut     = 35 * time.Second
)

func (a *app) demo(ctx context.Context, f demoFlags) (err error) {
	if err := a.needTerminal(); err != nil {
		return err
	}
	if len(a.Flags.Headers) > 0 {
		return plain.UsageErrorf("--header: the demo servers need none")
	}
	if c, err := a.Attached(ctx, a.KeptOrTemporary()); err != nil || c != nil {
		return a.demoElsewhere(ctx, c, err)
	}
	servers, stop, err := a.startServers(ctx, f)
	defer func() { err = errors.Join(err, stop()) }()
	if err != nil {
		return err
	}
	if !a.Flags.Screen.ReadOnly {
		model, end, err := a.startServer(ctx, "model", f)
		if err != nil {
			return err
		}
		defer func() { _ = end() }() // it answers questions only: nothing is lost with it
		a.Flags.Reacts, a.Flags.DemoModel = program.DemoReactions, model
	}
	d, err := a.Open(ctx, a.KeptOrTemporary(), false)
	if err != nil {
		return err
	}
	if d.Client != nil { // it has begun meanwhile
		return a.showDemoOf(ctx, d)
	}
	info := d.Store.Info()
	first := len(d.Store.Subscriptions()) == 0
	for _, s := range servers {
		d.AddServer(s)
	}
	wait := func() error { return nil }
	subscribing, cancel := context.WithCancel(ctx)
	if first {
		wait = subscribeDemo(subscribing, d)
	}
	err = d.WhileSound(ctx, func(ctx context.Context) error { return a.show(ctx, d, true) })
	cancel()
	waiting := d.Waiting()
	err = errors.Join(err, wait(), d.Close())
	a.sayWhereKept(info, "demo")
	a.sayWaiting(waiting)
	return err
}

// demoElsewhere shows the demo that runs in another process.
func (a *app) demoElsewhere(ctx context.Context, c *attach.Client, err error) error {
	if err != nil {
		return err
	}
	return a.showDemoOf(ctx, program.AttachedHost(c))
}

// startServers runs the demo servers that have an address, and returns how all of them are
// reached. stop ends them, also after an error; chat is a process that its host starts.
func (a *app) startServers(ctx context.Context, f demoFlags) (servers []event.Server, stop func() error, err error) {
	var stops program.Endings
	stop = func() error { return stops.End() }
	exe, err := a.Executable()
	if err != nil {
		return nil, stop, fmt.Errorf("find this program to start the chat server: %w", err)
	}
	chat := event.Server{Name: "chat", Command: exe, Args: []string{
		"demo-server", "chat",
		"--speed", strconv.FormatFloat(f.speed, 'g', -1, 64),
		"--seed", strconv.FormatInt(f.seed, 10),
		"--fault", "close-every=" + time.Duration(float64(demoCut)/f.speed).String(),
	}}
	for _, name := range []string{"pager", "archive", "digest"} {
		url, end, err := a.startServer(ctx, name, f)
		if err != nil {
			return nil, stop, err
		}
		stops = append(stops, end)
		servers = append(servers, event.Server{Name: name, URL: url})
	}
	return slices.Insert(servers, 1, chat), stop, nil
}

// startServer runs a demo server in this process, on loopback, and returns its address and a
// function that ends it. The end of ctx does not end it: after the signal that ends the
// program, subscriptions are still ended at the server.
func (a *app) startServer(ctx context.Context, name string, f demoFlags) (url string, stop func() error, err error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	lines, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		o := host.DemoOptions{Listen: "127.0.0.1:0", Speed: f.speed, Seed: f.seed, Out: io.Discard, Err: out}
		if name == "pager" {
			o.Faults = []string{demoForgery}
		}
		err := a.DemoServer(ctx, name, o)
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		_ = out.CloseWithError(io.EOF) // never fails
		done <- err
	}()
	r := bufio.NewReader(lines)
	line, readErr := r.ReadString('\n')
	// The server must never wait for a reader.
	var drain sync.WaitGroup
	drain.Go(func() { _, _ = io.Copy(io.Discard, r) })
	stop = func() error {
		cancel()
		err := <-done
		drain.Wait()
		return err
	}
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if readErr != nil || !ok {
		return "", nil, errors.Join(fmt.Errorf("the demo server %s did not start", name), stop())
	}
	return url, stop, nil
}

// subscribeDemo begins the subscriptions of a first start. wait waits until that is done and
// returns what failed.
func subscribeDemo(ctx context.Context, d *program.OpenHost) (wait func() error) {
	var wg sync.WaitGroup
	errs := make([]error, len(demoSubscriptions))
	for i, w := range demoSubscriptions {
		wg.Go(func() {
			_, errs[i] = d.Subscribe(ctx, host.Request{Server: w.server, Type: trust.Untrusted(w.typ), Args: []byte(w.args), Mode: w.mode})
		})
	}
	return func() error {
		wg.Wait()
		if ctx.Err() != nil && !anyReal(errs) {
			return nil
		}
		return errors.Join(errs...)
	}
}

// anyReal reports whether something failed for a reason other than the end of the program.
func anyReal(errs []error) bool {
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return true
		}
	}
	return false
}
