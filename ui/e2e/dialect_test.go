package e2e

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
)

// dialectCase is a dialect, with the promise that holds after a kill or a cut: that everything
// is replayed, or that every hole has a gap record.
type dialectCase struct {
	server, typ, args, mode string
	replayed                bool
}

func dialectCases() map[string]dialectCase {
	return map[string]dialectCase{
		"SEP-1803 in the connection": {"archive", "event://archive/load.tick", "", "push", false},
		"SEP-1803 by webhook":        {"archive", "event://archive/load.tick", "", "webhook", true},
		"MCPE":                       {"digest", "filtered-stream", `{"eventTypes":["load.*"]}`, "push", false},
	}
}

// tail is the command line that follows the case on a server.
func (c dialectCase) tail(w *world, address string) []string {
	args := []string{"tail", address, c.typ, "--mode", c.mode, "--from", "saved", "--data", w.data(), "--json"}
	if c.args != "" {
		args = append(args, "--args", c.args)
	}
	return args
}

// inFront puts a proxy in front of an address of any scheme.
func inFront(t *testing.T, address string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy(t, u.Host)
	u.Host = p.listener.Addr().String()
	return p, u.String()
}

// noSilentHole checks the numbers of load.tick: each occurs once, and a gap record stands
// where some are missing.
func (c dialectCase) noSilentHole(t *testing.T, stored []record) {
	t.Helper()
	seen := map[int]bool{}
	last, low, high, gap, holes := 0, 0, 0, false, 0
	for i, r := range stored {
		switch r.Kind {
		case "gap":
			gap = true
		case "rejected":
			t.Errorf("record %d was rejected", r.Seq)
		case "event":
			n := r.n(t)
			if seen[n] {
				t.Errorf("event %d is stored twice", n)
			}
			if last > 0 && n > last+1 {
				holes++
				if !gap && !c.replayed {
					t.Errorf("between %d and %d events are missing without a word: %s", last, n, brief(stored[max(0, i-6):min(len(stored), i+6)]))
				}
			}
			if low == 0 || n < low {
				low = n
			}
			seen[n], last, gap, high = true, n, false, max(high, n)
		}
	}
	if len(seen) < 100 {
		t.Fatalf("only %d events were stored", len(seen))
	}
	for n := low; c.replayed && n <= high; n++ {
		if !seen[n] {
			t.Fatalf("event %d of %d to %d is missing", n, low, high)
		}
	}
	t.Logf("%d events, each once, %d holes with a word", len(seen), holes)
}

// brief returns records, a line each.
func brief(records []record) string {
	var b strings.Builder
	for _, r := range records {
		fmt.Fprintf(&b, "\n%d %s %s%s%s %s", r.Seq, r.ReceivedAt.Format("05.000"), r.Kind, r.State, r.Cause, r.Data)
	}
	return b.String()
}

// A host that is killed leaves no silent hole in any dialect.
func TestKillInEveryDialect(t *testing.T) {
	for name, c := range dialectCases() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, address := w.serve(c.server, "--rate", "200")
			tail := c.tail(w, address)
			for i := range max(3, kills(t)/5) {
				var env []string
				if i == 1 {
					env = []string{envFailpoint + "=committed:3"}
				}
				p := w.start(env, tail...)
				if env != nil {
					if code := p.wait(); code == 0 {
						t.Fatal("the failpoint was not reached")
					}
					continue
				}
				p.await(p.stdout, 20+30*i, isEvent)
				p.kill()
			}
			p := w.start(nil, tail...)
			p.await(p.stdout, 150, isEvent)
			p.signal(syscall.SIGTERM)
			if code := p.wait(); code != 0 {
				t.Fatalf("tail ended with %d: %s", code, p.stderr.text())
			}
			c.noSilentHole(t, w.stored())
		})
	}
}

// A connection that is reset again and again leaves no silent hole either.
func TestResetInEveryDialect(t *testing.T) {
	for name, c := range dialectCases() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, direct := w.serve(c.server, "--rate", "200")
			proxy, address := inFront(t, direct)
			p := w.start([]string{envWatchdog + "=2s"}, c.tail(w, address)...)
			for i := range 4 {
				p.await(p.stdout, 50*(i+1), isEvent)
				proxy.reset()
			}
			p.await(p.stdout, 400, isEvent)
			p.signal(os.Interrupt)
			p.wait()
			c.noSilentHole(t, w.stored())
		})
	}
}

// The host gives up a server that falls silent without closing, and records a gap.
func TestSilenceInEveryDialect(t *testing.T) {
	for name, c := range dialectCases() {
		if c.mode != "push" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, direct := w.serve(c.server, "--rate", "100")
			proxy, address := inFront(t, direct)
			p := w.start([]string{envWatchdog + "=1s"}, c.tail(w, address)...)
			p.await(p.stdout, 50, isEvent)
			proxy.setMute(true)
			p.await(p.stdout, 1, func(s string) bool { return strings.Contains(s, `"state":"backoff"`) })
			proxy.setMute(false)
			proxy.reset()
			p.await(p.stdout, 1, func(s string) bool { return strings.Contains(s, `"cause":"no-replay"`) })
			p.await(p.stdout, 200, isEvent)
			p.signal(syscall.SIGTERM)
			p.wait()
			c.noSilentHole(t, w.stored())
		})
	}
}

// tail works on the first type of each demo server, without arguments and in mode
// auto.
func TestTailOnEveryDemoServer(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pager", "archive", "digest"} {
		w := newWorldAlone(t)
		_, address := w.serve(name, "--speed", "20")
		out, code := w.run("types", address, "--json")
		types := strings.Split(strings.TrimSpace(out), "\n")
		if code != 0 || !strings.HasPrefix(types[0], `{"name":"`) {
			t.Fatalf("%s: types ended with %d: %s", name, code, out)
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(types[0], `{"name":"`), `"`)
		if out, code := w.run("tail", address, first, "--count", "3", "--for", awaited); code != 0 {
			t.Errorf("%s: tail of %s ended with %d: %s", name, first, code, out)
		}
	}
}
