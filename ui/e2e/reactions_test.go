//go:build !windows

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A run that asks does nothing. Once approved it acts once, and the same hash approves nothing
// more, neither this run nor the next one of the same rule.
func TestReactionActsOnceWhenApproved(t *testing.T) {
	r := newReacting(t, `{"rules":{"page":{ON,"when":".severity=P1","do":{"command":["DIR/page","--urgent"]}}}}`)
	r.command("page", "echo paged")
	p := r.host()
	r.server.send(`{"severity":"P1","service":"checkout"}`, `{"severity":"P2","service":"checkout"}`)
	p.await(p.stderr, 1, contains(" of page waits for you"))
	run := r.asking(1)[0]
	if n := len(r.starts("page")); n != 0 {
		t.Fatalf("%d starts before an approval", n)
	}
	r.does("approve", run.ID, run.Hash)
	r.in("done", 1)
	if out := r.does("runs", "out", run.ID); out != "paged" {
		t.Errorf("it printed %q", out)
	}
	if said := r.refuses("approve", run.ID, run.Hash); !strings.Contains(said, "done") {
		t.Errorf("a second approval is refused with %q", said)
	}
	r.server.send(`{"severity":"P1","service":"checkout"}`)
	next := r.asking(1)[0]
	if said := r.refuses("approve", next.ID, run.Hash); !strings.Contains(said, "changed") {
		t.Errorf("the approval of another run is refused with %q", said)
	}
	r.does("deny", next.ID, "--reason", "once is enough")
	r.in("denied", 1)
	inputs := r.starts("page")
	if len(inputs) != 1 || !strings.Contains(inputs[0], "P1") {
		t.Errorf("it was started with %q", inputs)
	}
}

// If the arguments, the bytes of the program or the rule differ from those that were approved,
// nothing starts: the run asks again, and the audit log says why.
func TestReactionChangedAfterItsApprovalAsksAgain(t *testing.T) {
	rules := func(argument, when string) string {
		return `{"rules":{
			"argv":{ON,"when":".severity=P1","do":{"command":["DIR/argv","` + argument + `"]}},
			"bytes":{ON,"when":".severity=P1","do":{"command":["DIR/bytes"]}},
			"member":{ON,"when":"` + when + `","do":{"command":["DIR/member"]}},
			"script":{ON,"when":".severity=P1","do":{"command":["DIR/script"]}},
			"same":{ON,"when":".severity=P1","do":{"command":["DIR/same"]}}}}`
	}
	r := newReacting(t, rules("before", ".severity=P1"))
	for _, name := range []string{"argv", "bytes", "member", "same"} {
		r.command(name, "")
	}
	r.program("shell", "#!/bin/sh\nexec /bin/sh \"$@\"\n")
	r.script("script", filepath.Join(r.dir, "shell"), "")
	r.host()
	r.server.send(`{"severity":"P1"}`)
	before := map[string]string{}
	waiting := r.asking(5)
	r.does("react", "stop")
	for _, run := range waiting {
		before[run.Rule] = run.Hash
		r.does("approve", run.ID, run.Hash)
	}
	r.in("ready", 5)
	old := r.inForce()
	r.rules(rules("after", ".severity=P1 .service=checkout"))
	r.command("bytes", "echo another")
	r.program("shell", "#!/bin/sh\nexec /bin/sh -x \"$@\"\n")
	r.until("the rules of now", func() bool {
		now := r.inForce()
		return now["argv"] != old["argv"] && now["member"] != old["member"]
	})
	r.does("react", "go")
	if done := r.in("done", 1)[0]; done.Rule != "same" {
		t.Errorf("%s was done", done.Rule)
	}
	for _, run := range r.asking(4) {
		if before[run.Rule] == "" || run.Why == "" {
			t.Errorf("%+v", run)
		}
		if len(r.starts(run.Rule)) != 0 {
			t.Errorf("%s was started", run.Rule)
		}
	}
	if audit := r.does("audit"); strings.Count(audit, "approval void") != 4 {
		t.Errorf("the audit log does not tell of it:\n%s", audit)
	}
}

// A command goes on when the host is killed. The next host takes its result, whether the
// command ended before or after that host's start, and does not start it again.
func TestReactionOutlivesTheHost(t *testing.T) {
	r := newReacting(t, `{"rules":{
		"early":{ON,"when":".severity=P1","do":{"command":["DIR/early"]}},
		"late":{ON,"when":".severity=P1","do":{"command":["DIR/late"]}}}}`)
	for _, name := range []string{"early", "late"} {
		r.command(name, r.waitsFor("go-"+name)+"\necho "+name+"\n: >"+r.told+"/ended-"+name)
	}
	p := r.host()
	r.server.send(`{"severity":"P1"}`)
	for _, run := range r.asking(2) {
		r.does("approve", run.ID, run.Hash)
	}
	r.awaitStarts("early", 1)
	r.awaitStarts("late", 1)
	p.kill()
	r.release("go-early")
	r.until("the end of a command without a host", func() bool { return r.exists("told/ended-early") })
	r.host()
	if run := r.in("done", 1)[0]; run.Rule != "early" {
		t.Errorf("%s is done", run.Rule)
	}
	r.release("go-late")
	for _, run := range r.in("done", 2) {
		if out := r.does("runs", "out", run.ID); out != run.Rule || len(r.starts(run.Rule)) != 1 {
			t.Errorf("%s printed %q and was started %d times", run.Rule, out, len(r.starts(run.Rule)))
		}
	}
}

// The stop file ends running commands and lets nothing start, without a request to the process
// that runs the reactions. `react go` starts runs that were ready, and no others.
func TestReactionStopFile(t *testing.T) {
	r := newReacting(t, `{"rules":{
		"long":{ON,"when":".severity=P1","do":{"command":["DIR/long"]}},
		"ready":{ON,"when":".severity=P2","do":{"command":["DIR/ready"]}},
		"asks":{ON,"when":".severity=P2","do":{"command":["DIR/asks"]}}}}`)
	r.command("long", r.waitsFor("never"))
	r.command("ready", "")
	r.command("asks", "")
	r.host()
	r.server.send(`{"severity":"P1"}`)
	long := r.asking(1)[0]
	r.does("approve", long.ID, long.Hash)
	r.awaitStarts("long", 1)
	r.write("data/react.stop", "")
	r.in("killed", 1)
	r.server.send(`{"severity":"P2"}`)
	for _, run := range r.asking(2) {
		if run.Rule == "ready" {
			r.does("approve", run.ID, run.Hash)
		}
	}
	r.in("ready", 1)
	if n := len(r.starts("ready")); n != 0 {
		t.Errorf("%d starts while all is stopped", n)
	}
	r.does("react", "go")
	if r.exists("data/react.stop") {
		t.Error("the stop file is still there")
	}
	if run := r.in("done", 1)[0]; run.Rule != "ready" {
		t.Errorf("%s was done", run.Rule)
	}
	r.asking(1)
	if len(r.starts("ready")) != 1 || len(r.starts("asks")) != 0 || len(r.starts("long")) != 1 {
		t.Errorf("%d, %d and %d starts", len(r.starts("ready")), len(r.starts("asks")), len(r.starts("long")))
	}
}

// Runs that wait for an approval survive a kill, with the same hash; a run past its time is
// expired, and cannot be approved.
func TestReactionsWaitOverARestart(t *testing.T) {
	r := newReacting(t, `{"rules":{"page":{ON,"when":".severity=P1","key":".service","do":{"command":["DIR/page"]}}}}`)
	r.command("page", "")
	clock := envClock + "=" + filepath.Join(r.dir, "clock")
	p := r.host(clock)
	r.server.send(`{"severity":"P1","service":"a"}`, `{"severity":"P1","service":"b"}`)
	before := r.asking(2)
	p.kill()
	p = r.host(clock)
	after := r.asking(2)
	if !slices.Equal(before, after) {
		t.Errorf("before %+v, after %+v", before, after)
	}
	r.does("approve", after[0].ID, after[0].Hash)
	r.in("done", 1)
	p.kill()
	r.write("clock", "2h")
	r.host(clock)
	r.in("expired", 1)
	if said := r.refuses("approve", after[1].ID, after[1].Hash); !strings.Contains(said, "expired") {
		t.Errorf("it is refused with %q", said)
	}
	if n := len(r.starts("page")); n != 1 {
		t.Errorf("%d starts", n)
	}
}

// Of a thousand events, each that matches an armed rule is in the input of exactly one start,
// and no other is in any.
func TestArmedReactionTakesEachEventOnce(t *testing.T) {
	r := newReacting(t, `{"limits":{"runs":"1000/h"},"rules":{"page":{ON,"when":".severity=P1","key":".service","mode":"auto",
		"limits":{"runs":"1000/h"},"do":{"command":["DIR/page"],"stdin":"ndjson","trusted":true}}}}`)
	r.command("page", "")
	p := r.host()
	r.arms("page")
	var payloads []string
	for n := range 1000 {
		severity := "P3"
		if n%25 == 7 {
			severity = "P1"
		}
		payloads = append(payloads, fmt.Sprintf(`{"severity":%q,"service":"s%d","n":%d}`, severity, n/25%4, n))
	}
	for part := range slices.Chunk(payloads, 100) {
		r.server.send(part...)
	}
	found := func() map[int]int {
		times := map[int]int{}
		for _, input := range r.starts("page") {
			for _, rec := range decode(t, input) {
				var data struct{ N int }
				if err := json.Unmarshal(rec.Data, &data); err != nil {
					t.Fatal(err)
				}
				times[data.N]++
			}
		}
		return times
	}
	r.until("all forty", func() bool { return len(found()) >= 40 })
	r.awaits("the end of all runs", func(all []ran) bool {
		return !slices.ContainsFunc(all, func(one ran) bool { return one.State != "done" })
	})
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		t.Errorf("it ends with %d: %s", code, p.stderr.text())
	}
	times := found()
	for n := range 1000 {
		want := 0
		if n%25 == 7 {
			want = 1
		}
		if times[n] != want {
			t.Errorf("event %d is in the input of %d starts", n, times[n])
		}
	}
}
