//go:build !windows

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rolls are the arguments of an agent's call that may change something.
const rolls = `{"to":3}`

// anAgent is a rule whose agent runs a script, with a tool that may change something.
func anAgent(t *testing.T, script ...string) string {
	return `{"rules":{"look":{ON,"when":".severity=P1","do":{` + agent(t, script...) + `,"tools":{"pager/rollback":"write"}}}}}`
}

// askingAgain waits until the run asks for the given reason, and returns it with its hash.
func (r *reacting) askingAgain(why string) ran {
	r.t.Helper()
	r.awaits("a run that asks: "+why, func(all []ran) bool {
		return slices.ContainsFunc(all, func(one ran) bool { return one.State == "asking" && strings.Contains(one.Why, why) })
	})
	return r.asking(1)[0]
}

// worksOn lets an agent call its tool once, and waits until it goes on working and says so in
// a file.
func (r *reacting) worksOn(file string) (id string) {
	r.t.Helper()
	r.server.send(`{"severity":"P1"}`)
	id = r.started()
	r.does("approve", id, r.askingAgain("may change something").Hash)
	r.until("the agent works", func() bool { return r.exists(file) })
	return id
}

// The host is killed while an agent works that cannot load its conversation: it is unknown
// what the agent did, so the run is parked and nothing begins again by itself.
func TestReactionAgentThatWorksOverAKillIsParked(t *testing.T) {
	r := newReacting(t, anAgent(t, "call", "pager__rollback", rolls, "wait", "works"))
	file := filepath.Join(r.dir, "works")
	r.rules(anAgent(t, "call", "pager__rollback", rolls, "wait", file))
	p := r.host()
	id := r.worksOn("works")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	p.kill()
	p = r.host()
	if run := r.in("parked", 1)[0]; run.ID != id || !strings.Contains(run.Why, "not known") {
		t.Errorf("%+v", run)
	}
	p.kill() // parked it stays
	r.host()
	r.in("parked", 1)
	r.does("runs", "settle", id, "failed")
	r.in("failed", 1)
	if calls := r.server.calls(); len(calls) != 1 || r.exists("works") {
		t.Errorf("it called %q, and began again: %t", calls, r.exists("works"))
	}
}

// An agent that can load its conversation is told that it was interrupted. A call that it
// repeats asks again: the approval before the kill was for the call that was made then.
func TestReactionAgentThatWorksOverAKillGoesOn(t *testing.T) {
	r := newReacting(t, anAgent(t))
	file := filepath.Join(r.dir, "works")
	r.rules(anAgent(t, "loads", "prompt", "call", "pager__rollback", rolls, "wait", file))
	p := r.host()
	id := r.worksOn("works")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	p.kill()
	r.host()
	if again := r.askingAgain("may change something"); again.ID != id || len(r.server.calls()) != 1 {
		t.Errorf("%+v asks, and called were %q", again, r.server.calls())
	}
	r.does("deny", id, "--reason", "it was done")
	r.until("the agent works", func() bool { return r.exists("works") })
	r.does("react", "stop", "--kill")
	r.in("killed", 1)
	if calls := r.server.calls(); len(calls) != 1 {
		t.Errorf("it called %q", calls)
	}
	if said := r.does("runs", "show", id, "--json"); !strings.Contains(said, "(loaded session-") || !strings.Contains(said, "You were interrupted") || !strings.Contains(said, "it was done") {
		t.Errorf("the run tells %s", said)
	}
}

// The host is killed while an agent waits for permission. The agent and its request are gone,
// and an approval of that request has no effect.
func TestReactionAgentAsksOverAKill(t *testing.T) {
	for name, c := range map[string]struct {
		script []string
		loads  bool
	}{
		"leave":        {[]string{"ask", "execute", "rm -rf x"}, false},
		"leave, loads": {[]string{"loads", "ask", "execute", "rm -rf x"}, true},
		"call":         {[]string{"call", "pager__rollback", rolls}, false},
		"call, loads":  {[]string{"loads", "call", "pager__rollback", rolls}, true},
	} {
		t.Run(name, func(t *testing.T) {
			why := "may change something"
			if c.script[len(c.script)-2] == "execute" {
				why = "in its own words"
			}
			r := newReacting(t, anAgent(t, c.script...))
			p := r.host()
			r.server.send(`{"severity":"P1"}`)
			id := r.started()
			before := r.askingAgain(why)
			p.kill()
			r.host()
			if !c.loads {
				if run := r.in("parked", 1)[0]; run.ID != id {
					t.Errorf("%+v", run)
				}
				r.refuses("approve", id, before.Hash)
			} else {
				// Until the agent is loaded, the run shows the request of before.
				r.awaits("the next attempt, that asks", func(all []ran) bool { return all[0].Attempt > before.Attempt && all[0].State == "asking" })
				r.askingAgain(why)
				r.does("deny", id, "--reason", "not now")
				r.in("done", 1)
			}
			if calls := r.server.calls(); len(calls) != 0 {
				t.Errorf("it called %q", calls)
			}
		})
	}
}
