package reacttest

import (
	"sync"
	"testing"
)

// With -race this shows acts that change the state without the lock.
func TestEngineIsReadWhileItIsStopped(t *testing.T) {
	e := Reacting()
	var acts sync.WaitGroup
	acts.Go(func() {
		for range 100 {
			if err := e.Stop(t.Context(), false); err != nil {
				t.Error(err)
			}
			if err := e.Go(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	for range 100 {
		e.Reactions()
	}
	acts.Wait()
	if e.Reactions().Stopped || e.Acts("stop") != 100 {
		t.Errorf("%d stops, stopped: %t", e.Acts("stop"), e.Reactions().Stopped)
	}
}
