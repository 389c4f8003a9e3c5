package dialect

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestCallsThatAreLate(t *testing.T) {
	for name, c := range map[string]struct {
		open, resumable bool
		pause           time.Duration // between two keepalives; 0: none
		ends            time.Duration
		late            time.Duration // 0: never
	}{
		"answered":            {true, false, 0, callWithin - time.Second, 0},
		"silent":              {true, false, 0, time.Hour, callWithin},
		"resumable, silent":   {true, true, 0, time.Hour, callWithin + callSilent},
		"resumable, at work":  {true, true, callSilent / 2, time.Hour, 0},
		"resumable, answered": {true, true, 0, callSilent, 0},
		"resumable, cut":      {false, true, 0, time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, done := time.Now(), make(chan struct{})
				time.AfterFunc(c.ends, func() { close(done) })
				got := late(done, func() (time.Time, bool, bool) {
					heard := began
					if c.pause > 0 {
						heard = time.Now().Truncate(c.pause)
					}
					return heard, c.open, c.resumable
				})
				if took := time.Since(began); got != (c.late > 0) || got && took != c.late {
					t.Errorf("late %t after %v, want %v", got, took, c.late)
				}
			})
		})
	}
}
