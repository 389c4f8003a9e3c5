//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"sync"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/seal"
)

// hookRun is one measurement of webhook deliveries. The sender is a separate process and gets it as
// JSON.
type hookRun struct {
	Hooks []hook // of the subscriptions
	CA    string // file with the authority of the receiver's certificate
	From  int    // number of the first delivery; no number is sent twice
	Conns int
	Rate  int // deliveries a second; 0: as many as are answered
	Bad   int // bad requests a second, on connections of their own
	For   time.Duration
}

// hook is the callback of a subscription.
type hook struct{ URL, Secret string }

// hookResult is the result of the sender.
type hookResult struct {
	Sent     int // deliveries, numbered from From
	Taken    int // deliveries that were answered with 2xx
	Bad      int // requests that were refused
	Statuses map[int]int
	P50, P99 time.Duration
	Took     time.Duration
	CPU      time.Duration
	Failed   string
}

// webhook measures the receiver with TLS, signatures and commits.
func webhook(args []string) (err error) {
	f := flag.NewFlagSet("webhook", flag.ContinueOnError)
	conns := f.Int("conns", 64, "connections of the sender")
	subs := f.Int("subs", 50, "subscriptions")
	length := f.Duration("for", 10*time.Second, "length of each measurement")
	rounds := f.Int("rounds", 3, "times that each is repeated")
	bad := f.Int("bad", 5000, "bad requests a second beside 1,000 good ones")
	full := f.Bool("full", false, "measure full speed alone")
	profile := f.String("cpuprofile", "", "file for a profile of the host")
	dir := f.String("dir", "", "where the store is made (default a temporary directory)")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *dir == "" {
		if *dir, err = os.MkdirTemp("", "eventdeck-bench"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(*dir)) }()
	}
	sync, err := fsyncTime(*dir)
	if err != nil {
		return err
	}
	fmt.Printf("%s; fsync of 4 KiB, p50: %v\n\n", machine(), sync)
	rig, err := newHookRig(*dir, *subs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rig.close()) }()
	if *profile != "" {
		file, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	fmt.Printf("%-34s %10s %10s %6s %9s %9s %9s %14s %14s %9s\n", "", "answered/s", "refused/s", "lost", "unstored", "p50", "p99", "CPU of host", "of sender", "a commit")
	for range *rounds {
		for _, run := range []struct {
			name string
			hookRun
		}{
			{fmt.Sprintf("%d connections, at full speed", *conns), hookRun{Conns: *conns}},
			{"1,000/s", hookRun{Conns: 16, Rate: 1000}},
			{fmt.Sprintf("1,000/s beside %d bad ones", *bad), hookRun{Conns: 16, Rate: 1000, Bad: *bad}},
		} {
			if *full && run.Rate > 0 {
				continue
			}
			run.For = *length
			if err := rig.measure(run.name, run.hookRun); err != nil {
				return err
			}
		}
	}
	return nil
}

// fsyncTime returns the median time of a small write with fsync.
func fsyncTime(dir string) (time.Duration, error) {
	f, err := os.CreateTemp(dir, "fsync")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	var took []time.Duration
	for range 200 {
		began := time.Now()
		if _, err := f.WriteAt(make([]byte, 4096), 0); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

// hookRig is a host with webhook subscriptions at a server that grants them.
type hookRig struct {
	dir   string
	store *store.Store
	host  *host.Host
	web   *http.Server
	subs  []event.SubID
	sent  int

	mu    sync.Mutex
	hooks map[string]hook // by the arguments
}

func newHookRig(dir string, subs int) (_ *hookRig, err error) {
	r := &hookRig{dir: dir, hooks: map[string]hook{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	ctx := context.Background()
	if r.store, err = store.Open(ctx, store.Options{Dir: filepath.Join(dir, "data"), Keyring: seal.NoKeyring()}); err != nil {
		return nil, err
	}
	if r.host, err = host.New(host.Options{Store: r.store, CADir: filepath.Join(dir, "ca")}); err != nil {
		return nil, err
	}
	r.web = &http.Server{Handler: http.HandlerFunc(r.serve), ReadHeaderTimeout: time.Minute}
	address, err := listen(r.web)
	if err != nil {
		return nil, err
	}
	r.host.AddServer(event.Server{Name: "sender", URL: address, Transport: event.TransportHTTP})
	for i := range subs {
		sub, err := r.host.Subscribe(ctx, host.Request{
			Server: "sender", Type: trust.Untrusted("load"), Mode: event.ModeWebhook, Args: fmt.Appendf(nil, `{"n":%d}`, i),
		})
		if err != nil {
			return nil, err
		}
		r.subs = append(r.subs, sub.ID)
	}
	return r, nil
}

func (r *hookRig) close() error {
	var errs []error
	if r.host != nil {
		errs = append(errs, r.host.Close())
	}
	if r.web != nil {
		errs = append(errs, r.web.Close())
	}
	if r.store != nil {
		errs = append(errs, r.store.Close())
	}
	return errors.Join(errs...)
}

// serve is an MCP server that grants webhook subscriptions.
func (r *hookRig) serve(w http.ResponseWriter, q *http.Request) {
	m, ok := mcptest.Read(w, q)
	if !ok {
		return
	}
	result := mcptest.NoMethod
	switch m.Method {
	case "server/discover":
		result = mcptest.Discovered("sender")
	case "events/list":
		result = `"result":{"events":[{"name":"load","delivery":["webhook"]}]}`
	case "events/subscribe":
		r.mu.Lock()
		r.hooks[string(m.Params.Arguments)] = m.Params.Delivery
		r.mu.Unlock()
		result = `"result":{"id":"s","refreshBefore":null,"cursor":null}`
	case "events/unsubscribe":
		result = `"result":{}`
	}
	m.Answer(w, result)
}

// measure runs a sender and checks that every acknowledged delivery is stored.
func (r *hookRig) measure(name string, run hookRun) error {
	run.CA, run.From = filepath.Join(r.dir, "ca", "ca.pem"), r.sent
	r.mu.Lock()
	for i := range r.subs {
		run.Hooks = append(run.Hooks, r.hooks[fmt.Sprintf(`{"n":%d}`, i)])
	}
	r.mu.Unlock()
	commits := r.store.Info().Load.Commits
	var res hookResult
	used, err := process(os.Getpid()).cpuDuring(func() (err error) {
		res, err = sendApart(run)
		return err
	})
	if err != nil {
		return err
	}
	commits = r.store.Info().Load.Commits - commits
	if res.Failed != "" {
		return fmt.Errorf("the sender: %s", res.Failed)
	}
	r.sent += res.Sent
	unstored := 0
	for n := run.From; n < r.sent; n++ {
		if !r.store.HasEvent(r.subs[n%len(r.subs)], trust.Untrusted(deliveryID(n))) {
			unstored++
		}
	}
	each := func(cpu time.Duration) string {
		return fmt.Sprintf("%.0f µs each", float64(cpu.Microseconds())/float64(max(1, res.Taken+res.Bad)))
	}
	fmt.Printf("%-34s %10.0f %10.0f %6d %9d %9v %9v %14s %14s %9.0f\n", name, float64(res.Taken)/res.Took.Seconds(), float64(res.Bad)/res.Took.Seconds(),
		res.Sent-res.Taken, unstored, res.P50.Round(10*time.Microsecond), res.P99.Round(10*time.Microsecond),
		each(used), each(res.CPU), float64(res.Taken)/float64(max(1, commits)))
	delete(res.Statuses, http.StatusNoContent)
	if len(res.Statuses) > 0 {
		fmt.Printf("  other answers: %v\n", res.Statuses)
	}
	return nil
}

// webhookSender is the command that runs the program as the sender.
const webhookSender = "webhook-send"

// sendApart runs a sender in a separate process.
func sendApart(run hookRun) (res hookResult, err error) {
	exe, err := os.Executable()
	if err != nil {
		return res, err
	}
	cmd := exec.Command(exe, webhookSender)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return res, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return res, err
	}
	if err := cmd.Start(); err != nil {
		return res, err
	}
	err = errors.Join(json.NewEncoder(in).Encode(run), in.Close(), json.NewDecoder(out).Decode(&res))
	err = errors.Join(err, cmd.Wait())
	res.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return res, err
}
