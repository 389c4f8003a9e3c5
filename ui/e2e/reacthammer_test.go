//go:build !windows

package e2e

import (
	"strings"
	"testing"
	"time"
)

// Keys that are typed fast while a run comes to wait, focus events, pastes and the mouse
// approve nothing, though each contains the key that approves or is followed by it. That key
// alone, after a pause, approves one run.
func TestReactionIsApprovedByARestAndItsKeyOnly(t *testing.T) {
	r := newReacting(t, `{"rules":{"page":{ON,"when":".severity=P1","do":{"command":["DIR/page"]}}}}`)
	r.command("page", "")
	c := r.terminal(160, 45, r.args()...)
	c.reads("1 push")
	c.keys("6")
	c.reads("[Waiting]")
	const counts = "ctrl+y approves it once"

	for tries := 1; ; tries++ {
		fast := r.hammer(c)
		c.sees("an end of the keys", func(s string) bool { return strings.Contains(s, counts) || !strings.Contains(s, " 1 ask") })
		if r.awaits("the run", func(all []ran) bool { return len(all) > 0 })[0].State == "asking" {
			break
		}
		if fast {
			t.Fatalf("approved by keys that were typed fast\n%s", c.screen.Text())
		}
		if tries == 10 {
			t.Skip("this machine is too busy for keys that are typed fast")
		}
	}
	before := len(r.starts("page"))
	for name, typed := range map[string]string{
		"focus": "\x1b[O\x1b[I", "paste": "\x1b[200~\x19\x19\x1b[201~", "mouse": "\x1b[<0;30;3M\x1b[<0;30;3m", "another key": "j",
	} {
		c.reads(counts)
		r.until("after "+name+" that the key does not count", func() bool {
			c.keys(typed + "\x19")
			return !strings.Contains(c.screen.Text(), counts)
		})
	}
	c.reads(counts)
	r.asking(1)
	if n := len(r.starts("page")); n != before {
		t.Fatalf("%d starts", n-before)
	}
	r.until("an approval", func() bool {
		shown := c.screen.Text()
		if strings.Contains(shown, counts) {
			c.keys("\x19")
		}
		return !strings.Contains(shown, " 1 ask")
	})
	r.in("done", before+1)
	r.server.send(`{"severity":"P1"}`)
	r.asking(1)
	if n := len(r.starts("page")) - before; n != 1 {
		t.Errorf("%d starts of one approval", n)
	}
	c.keys("\x03")
	c.endsWell()
}

// hammer types 50 keys per second, a third of them the one that approves, while a run comes to
// wait and for 50 keys more. It reports whether it kept that pace: if the machine pauses
// between two keys, the second one may count.
func (r *reacting) hammer(c *terminal) (fast bool) {
	r.t.Helper()
	fast = true
	last := time.Now()
	for i, shown := 0, 0; shown < 50; i++ {
		if i == 10 {
			r.server.send(`{"severity":"P1"}`)
		}
		if i > 10 && strings.Contains(c.screen.Text(), "1 ask") {
			shown++
		}
		if i > 50*int(patience/time.Second) {
			r.t.Fatalf("no run came to wait\n%s", c.screen.Text())
		}
		c.keys([]string{"j", "\x19", "k"}[i%3])
		fast = fast && time.Since(last) < 200*time.Millisecond
		last = time.Now()
		time.Sleep(20 * time.Millisecond)
	}
	return fast
}
