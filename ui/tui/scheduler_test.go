package tui_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui"
)

// During steady changes the host is read once per interval, right after a commit; after a quiet
// time it is read at once.
func TestHostIsReadAfterCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changed := make(chan struct{}, 1)
		c := tui.Scheduler{Jobs: tui.NewJobs(t.Context()), Changed: changed, Focused: true}
		began, last := time.Now(), time.Time{}
		woken := make(chan time.Time, 1)
		look := func() {
			woken <- c.AwaitChange(func(_ context.Context, woken time.Time) tea.Msg { return woken })().(time.Time)
		}
		next := func() time.Time {
			at := <-woken
			c.HostRead(at)
			return at
		}
		changed <- struct{}{}
		go look()
		if last = next(); last != began {
			t.Errorf("the first change is shown after %v, not at once", last.Sub(began))
		}
		changed <- struct{}{}
		go look()
		time.Sleep(tui.StreamFrame + 2*time.Millisecond)
		changed <- struct{}{} // a commit
		at := next()
		if at.Sub(last) != tui.StreamFrame+2*time.Millisecond {
			t.Errorf("during steady changes the host is read after %v, not after the commit", at.Sub(last))
		}
		last = at
		changed <- struct{}{}
		go look()
		if at = next(); at.Sub(last) != tui.StreamFrame+tui.CommitDue {
			t.Errorf("the last change is shown after %v", at.Sub(last))
		}
		last = at
		c.KeyPressed()
		changed <- struct{}{}
		go look()
		if at = next(); at.Sub(last) != tui.KeysFrame+tui.CommitDue {
			t.Errorf("while keys are pressed a change is shown after %v", at.Sub(last))
		}
	})
}

func TestTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := tui.Scheduler{Jobs: tui.NewJobs(t.Context()), Focused: true}
		for _, want := range []time.Duration{time.Second, 5 * time.Second} {
			began := time.Now()
			cmd := c.Tick()
			if c.Tick() != nil {
				t.Error("two ticks are due at once")
			}
			if _, ok := cmd().(tui.TickMsg); !ok || time.Since(began) != want {
				t.Errorf("the tick comes after %v, not %v", time.Since(began), want)
			}
			c.Ticked()
			c.Focused = false
		}
		if c.AwaitChange(nil) != nil {
			t.Error("waits for changes of a host without a flag")
		}
	})
}

// A spinner shows its next frame only when it is requested after each one.
func TestSpinnerTurnsOnlyOnRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := tui.Scheduler{Jobs: tui.NewJobs(t.Context())}
		for range 2 {
			began := time.Now()
			cmd := c.Spin(time.Second)
			if c.Spin(time.Second) != nil {
				t.Error("two turns are due at once")
			}
			if _, ok := cmd().(tui.SpinMsg); !ok || time.Since(began) != time.Second {
				t.Errorf("the turn comes after %v", time.Since(began))
			}
			c.Spun()
		}
	})
}

// Running jobs end with the program, which waits for them; no job begins afterwards.
func TestJobsEndWithTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		j := tui.NewJobs(ctx)
		ended := false
		go j.Do(func(ctx context.Context) tea.Msg {
			<-ctx.Done()
			time.Sleep(time.Second)
			ended = true
			return nil
		})()
		synctest.Wait()
		cancel()
		j.Wait()
		if !ended {
			t.Error("not waited for")
		}
		if msg := j.Do(func(context.Context) tea.Msg { return 1 })(); msg != nil {
			t.Error("something began after the end")
		}
		if msg := tui.NewJobs(ctx).After(time.Hour, 1)(); msg != nil {
			t.Error("a message was sent after the end")
		}
	})
}
