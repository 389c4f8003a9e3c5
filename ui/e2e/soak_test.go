//go:build !windows

package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Variables of the soak over real processes. A long one:
//
//	EVENTDECK_SOAK=30m EVENTDECK_SOAK_REPORT=/tmp/soak go test ./ui/e2e -run TestSoak -timeout 2h -v
const (
	envSoak       = "EVENTDECK_SOAK"        // duration in each mode; default 4 s
	envSoakReport = "EVENTDECK_SOAK_REPORT" // directory for a report in JSON for each mode
	envSoakSeed   = "EVENTDECK_SOAK_SEED"   // of the choice of faults; default 1
)

// soakRate is how many events happen in a second.
const soakRate = 200

// soakReport is what a soak found.
type soakReport struct {
	Mode        string         `json:"mode"`
	Seed        uint64         `json:"seed"`
	Took        string         `json:"took"`
	Faults      map[string]int `json:"faults"`
	ServerRuns  int            `json:"serverRuns"`  // the history was lost between them
	Sent        int            `json:"sent"`        // events of these runs from the first one owed
	Stored      int            `json:"stored"`      // each once
	Unreplayed  int            `json:"unreplayed"`  // gone with a run's history, behind a gap record
	Lost        int            `json:"lost"`        // the server could have replayed them
	Doubled     int            `json:"doubled"`     // stored more than once
	SilentGaps  int            `json:"silentGaps"`  // gone with a run's history, without a gap record
	Gaps        map[string]int `json:"gaps"`        // records by cause
	Rejected    int            `json:"rejected"`    // payloads
	FirstFailed int            `json:"firstFailed"` // hosts whose first connection failed, and were started again
	LookedAlive int            `json:"lookedAlive"` // silences that no state change told
}

// broken counts the broken promises.
func (r soakReport) broken() int { return r.Lost + r.Doubled + r.SilentGaps + r.LookedAlive }

// TestSoak lives through faults of real processes, sockets and clocks, in each
// mode, and holds the store against what the servers sent.
func TestSoak(t *testing.T) {
	length := 4 * time.Second
	if text := os.Getenv(envSoak); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("%s: %v", envSoak, err)
		}
		length = d
	}
	seed := uint64(1)
	if text := os.Getenv(envSoakSeed); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatalf("%s: %v", envSoakSeed, err)
		}
	}
	modes(t, func(t *testing.T, mode string) {
		s := newSoak(t, mode, seed)
		r := s.run(length)
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s", text)
		if dir := os.Getenv(envSoakReport); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, "soak-"+mode+".json"), text, 0o600); err != nil {
				t.Error(err)
			}
		}
		if r.broken() > 0 {
			t.Errorf("%d promises broken", r.broken())
		}
		if r.Stored == 0 {
			t.Error("nothing was stored")
		}
	})
}

// serverRun is one life of the server. A server that is killed has lost its history.
type serverRun struct {
	name   string
	killed time.Time // zero: it lives
	last   int       // newest event when it was killed, or at the end
}

type soak struct {
	t    *testing.T
	w    *world
	mode string
	rand *rand.Rand

	brief bool // short faults

	server   *process
	address  string // of the server
	direct   string // its endpoint
	front    *proxy // before the server
	url      string // the server's endpoint behind front
	hooks    *proxy // before the receiver; webhook only
	receiver string // the receiver's address
	host     *tally
	clock    string // file
	owed     string // cursor before the first event that is owed
	runs     []*serverRun
	report   soakReport
}

func newSoak(t *testing.T, mode string, seed uint64) *soak {
	s := &soak{t: t, w: newWorldAlone(t), mode: mode, rand: rand.New(rand.NewPCG(seed, uint64(len(mode))))}
	s.report = soakReport{Mode: mode, Seed: seed, Faults: map[string]int{}, Gaps: map[string]int{}}
	s.clock = filepath.Join(s.w.dir, "clock")
	s.address, s.receiver = freeAddress(t), freeAddress(t)
	s.startServer()
	s.front, s.url = behind(t, s.direct)
	if mode == "webhook" {
		s.hooks = newProxy(t, s.receiver)
	}
	s.owed = pollServer(t, s.direct, "null").Cursor
	s.startHost()
	return s
}

// freeAddress returns an address on loopback on which nothing listened just now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (s *soak) startServer() {
	s.server, s.direct = s.w.pager("--rate", fmt.Sprint(soakRate), "--listen", s.address)
	cursor := pollServer(s.t, s.direct, "null").Cursor
	name, _, _ := strings.Cut(cursor, ".")
	s.runs = append(s.runs, &serverRun{name: name})
}

func (s *soak) startHost() {
	args := []string{"tail", s.url, "load.tick", "--mode", s.mode, "--from", "saved", "--data", s.w.data(), "--json"}
	if s.mode == "webhook" {
		args = append(args, "--listen", s.receiver, "--callback-url", "https://"+s.hooks.listener.Addr().String())
	}
	if len(s.runs) == 1 && s.host == nil {
		args[6] = s.owed // the first one begins where the account does
	}
	s.host = s.w.tally([]string{envWatchdog + "=1s", envClock + "=" + s.clock}, args...)
}

// faults are the faults that a soak injects, by name.
func (s *soak) faults() map[string]func() {
	f := map[string]func(){
		"host killed":    func() { s.host.kill(); s.startHost() },
		"host stopped":   func() { s.host.stopFor(s.between(200, 2500)) },
		"server stopped": func() { stopFor(s.server.cmd, s.between(200, 4000)) },
		"server killed, history lost": func() {
			s.endRun()
			time.Sleep(s.between(0, 1000))
			s.startServer()
		},
		"connections reset":               func() { s.front.reset() },
		"answers of 429, 503 and garbage": func() { s.answerBadly(s.between(100, 3000)) },
		"silence":                         func() { s.silence(s.front, s.between(100, 4500)) },
		"clock jumps": func() {
			s.setClock(time.Duration(s.rand.IntN(1200)-600) * time.Second)
			time.Sleep(s.between(200, 2000))
			s.setClock(0)
		},
		"several at once": func() {
			s.front.reset()
			stopFor(s.server.cmd, s.between(10, 300))
			s.host.kill()
			s.startHost()
		},
	}
	if s.mode == "webhook" {
		f["deliveries reset"] = func() { s.hooks.reset() }
		f["deliveries silent"] = func() { s.mute(s.hooks, s.between(100, 3000)) }
		f["certificate and authority changed"] = func() {
			s.host.kill()
			if err := os.RemoveAll(filepath.Join(s.w.dir, "state", "eventdeck", "ca")); err != nil {
				s.t.Fatal(err)
			}
			s.startHost()
		}
	}
	return f
}

func (s *soak) between(from, to int) time.Duration {
	d := time.Duration(from+s.rand.IntN(to-from)) * time.Millisecond
	if s.brief {
		d /= 4
	}
	return d
}

// answerBadly puts another server in place of the right one for a while, which
// answers every request with 429, 503 or garbage.
func (s *soak) answerBadly(d time.Duration) {
	var asked atomic.Int64
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch asked.Add(1) % 4 {
		case 0:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":`)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: \x00\xff garbage\n\n<html>")
		}
	}))
	defer bad.Close()
	began := time.Now()
	s.front.lead(strings.TrimPrefix(bad.URL, "http://"))
	time.Sleep(d)
	s.front.lead(s.address)
	took := time.Since(began) // on a busy machine it is longer than d
	if n := asked.Load(); n > 50+int64(took/time.Second)*50 {
		s.t.Errorf("%d requests in %v to a server that answers badly", n, took)
	}
}

// lead makes the proxy connect elsewhere.
func (p *proxy) lead(target string) {
	p.mu.Lock()
	p.target = target
	p.mu.Unlock()
	p.reset()
}

// run injects faults for a while, lets the host catch up, and judges.
func (s *soak) run(length time.Duration) soakReport {
	began := time.Now()
	s.brief = length < time.Minute
	faults := s.faults()
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range faults {
			if !yield(name) {
				return
			}
		}
	})
	told := began
	for time.Since(began) < length {
		time.Sleep(s.between(100, 1500))
		name := names[s.rand.IntN(len(names))]
		faults[name]()
		s.report.Faults[name]++
		if s.host.gaveUp(s.t, name) {
			s.report.FirstFailed++
			s.startHost()
		}
		if time.Since(told) > time.Minute {
			told = time.Now()
			s.t.Logf("%s: %v, %d faults in %v, %d server runs, %d events printed", s.mode, time.Since(began).Round(time.Second), sum(s.report.Faults), s.report.Faults, len(s.runs), s.host.events.Load())
			fmt.Fprintf(os.Stderr, "soak %s: %v of %v, faults %v\n", s.mode, time.Since(began).Round(time.Second), length, s.report.Faults)
		}
	}
	s.settle()
	s.judge(s.w.stored())
	s.report.Took = time.Since(began).Round(time.Second).String()
	return s.report
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

// endRun notes the newest event of the server and kills it.
func (s *soak) endRun() {
	run := s.runs[len(s.runs)-1]
	run.last = position(s.t, pollServer(s.t, s.direct, "null").Cursor)
	s.server.kill()
	run.killed = time.Now()
}

// settle waits until the host has everything that the server holds, and ends it.
func (s *soak) settle() {
	s.host.kill() // a new one has every delivery tried again at once
	s.startHost()
	run := s.runs[len(s.runs)-1]
	run.last = position(s.t, pollServer(s.t, s.direct, "null").Cursor)
	if !s.host.await(patience, func() bool { return s.host.mark(run.name) >= run.last }) {
		s.t.Errorf("%s: the host has printed cursor %d of run %s, the server was at %d\n%s", s.mode, s.host.mark(run.name), run.name, run.last, s.host.stderr.text())
	}
	s.host.end(s.t)
}

func (s *soak) setClock(d time.Duration) {
	temp := s.clock + ".new"
	if err := os.WriteFile(temp, []byte(d.String()), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(temp, s.clock); err != nil {
		s.t.Fatal(err)
	}
}

func (s *soak) mute(p *proxy, d time.Duration) {
	p.setMute(true)
	time.Sleep(d)
	p.setMute(false)
	p.reset() // what was swallowed is missing in the middle of these connections
}

// silence mutes the server. A stream that was silent for long must not look alive.
func (s *soak) silence(p *proxy, d time.Duration) {
	down := s.host.downs.Load()
	events := s.host.events.Load()
	p.setMute(true)
	time.Sleep(d)
	if s.mode == "push" && d > 4*time.Second && events > 0 {
		told := func() bool { return s.host.downs.Load() > down || s.host.isDown() }
		for deadline := time.Now().Add(patience); !told(); time.Sleep(50 * time.Millisecond) { // a busy machine is late
			if time.Now().After(deadline) {
				s.report.LookedAlive++
				s.t.Errorf("silent for %v and more, and no record says so", d)
				break
			}
		}
	}
	p.setMute(false)
	p.reset()
}

func stopFor(cmd *exec.Cmd, d time.Duration) {
	_ = cmd.Process.Signal(syscall.SIGSTOP) // one that has ended is found by others
	time.Sleep(d)
	_ = cmd.Process.Signal(syscall.SIGCONT)
}

// judge compares the store with the runs of the server.
func (s *soak) judge(stored []record) {
	r := &s.report
	have, newest := map[string]map[int]int{}, map[string]uint64{}
	var gaps []uint64
	for _, rec := range stored {
		switch rec.Kind {
		case "gap":
			gaps = append(gaps, rec.Seq)
			r.Gaps[rec.Cause]++
		case "rejected":
			r.Rejected++
		case "event":
			name := strings.Split(rec.EventID, "-")[1]
			if have[name] == nil {
				have[name] = map[int]int{}
			}
			have[name][rec.n(s.t)]++
			newest[name] = rec.Seq
		}
	}
	r.ServerRuns = len(s.runs)
	for i, run := range s.runs {
		first := 1
		if i == 0 {
			first = position(s.t, s.owed) + 1
		}
		gone := 0
		for n := first; n <= run.last; n++ {
			r.Sent++
			switch c := have[run.name][n]; {
			case c == 1:
				r.Stored++
			case c > 1:
				r.Doubled++
			case run.killed.IsZero():
				r.Lost++
				s.t.Logf("run %s, event %d is lost", run.name, n)
			default:
				gone++
			}
		}
		if gone == 0 {
			continue
		}
		// A gap record must be behind the events of this run, before the last event of the
		// next one.
		from, to := uint64(0), uint64(math.MaxUint64)
		for _, earlier := range s.runs[:i+1] {
			from = max(from, newest[earlier.name])
		}
		for _, later := range s.runs[i+1:] {
			if at := newest[later.name]; at > 0 {
				to = at
				break
			}
		}
		if slices.ContainsFunc(gaps, func(at uint64) bool { return at > from && at < to }) {
			r.Unreplayed += gone
		} else {
			r.SilentGaps += gone
		}
		s.t.Logf("run %s ended at %d, %d of its events were not there in time", run.name, run.last, gone)
	}
}
