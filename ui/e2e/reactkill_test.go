//go:build !windows

package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// reactPoints are the failpoints at which the engine of reactions is killed: before and behind
// each of its commits, and between its other steps.
var reactPoints = []string{
	"decided", "committed", "prepared", "judged", "approved", "ready", "running", "begun", "adopted", "ended", "settled", "forgotten",
}

// reactKills is how often the host is killed at each of them. A search sets more:
//
//	EVENTDECK_REACT_KILLS=50 go test ./ui/e2e -run TestReactionKills -timeout 2h
func reactKills(t *testing.T) int {
	return howOften(t, "EVENTDECK_REACT_KILLS", 1)
}

// The host is killed at each failpoint of the reactions while commands run, some of which kill
// their supervisor: each event is in one run of its rule, no command is started twice, a run
// that is done was started, and a run whose outcome is unknown is parked.
func TestReactionKills(t *testing.T) {
	r := newReacting(t, `{"limits":{"runs":"1000/h"},"rules":{
		"auto":{ON,"when":".severity=P1","key":".n","mode":"auto","limits":{"runs":"1000/h","queue":1000},"do":{"command":["DIR/auto"],"trusted":true}},
		"lost":{ON,"when":".severity=P2","key":".n","mode":"auto","limits":{"runs":"1000/h","queue":1000},"do":{"command":["DIR/lost"],"trusted":true}},
		"asks":{ON,"when":".severity=P3","key":".n","limits":{"runs":"1000/h","queue":1000},"do":{"command":["DIR/asks"]}}}}`)
	r.command("auto", "/bin/sleep 0.1")
	r.command("asks", "")
	r.command("lost", "kill -9 $PPID")
	p := r.host()
	r.arms("auto")
	r.arms("lost")
	p.kill()

	rules := []string{"auto", "lost", "asks"}
	sent, killed := map[string]int{}, 0
	for range reactKills(t) {
		for _, point := range reactPoints {
			p := r.start([]string{fmt.Sprintf("%s=react.%s:%d", envFailpoint, point, 1+rand.IntN(2))}, r.args("react", "run")...)
			p.stderr.await(1, contains("reactions run: "), p.exited) // or it has died before
			for n := 0; !p.over(100 * time.Millisecond); n++ {
				if n == 30 {
					p.kill() // it has passed the point less often; that is a kill too
					killed--
					break
				}
				if n == 2 || n == 15 {
					which := rand.IntN(2)
					if point == "approved" {
						which = 2 // each is soon approved: of those that ask there are few at most
					}
					sent[rules[which]]++
					r.server.send(fmt.Sprintf(`{"severity":"P%d","n":%d}`, which+1, sent[rules[which]]))
				}
				if point == "approved" && n > 3 {
					r.approveOne()
				}
			}
			if p.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("at %s the host ended by itself: %s", point, p.stderr.text())
			}
			killed++
		}
	}
	r.host()
	total := sent["auto"] + sent["lost"] + sent["asks"]
	var all []ran
	for deadline := time.Now().Add(patience); ; {
		all = r.runs()
		open := slices.DeleteFunc(slices.Clone(all), func(one ran) bool { return one.State == "done" || one.State == "parked" })
		if len(open) == 0 && len(all) >= total {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("of %d runs for %d events are not over: %+v", len(all), total, open)
		}
		if r.approveOne() {
			deadline = time.Now().Add(patience)
		}
	}
	started := map[string]int{} // run -> starts
	files, err := os.ReadDir(r.told)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if part := strings.Split(file.Name(), "."); len(part) == 3 && part[0] != "new" {
			started[part[1]]++
		}
	}
	runs := map[string]int{}
	for _, one := range all {
		runs[one.Rule]++
		n := started[one.ID]
		switch {
		case one.Members != 1 || n > 1,
			one.State == "done" && n != 1,
			one.Rule == "lost" && one.State == "done":
			t.Errorf("%+v was started %d times", one, n)
		}
	}
	for _, rule := range rules {
		if runs[rule] != sent[rule] {
			t.Errorf("%d events for %s are in %d runs", sent[rule], rule, runs[rule])
		}
	}
	if killed == 0 {
		t.Error("no host was killed at its point")
	}
	t.Logf("%d hosts were killed at their points, %d elsewhere; %d runs", killed, len(reactPoints)*reactKills(t)-killed, total)
}

// over waits for the end of a process, at most that long, and reports whether it came.
func (p *process) over(most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// approveOne approves a waiting run, if there is one, and reports whether it tried. The host
// may die meanwhile.
func (r *reacting) approveOne() bool {
	r.t.Helper()
	asked := func(words ...string) (string, bool) {
		p := r.start(nil, r.args(words...)...)
		code := p.wait()
		return p.stdout.text(), code == 0
	}
	list, ok := asked("runs", "list", "--state", "asking", "--limit", "1", "--json")
	var one ran
	if !ok || json.Unmarshal([]byte(list), &one) != nil {
		return false
	}
	shown, ok := asked("runs", "show", one.ID, "--json")
	if !ok || json.Unmarshal([]byte(shown), &one) != nil {
		return false
	}
	asked("approve", one.ID, one.Hash)
	return true
}
