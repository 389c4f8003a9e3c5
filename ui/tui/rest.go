package tui

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// restAfter is how long nothing must have happened before the renderer rests.
// Frames are painted within 16 ms of what changed them.
const restAfter = 250 * time.Millisecond

// rest lets the renderer sleep while nothing happens. Bubble Tea 2.0 wakes it 60
// times a second for ever, which costs 0.6 % of a core and keeps laptops from
// sleeping (github.com/charmbracelet/bubbletea/pull/1776). Its ticker is not
// exported: it is found by its name, and where there is none of that name, the
// renderer goes on as before. Every message and every frame wakes it.
type rest struct {
	program *tea.Program

	mu     sync.Mutex
	ticker *time.Ticker // of the renderer
	timer  *time.Timer  // fires when nothing happened for restAfter
	last   time.Time
	asleep bool
	over   bool
}

// frameEvery is the time between two frames, as [tea.WithFPS] has it by default.
const frameEvery = time.Second / 60

// touch keeps the renderer awake. It runs on the program's goroutine.
func (r *rest) touch() {
	if r.program == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	if r.ticker == nil {
		if r.ticker = tickerOf(r.program); r.ticker == nil {
			return
		}
		r.timer = time.AfterFunc(restAfter, r.quiet)
	}
	r.last = time.Now()
	if r.asleep {
		r.asleep = false
		r.ticker.Reset(frameEvery)
		r.timer.Reset(restAfter)
	}
}

// quiet stops the ticker, unless something happened meanwhile.
func (r *rest) quiet() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	if left := restAfter - time.Since(r.last); left > 0 {
		r.timer.Reset(left)
		return
	}
	r.asleep = true
	r.ticker.Stop()
}

// end leaves the renderer alone.
func (r *rest) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if r.timer != nil {
		r.timer.Stop()
	}
}

// tickerOf returns the ticker of the program's renderer, nil if there is none.
func tickerOf(p *tea.Program) *time.Ticker {
	f := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !f.IsValid() || f.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return *(**time.Ticker)(unsafe.Pointer(f.UnsafeAddr()))
}
