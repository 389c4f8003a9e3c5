package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/tree"
)

// A server with very many event types is folded until it is unfolded or has a subscription. A server
// without subscriptions can be folded too.
func TestServersWithManyTypesAreFolded(t *testing.T) {
	h := newFake()
	var many []event.Type
	for i := range tree.TypesShown + 1 {
		many = append(many, event.Type{Name: trust.Untrusted(fmt.Sprintf("kind.%03d", i)), Modes: []event.Mode{event.ModePoll}})
	}
	h.server("many", many...)
	h.server("pager", many[:1]...)
	a := open(t, h, 120, 40)
	press(t, a, "1", "g", "j")
	if s := screenOf(a); strings.Count(s, "kind.") != 1 || !strings.Contains(s, "101 types") {
		t.Fatalf("not folded:\n%s", s)
	}
	press(t, a, "l")
	if s := screenOf(a); !strings.Contains(s, "kind.001") {
		t.Fatalf("not unfolded:\n%s", s)
	}
	press(t, a, "l")
	if a.tree.At.Level() != 2 {
		t.Errorf("to %v, not the first type", a.tree.At)
	}
	press(t, a, "h", "h")
	if s := screenOf(a); strings.Count(s, "kind.") != 1 || a.tree.At.Server != "many" {
		t.Fatalf("not folded again, at %v:\n%s", a.tree.At, s)
	}
	h.subscribe("many", "kind.100", event.ModePoll, "{}")
	press(t, a, "l", "G", "l", "l", "h")
	if a.tree.At.Server != "pager" {
		t.Errorf("at %v", a.tree.At)
	}
	press(t, a, "h")
	if s := screenOf(a); strings.Contains(s, "▾ ● pager") {
		t.Errorf("a server without subscriptions is not folded:\n%s", s)
	}
}

// On a narrow screen the line of servers begins with servers in trouble, and counts the ones without
// room.
func TestLineOfServersBeginsWithTrouble(t *testing.T) {
	h := incident()
	for i := range 4 {
		h.server(fmt.Sprintf("calm%d", i))
	}
	for w, want := range map[int]string{40: " 1 chat unreachable, try 4 in 8 s  +5", 60: " 1 chat unreachable, try 4 in 8 s  pager ready  +4"} {
		a := open(t, h, w, 20)
		if s := screenOf(a); !strings.Contains(s, want) {
			t.Errorf("%q is not there:\n%s", want, s)
		}
		exact(t, a)
	}
}

// On a narrow screen the line of servers has the order of the tree, in which a server moves only for
// trouble that lasts.
func TestLineOfServersHasTheOrderOfTheTree(t *testing.T) {
	h := newFake()
	for _, name := range []string{"alpha", "beta"} {
		h.server(name)
	}
	a, turn := clocked(t, h, 60, 20)
	press(t, a, "2")
	h.snap.Servers[1].Reach = host.ReachBackoff
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{time.Second, " 1 alpha ready  beta unreachable"},
		{5 * time.Second, " 1 beta unreachable"},
	} {
		turn(step.after)
		h.snap.Version++
		arrive(a)
		if s := screenOf(a); !strings.Contains(s, step.want) {
			t.Errorf("after %v %q is not there:\n%s", step.after, step.want, s)
		}
	}
}

// On a quiet host no change comes after the one that began the trouble.
func TestServerMovesWithoutAnotherChange(t *testing.T) {
	h := newFake()
	h.snap.Servers = []host.ServerView{{Name: "alpha", Reach: host.ReachReady}, {Name: "beta", Reach: host.ReachReady}}
	a, turn := clocked(t, h, 120, 30)
	press(t, a, "2")
	h.snap.Servers[1].Reach = host.ReachBackoff
	h.snap.Version++
	arrive(a)
	for _, want := range []string{"alpha", "beta"} {
		turn(3 * time.Second)
		if got := a.tree.Rows[1].Node.Server; got != want {
			t.Errorf("%s is first, want %s", got, want)
		}
	}
}

// While the tree has the focus no server moves under the cursor; afterwards the one in trouble is
// first.
func TestTreeKeepsItsOrderWhileFocused(t *testing.T) {
	h := newFake()
	for _, name := range []string{"alpha", "beta", "gamma"} {
		h.server(name)
	}
	a, turn := clocked(t, h, 120, 40)
	first := func() string {
		for i := range a.tree.Rows {
			if n := a.tree.Rows[i].Node; n.Level() == 1 {
				return n.Server
			}
		}
		return ""
	}
	press(t, a, "1", "j", "j")
	at, row := a.tree.At, a.tree.Find(a.tree.At)
	h.snap.Servers[2].Reach = host.ReachBackoff
	h.snap.Version++
	arrive(a)
	if a.tree.At != at || a.tree.Find(at) != row || first() != "alpha" {
		t.Errorf("with the keys %q is first, and the choice moved from row %d to %d", first(), row, a.tree.Find(at))
	}
	press(t, a, "2")
	turn(5 * time.Second)
	h.snap.Version++
	arrive(a)
	if a.tree.At != at || first() != "gamma" {
		t.Errorf("without the keys %q is first", first())
	}
}
