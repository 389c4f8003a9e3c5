package tui

import (
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Payloads that a stream moves past are not all looked at; the last one is.
func TestPayloadsOfAMovingStreamAreLookedAtNowAndThen(t *testing.T) {
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
