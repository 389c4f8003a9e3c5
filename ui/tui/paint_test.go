package tui

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A release of Bubble Tea that has no such ticker needs none of package file
// paint.go any more, or another one.
func TestTheRendererHasATicker(t *testing.T) {
	f, ok := reflect.TypeFor[tea.Program]().FieldByName("ticker")
	if !ok || f.Type != reflect.TypeFor[*time.Ticker]() {
		t.Fatal("the renderer's ticker is not where it was; see paint.go")
	}
	var p painter
	p.lead(tea.NewProgram(nil))
	if p.frames == nil {
		t.Error("the painter does not lead the renderer")
	}
}

func TestFramesArePaintedAtOnceAndApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := painter{drawn: make(chan struct{}, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		var painted []time.Duration
		go p.run(ctx, func(tea.Msg) { painted = append(painted, time.Since(began)) })
		p.touch()
		synctest.Wait()
		if len(painted) != 1 || painted[0] != 0 {
			t.Fatalf("the first frame was painted after %v, not at once", painted)
		}
		for range 5 {
			p.touch()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(painted) != 2 || painted[1] != frameEvery {
			t.Errorf("frames drawn at once were painted after %v, not together %v later", painted, frameEvery)
		}
		began, painted = time.Now(), nil
		p.touch()
		synctest.Wait()
		if len(painted) != 1 || painted[0] != 0 {
			t.Errorf("a frame after a minute was painted after %v, not at once", painted)
		}
		cancel()
	})
}

// A renderer that still paints must not hold the program up.
func TestPaintDoesNotWait(t *testing.T) {
	p := painter{frames: make(chan time.Time, 1)}
	p.paint()
	p.paint()
	if len(p.frames) != 1 {
		t.Error("nothing tells the renderer to look again")
	}
	(&painter{}).paint() // without a renderer that is led
	(&painter{}).touch()
}

// In a steady stream the screen looks once in an interval, right after a commit;
// after quiet at once.
func TestTheScreenLooksAfterCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changed := make(chan struct{}, 1)
		a := &app{ctx: t.Context(), changed: changed, focused: true}
		woken := make(chan time.Duration, 1)
		began := time.Now()
		look := func() {
			a.woken = a.awaitChange()().(wakeMsg).at
			woken <- a.woken.Sub(began)
		}
		changed <- struct{}{}
		go look()
		if at := <-woken; at != 0 {
			t.Errorf("the first change shows after %v, not at once", at)
		}
		changed <- struct{}{}
		go look()
		time.Sleep(fastFrame + 2*time.Millisecond)
		changed <- struct{}{} // a commit
		if at := <-woken; at != fastFrame+2*time.Millisecond {
			t.Errorf("in a stream it looks after %v, not after the commit %v later", at, fastFrame+2*time.Millisecond)
		}
		last := a.woken
		changed <- struct{}{}
		go look()
		<-woken
		if took := a.woken.Sub(last); took != fastFrame+commitDue {
			t.Errorf("the last change of a stream shows after %v, not within %v", took, fastFrame+commitDue)
		}
	})
}

// Payloads that a stream moves past are not all looked at; the last one is.
func TestPayloadsOfAMovingStreamAreLookedAtNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := incident()
		a := open(t, h, 120, 40)
		a.payloads.last = time.Now()
		looks, answers := 0, make(chan tea.Msg, 1)
		for range 10 {
			h.event("pager", "incident.created", "pool exhausted")
			arrive(a)
			if cmd := a.look(); cmd != nil {
				looks++
				go func() { answers <- cmd() }()
			}
			time.Sleep(time.Millisecond)
		}
		if looks != 1 || a.payloads.of.seq == a.stream.at {
			t.Errorf("%d looks at the payloads of 10 events within 10 ms", looks)
		}
		a.update(<-answers)
		settle(a, a.look())
		if a.payloads.of.seq != a.stream.at {
			t.Error("the payload at which the stream rests is not looked at")
		}
	})
}

// A frame that is as the last one takes no time from the next; after a key, or what
// else may have the renderer write, it is painted all the same.
func TestEqualFramesAreNotPainted(t *testing.T) {
	a := open(t, incident(), 120, 40)
	a.painter.drawn = make(chan struct{}, 1)
	painted := func(msg tea.Msg) bool {
		a.Update(msg)
		a.View()
		select {
		case <-a.painter.drawn:
			return true
		default:
			return false
		}
	}
	painted(lookAgainMsg{})
	if painted(lookAgainMsg{}) {
		t.Error("a frame that did not change was painted")
	}
	if !painted(tea.WindowSizeMsg{Width: 120, Height: 40}) {
		t.Error("the frame after a message of the terminal was not painted")
	}
	a.Tell("something new")
	if !painted(lookAgainMsg{}) {
		t.Error("a frame that changed was not painted")
	}
}
