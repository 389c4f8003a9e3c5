package act

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/react"
)

// within is how long after the time limit the last process of a command may still run.
const within = 6 * time.Second

// Processes that ignore SIGTERM are killed 5 s after the limit, and again while new ones appear:
// they are gone within 6 s. The clock is simulated, so a busy machine does not matter.
func TestStubbornProcessesAreKilledWithinSixSeconds(t *testing.T) {
	for name, c := range map[string]struct {
		dies  func(kills int) bool // of how many kills
		asked bool                 // being asked is enough
		most  time.Duration
		gone  bool
	}{
		"listens":         {asked: true, most: time.Second, gone: true},
		"does not listen": {dies: func(kills int) bool { return kills == 1 }, most: within, gone: true},
		"forks meanwhile": {dies: func(kills int) bool { return kills == 30 }, most: within, gone: true},
		"cannot be ended": {dies: func(int) bool { return false }, most: graceTerm + graceKill + killEvery, gone: false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := order{Request: react.Request{Kind: react.RequestCommand, Time: time.Minute}, Data: t.TempDir()}
				g := &group{exited: make(chan exit, 1), gone: make(chan struct{})}
				began := time.Now()
				result := o.watch(t.TempDir(), g, nil, nil)
				if took := time.Since(began); took != time.Minute || result.Outcome != react.OutcomeFailed || !strings.Contains(result.Why, "limit of 1m") {
					t.Fatalf("after %v: %+v", took, result)
				}
				limit, kills := time.Now(), 0
				var asks []string
				gone := end(func(kill bool) {
					if asks = append(asks, fmt.Sprint(kill)); kill {
						kills++
					}
					if c.asked || kill && c.dies(kills) {
						close(g.gone)
					}
				}, g.gone)
				if took := time.Since(limit); took > c.most || gone != c.gone {
					t.Errorf("gone: %v, after %v; %d kills", gone, took, kills)
				}
				if slices.Index(asks, "false") != 0 || c.asked && len(asks) != 1 {
					t.Errorf("asked, or killed: %v", asks)
				}
			})
		})
	}
}
