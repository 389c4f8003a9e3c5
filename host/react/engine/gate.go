package engine

import (
	"sync"

	"eventdeck/host/react"
)

// gate is what every act passes right before it begins. It is closed from any goroutine and
// at once, not when the deciding goroutine comes to it.
type gate struct {
	mu     sync.Mutex
	stop   bool // the operator stopped
	byFile bool // the stop file is there
	held   bool // the operator has not said go yet
	live   map[react.RunID]react.Attempt
}

// shut reports whether nothing may begin.
func (g *gate) shut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stop || g.byFile || g.held
}

// pass reports whether the attempt may begin, and remembers it until leave.
func (g *gate) pass(id react.RunID, a react.Attempt) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stop || g.byFile || g.held {
		return false
	}
	g.live[id] = a
	return true
}

// adopt remembers an attempt that was begun by an earlier process.
func (g *gate) adopt(id react.RunID, a react.Attempt) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.live[id] = a
}

func (g *gate) leave(id react.RunID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.live, id)
}

// close shuts the gate; with kill it ends what passed.
func (g *gate) close(kill bool) {
	g.mu.Lock()
	g.stop = true
	live := g.running(kill)
	g.mu.Unlock()
	for _, a := range live {
		a.Kill()
	}
}

// file notes whether there is a stop file. While there is one, what passed is ended.
func (g *gate) file(there bool) {
	g.mu.Lock()
	g.byFile = there
	live := g.running(there)
	g.mu.Unlock()
	for _, a := range live {
		a.Kill()
	}
}

func (g *gate) running(kill bool) (live []react.Attempt) {
	if kill {
		for _, a := range g.live {
			live = append(live, a)
		}
	}
	return live
}

// open lets acts begin again.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stop, g.held = false, false
}

// stopped reports whether the operator stopped, by hand or by the file.
func (g *gate) stopped() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stop || g.byFile
}
