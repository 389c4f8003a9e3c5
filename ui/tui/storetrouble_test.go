package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"eventdeck/host/event"
)

// The status line says what to do about trouble of the store, until it is over.
func TestStatusOfAStoreInTrouble(t *testing.T) {
	h := incident()
	a := open(t, h, 140, 40)
	for _, c := range []struct {
		err, damage error
		want        []string
	}{
		{fmt.Errorf("%w: quota", event.ErrFull), nil, []string{"disk full: nothing is acknowledged until there is room"}},
		{fmt.Errorf("%w: page 3", event.ErrDamaged), nil, []string{"damaged: quit", "eventdeck store check", "eventdeck store recover"}},
		{nil, fmt.Errorf("%w: page 3", event.ErrDamaged), []string{"damaged: quit", "eventdeck store recover"}},
		{errors.New("the medium\x1b[2J is gone"), nil, []string{"not stored: the medium"}},
	} {
		h.mu.Lock()
		h.snap.Version++
		h.snap.Store.Err, h.snap.Store.Damage = c.err, c.damage
		h.mu.Unlock()
		look(a)
		for _, want := range c.want {
			if s := screenOf(a); !strings.Contains(s, want) {
				t.Errorf("%v, %v: no %q in\n%s", c.err, c.damage, want, s)
			}
		}
		exact(t, a)
	}
	h.mu.Lock()
	h.snap.Version++
	h.snap.Store.Err, h.snap.Store.Damage, h.snap.Store.Holder = nil, nil, 4711
	h.mu.Unlock()
	look(a)
	if s := screenOf(a); strings.Contains(s, "not stored") || strings.Contains(s, "damaged") || !strings.Contains(s, "attached to process 4711") {
		t.Errorf("it stays, or nobody is told:\n%s", s)
	}
}
