package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"eventdeck/host"
)

func (h *fakeHost) RemoveServer(_ context.Context, name string) error {
	if err := h.note("remove %s", name); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.snap.Version++
	h.snap.Servers = slices.DeleteFunc(h.snap.Servers, func(v host.ServerView) bool { return v.Name == name })
	h.snap.Subs = slices.DeleteFunc(h.snap.Subs, func(v host.SubscriptionView) bool { return v.Key.Server == name })
	return nil
}

// A server is removed from its row in the tree, after the operator was told what ends
// with it.
func TestRemoveAServer(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "1", "X")
	if a.dialog != nil {
		t.Fatal("all servers are one")
	}
	press(t, a, "j", "X")
	s := screenOf(a)
	for _, want := range []string{"Remove the server", "Its 2 subscriptions end here and at the server.", "Stored events stay."} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not told:\n%s", want, s)
		}
	}
	if strings.Contains(s, "configuration") {
		t.Error("told of a configuration that there is not")
	}
	press(t, a, "esc")
	if len(h.did) != 0 {
		t.Fatalf("esc did %q", h.did)
	}
	press(t, a, "X", "y")
	arrive(a)
	if s := screenOf(a); !slices.Equal(h.did, []string{"remove pager"}) || !strings.Contains(s, "removed pager") || a.tree.at != (node{}) || a.stream.query.node != (node{}) || a.tree.total.all != 1 {
		t.Errorf("did %q, at %v:\n%s", h.did, a.tree.at, s)
	}
	h.refuse = errors.New("the store is full")
	press(t, a, "j", "X", "y")
	if s := screenOf(a); !strings.Contains(s, "the store is full") || len(h.snap.Servers) != 1 {
		t.Errorf("a failure is not told:\n%s", s)
	}
}

func TestRemoveAServerTellsOfTheConfiguration(t *testing.T) {
	h := newFake()
	h.server("pager")
	a := newcomer(t, h, 120, 40, "")
	press(t, a, "1", "j", "X")
	if s := screenOf(a); !strings.Contains(s, "It has no subscriptions here.") || !strings.Contains(s, "is there again after the next start.") {
		t.Errorf("not told:\n%s", s)
	}
}

func TestRemoveAServerIsRefusedReadOnly(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	a.readOnly = true
	a.draw()
	press(t, a, "1", "j", "X")
	if s := screenOf(a); a.dialog != nil || len(h.did) != 0 || !strings.Contains(s, errReadOnly.Error()) {
		t.Errorf("%q:\n%s", h.did, s)
	}
}
