package tui

import (
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/feed"
)

// In a steady stream the screen looks once in an interval, right after a commit;
// after quiet at once.
func TestTheScreenLooksAfterCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := incident()
		changed := make(chan struct{}, 1)
		a := &app{ctx: t.Context(), changed: changed, focused: true, feed: feed.New(h, func() feed.Log { return h.log })}
		woken := make(chan time.Duration, 1)
		began := time.Now()
		look := func() {
			a.woken = a.awaitChange()().(newsMsg).woken
			woken <- a.woken.Sub(began)
		}
		changed <- struct{}{}
		go look()
		if at := <-woken; at != 0 {
			t.Errorf("the first change shows after %v, not at once", at)
		}
		changed <- struct{}{}
		go look()
		time.Sleep(streamFrame + 2*time.Millisecond)
		changed <- struct{}{} // a commit
		if at := <-woken; at != streamFrame+2*time.Millisecond {
			t.Errorf("in a stream it looks after %v, not after the commit %v later", at, streamFrame+2*time.Millisecond)
		}
		last := a.woken
		changed <- struct{}{}
		go look()
		<-woken
		if took := a.woken.Sub(last); took != streamFrame+commitDue {
			t.Errorf("the last change of a stream shows after %v, not within %v", took, streamFrame+commitDue)
		}
		last, a.pressed = a.woken, time.Now()
		changed <- struct{}{}
		go look()
		<-woken
		if took := a.woken.Sub(last); took != keysFrame+commitDue {
			t.Errorf("while keys are pressed a change shows after %v, not within %v", took, keysFrame+commitDue)
		}
	})
}

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
