package react

import (
	"math/rand/v2"
	"testing"
	"time"
)

var began = time.Date(2026, 3, 14, 14, 3, 5, 0, time.UTC)

// stand lets time pass, tick by tick, while the frame does not change.
func stand(g *guard, now *time.Time, for_ time.Duration) {
	for end := now.Add(for_); now.Before(end); {
		*now = now.Add(TickEvery)
		g.ticked(*now)
	}
}

func TestKeyApprovesOnceAllLinesWereShown(t *testing.T) {
	var g guard
	now := began
	g.ticked(now)
	g.shows(now, "a", 20, 0, 12)
	stand(&g, &now, 2*time.Second)
	if g.key(now, false); g.open {
		t.Fatal("8 lines were not on the screen")
	}
	if !g.below() || g.above() || g.unseen() != 8 {
		t.Errorf("unseen: %d, below %v, above %v", g.unseen(), g.below(), g.above())
	}
	g.shows(now, "a", 20, 8, 20)
	stand(&g, &now, Grace-TickEvery)
	if g.key(now, false); g.open {
		t.Fatal("it has not stood for long enough")
	}
	stand(&g, &now, Grace)
	if g.key(now, true); g.open {
		t.Fatal("a key that is held down counts")
	}
	stand(&g, &now, Grace)
	if g.key(now, false); !g.open {
		t.Fatal("all has stood, and the key does not count")
	}
	if g.key(now, false); g.open {
		t.Error("the key counts twice")
	}
}

// The next approval must wait, in case the operator presses the key twice.
func TestNextApprovalTakesLonger(t *testing.T) {
	var g guard
	now := began
	g.ticked(now)
	g.shows(now, "a", 3, 0, 3)
	stand(&g, &now, 2*Grace)
	g.key(now, false)
	g.markUsed(now)
	g.beginFrame()
	g.shows(now, "b", 3, 0, 3)
	g.endFrame()
	stand(&g, &now, Cooldown-TickEvery)
	if g.key(now, false); g.open {
		t.Fatal("the next one was approved at once")
	}
	stand(&g, &now, 2*Grace)
	if g.key(now, false); !g.open {
		t.Error("the next one cannot be approved")
	}
}

func TestLinesScrolledPastFastAreUnseen(t *testing.T) {
	var g guard
	now := began
	g.ticked(now)
	for from := range 20 {
		g.shows(now, "a", 30, from, from+10)
		now = now.Add(TickEvery / 2)
		g.ticked(now)
	}
	g.shows(now, "a", 30, 20, 30)
	stand(&g, &now, 2*Grace)
	if g.key(now, false); g.open || g.unseen() != 20 {
		t.Errorf("%d of 30 lines were not seen", g.unseen())
	}
}

func TestEveryChangeRestartsTheGrace(t *testing.T) {
	for name, change := range map[string]func(g *guard, now time.Time){
		"a key":         func(g *guard, now time.Time) { g.key(now, false) },
		"the mouse":     func(g *guard, now time.Time) { g.disturb(now) },
		"other lines":   func(g *guard, now time.Time) { g.shows(now, "b", 3, 0, 3) },
		"more lines":    func(g *guard, now time.Time) { g.shows(now, "a", 4, 0, 4) },
		"a frame off":   func(g *guard, _ time.Time) { g.beginFrame(); g.endFrame() },
		"a sleep":       func(g *guard, now time.Time) { g.ready = false; g.ticked(now.Add(time.Minute)) },
		"another place": func(g *guard, now time.Time) { g.shows(now, "a", 3, 1, 3) },
	} {
		var g guard
		now := began
		g.ticked(now)
		g.shows(now, "a", 3, 0, 3)
		stand(&g, &now, Grace+TickEvery)
		if !g.ready {
			t.Fatal("not ready after the grace")
		}
		change(&g, now)
		if g.key(now.Add(time.Millisecond), false); g.open {
			t.Errorf("%s: the key right behind it counts", name)
		}
	}
}

// Keys at 50 per second approve nothing, whatever is shown meanwhile.
func TestFastKeysNeverApprove(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var g guard
		now := began
		what, lines := "a", 10
		for range 2_000 {
			now = now.Add(time.Duration(1+r.IntN(20)) * time.Millisecond)
			switch r.IntN(4) {
			case 0:
				g.ticked(now)
			case 1:
				what, lines = string(rune('a'+r.IntN(26))), 1+r.IntN(30)
			}
			g.shows(now, what, lines, 0, lines)
			if g.key(now, false); g.open {
				t.Fatalf("seed %d: a key counts", seed)
			}
		}
	}
}
