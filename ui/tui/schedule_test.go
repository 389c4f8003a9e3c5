package tui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/cells"
)

// The spinner turns while the operator waits, and not at rest.
func TestSpinnerTurnsWhileTheOperatorWaits(t *testing.T) {
	h := newFake()
	a := newcomer(t, h, 100, 30, "")
	now := start
	a.Now = func() time.Time { return now }
	atRest := func(when string) {
		t.Helper()
		if a.turnSign() != nil {
			t.Errorf("%s the screen ticks", when)
		}
	}
	atRest("at first")
	press(t, a, "A")
	word(t, a, "https://mcp.hub.example/mcp")
	atRest("while a form is filled in")
	test := a.key(tea.KeyPressMsg(keyNamed("ctrl+s")))
	before := screenOf(a)
	if a.turnSign() == nil {
		t.Fatal("the sign does not turn while a server is tested")
	}
	atRest("for a turn that is asked already,")
	now = now.Add(cells.TurnEvery)
	a.update(SpinMsg{})
	if after := screenOf(a); !strings.Contains(before, "connecting") || before == after {
		t.Errorf("after a turn the screen is the same:\n%s", after)
	}
	if a.turnSign() == nil {
		t.Error("the sign turns once")
	}
	settle(a, test)
	a.update(SpinMsg{})
	atRest("after the test")
}

// Of the payloads that a moving stream passes not all are examined, but the last one is.
func TestPayloadsOfAMovingStreamAreSampled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := incident()
		a := open(t, h, 120, 40)
		h.event("pager", "incident.created", "pool exhausted")
		arrive(a)
		settle(a, a.detail.Work())
		last := a.detail.LaidOut()
		looks, answers := 0, make(chan tea.Msg, 1)
		for range 10 {
			h.event("pager", "incident.created", "pool exhausted")
			arrive(a)
			if cmd := a.detail.Work(); cmd != nil {
				looks++
				go func() { answers <- cmd() }()
			}
			time.Sleep(time.Millisecond)
			select {
			case msg := <-answers:
				a.update(msg)
			default:
			}
		}
		if looks != 1 || a.detail.LaidOut() != last {
			t.Errorf("%d looks at the payloads of 10 events within 10 ms", looks)
		}
		a.update(<-answers)
		settle(a, a.detail.Work())
		if a.detail.LaidOut() != a.stream.At {
			t.Error("the payload at which the stream rests is not looked at")
		}
	})
}
