package host

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A thousand subscriptions that wake together ask a server at most five times a
// second, and four at a time.
func TestCatchUpsOfOneServerAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			p      = newPacer()
			mu     sync.Mutex
			asked  []time.Time
			busy   int
			asking sync.WaitGroup
		)
		for range 1000 {
			asking.Go(func() {
				done, err := p.take(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				asked = append(asked, time.Now())
				if busy++; busy > catchUpsAtOnce {
					t.Errorf("%d at a time", busy)
				}
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				busy--
				mu.Unlock()
				done()
			})
		}
		asking.Wait()
		slices.SortFunc(asked, time.Time.Compare)
		for i := 5; i < len(asked); i++ {
			if within := asked[i].Sub(asked[i-5]); within < time.Second {
				t.Fatalf("six requests within %v", within)
			}
		}
	})
}

func TestPacerStopsWithItsContext(t *testing.T) {
	p := newPacer()
	ctx, cancel := context.WithCancel(context.Background())
	for range catchUpsAtOnce {
		p.room <- struct{}{}
	}
	cancel()
	if _, err := p.take(ctx); err == nil {
		t.Error("the caller was let in")
	}
	for range catchUpsAtOnce {
		<-p.room
	}
	p.next = time.Now().Add(time.Hour)
	if _, err := p.take(ctx); err == nil || len(p.room) > 0 {
		t.Errorf("%v, %d are busy", err, len(p.room))
	}
}
