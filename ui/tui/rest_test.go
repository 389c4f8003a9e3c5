package tui

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A release of Bubble Tea that has no such ticker needs none of package file
// rest.go any more, or another one.
func TestTheRendererHasATicker(t *testing.T) {
	f, ok := reflect.TypeFor[tea.Program]().FieldByName("ticker")
	if !ok || f.Type != reflect.TypeFor[*time.Ticker]() {
		t.Error("the renderer's ticker is not where it was; see rest.go")
	}
}

func TestTheRendererRestsAndWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rest{program: new(tea.Program)}
		ticker := time.NewTicker(frameEvery)
		defer ticker.Stop()
		r.ticker = ticker
		r.timer = time.AfterFunc(restAfter, r.quiet)
		r.last = time.Now()
		ticks := func(d time.Duration) (n int) {
			end := time.After(d)
			for {
				select {
				case <-ticker.C:
					n++
				case <-end:
					return n
				}
			}
		}
		if n := ticks(restAfter - frameEvery); n < 10 {
			t.Errorf("%d frames while something happens", n)
		}
		r.touch()
		if n := ticks(restAfter - frameEvery); n < 10 {
			t.Errorf("%d frames after a message", n)
		}
		ticks(restAfter)
		if n := ticks(time.Minute); n != 0 {
			t.Errorf("%d frames while nothing happens", n)
		}
		r.touch()
		if n := ticks(2 * frameEvery); n == 0 {
			t.Error("a message does not wake the renderer")
		}
		r.end()
	})
}
