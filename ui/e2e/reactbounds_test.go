//go:build !windows

package e2e

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A command at its time limit ends with the processes that it started, even if they ignore
// SIGTERM and hold its output: the run has failed, and the output is cut and counted. How soon
// it ends is measured in host/react/act, on an otherwise idle machine.
func TestReactionAtItsLimitEnds(t *testing.T) {
	r := newReacting(t, `{"rules":{"page":{ON,"when":".severity=P1","limits":{"time":"5s"},"do":{"command":["DIR/page"]}}}}`)
	// The command ignores SIGTERM, so that a slow machine has until SIGKILL to write.
	r.command("page", `trap "" TERM
( while :; do /bin/sleep 0.1; done ) &
echo $! > `+r.told+`/child
/usr/bin/head -c 200000 /dev/zero | /usr/bin/tr '\0' x
wait`)
	r.host()
	r.server.send(`{"severity":"P1"}`)
	run := r.asking(1)[0]
	r.does("approve", run.ID, run.Hash)
	r.awaitStarts("page", 1)
	began := time.Now()
	failed := r.in("failed", 1)[0]
	t.Logf("it ended %v after its start; the limit is 5 s, what does not listen is killed 5 s later", time.Since(began))
	if !strings.Contains(failed.Why, "limit of 5s") {
		t.Errorf("it failed: %s", failed.Why)
	}
	child, err := strconv.Atoi(strings.TrimSpace(r.read("told/child")))
	if err != nil {
		t.Fatal(err)
	}
	r.until("the end of what it started", func() bool { return syscall.Kill(child, 0) == syscall.ESRCH })
	out := r.does("runs", "out", run.ID)
	if n := strings.Count(out, "x"); n < 64<<10 || n > 65<<10 || !strings.Contains(out, strconv.Itoa(200_000-64<<10)) {
		t.Errorf("of 200,000 bytes %d were kept, and the rest is not counted: %.200s", n, strings.Trim(out, "x"))
	}
}

// One incident, under new event ids and from two subscriptions in two modes, is acted on once.
func TestReactionOnceIsOneActForAnIncident(t *testing.T) {
	r := newReacting(t, `{"rules":{"page":{ON,"when":".severity=P1","key":".incident","once":{"by":".incident","for":"6h"},"mode":"auto",
		"do":{"command":["DIR/page"],"trusted":true}}}}`)
	r.command("page", "")
	p := r.start(nil, r.args("tail", "pager", "incident.created", "--mode", "poll", "--args", `{"team":"b"}`, "--count", "1", "--json")...)
	p.await(p.stdout, 1, contains(`"state":"polling"`))
	r.server.send(`{"severity":"P4"}`)
	if code := p.wait(); code != 0 {
		t.Fatalf("tail ends with %d: %s", code, p.stderr.text())
	}
	r.host()
	r.arms("page")
	for range 3 {
		r.server.send(`{"severity":"P1","incident":"INC-1"}`, `{"severity":"P1","incident":"INC-2"}`)
	}
	r.server.send(`{"severity":"P1","incident":"INC-3"}`)
	r.awaitStarts("page", 3)
	r.until("all events by both", func() bool { return r.counts("page").Matched == 14 })
	r.in("done", 3)
	if c := r.counts("page"); c.Suppressed["once"] == 0 {
		t.Errorf("none is counted as acted on before: %+v", c)
	}
	acted := map[string]int{}
	modes := map[string]bool{}
	for _, rec := range r.stored() {
		modes[rec.Mode] = true
	}
	for _, input := range r.starts("page") {
		for _, name := range []string{"INC-1", "INC-2", "INC-3"} {
			if strings.Contains(input, name) {
				acted[name]++
			}
		}
	}
	if len(acted) != 3 || acted["INC-1"] != 1 || acted["INC-2"] != 1 || acted["INC-3"] != 1 || !modes["poll"] || !modes["push"] {
		t.Errorf("acts: %v; modes: %v", acted, modes)
	}
}

// Ten thousand matches at once, of a rule that may start six times an hour: each is in a run,
// or counted with the reason why not.
func TestReactionBurstLosesNothing(t *testing.T) {
	r := newReacting(t, `{"rules":{"page":{ON,"when":".severity=P1","key":".service","mode":"auto",
		"do":{"command":["DIR/page"],"trusted":true}}}}`)
	r.command("page", "")
	r.host()
	r.arms("page")
	const burst = 10_000
	payloads := make([]string, burst)
	for n := range payloads {
		payloads[n] = fmt.Sprintf(`{"severity":"P1","service":"s%d","n":%d}`, n%10, n)
	}
	r.server.send(payloads...)
	r.until("all to be decided", func() bool { return r.counts("page").Matched == burst })
	// Runs are listed as committed, a moment after they were decided.
	r.awaits("six starts, the others waiting, and each match in a run or counted", func(all []ran) bool {
		in, members := map[string]int{}, 0
		for _, one := range all {
			in[one.State]++
			members += one.Members
		}
		for _, n := range r.counts("page").Suppressed {
			members += int(n)
		}
		return in["done"] == 6 && in["running"] == 0 && members == burst
	})
	if n := len(r.starts("page")); n != 6 {
		t.Errorf("%d starts", n)
	}
}

// counted is the counters of a rule.
type counted struct {
	Name       string
	Matched    uint64
	Suppressed map[string]uint64
}

// counts returns the counters of a rule, from the process that runs reactions.
func (r *reacting) counts(rule string) counted {
	r.t.Helper()
	for line := range strings.Lines(r.does("rules", "list", "--json")) {
		var c counted
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			r.t.Fatalf("%v: %s", err, line)
		}
		if c.Name == rule {
			return c
		}
	}
	r.t.Fatalf("no rule %s is listed", rule)
	return counted{}
}
