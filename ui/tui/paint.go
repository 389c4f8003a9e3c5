package tui

import (
	"context"
	"reflect"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// frameEvery is the shortest time between two frames.
const frameEvery = time.Second / 120

// paintMsg: a frame was drawn and handed to the renderer.
type paintMsg struct{}

// painter has the renderer paint right after a frame was drawn, and never while
// nothing happens. Bubble Tea 2.0 has it look 60 times a second for ever: a frame
// waits half of that time for nothing, and an idle program uses 0.6 % of a core and
// keeps laptops from sleeping (github.com/charmbracelet/bubbletea/pull/1776). Its
// ticker is not exported: it is found by its name, and where there is none of that
// name, the renderer goes on as before.
type painter struct {
	frames chan time.Time // one slot: a value lets the renderer paint; nil: it has its own ticker
	drawn  chan struct{}  // one slot: a frame was drawn
	last   time.Time      // when the renderer was let paint last
}

// lead takes over the renderer of a program that does not run yet.
func (p *painter) lead(program *tea.Program) {
	f := reflect.ValueOf(program).Elem().FieldByName("ticker")
	if !f.IsValid() || f.Type() != reflect.TypeFor[*time.Ticker]() {
		return
	}
	p.frames, p.drawn = make(chan time.Time, 1), make(chan struct{}, 1)
	t := time.NewTicker(time.Hour)
	t.C = p.frames // the program starts and stops the ticker, which nobody reads
	*(**time.Ticker)(unsafe.Pointer(f.UnsafeAddr())) = t
}

// touch tells that a frame is being drawn. It never waits.
func (p *painter) touch() {
	select {
	case p.drawn <- struct{}{}: // nil before lead
	default:
	}
}

// run sends a [paintMsg] for what is drawn, frameEvery apart, until ctx ends. The
// program takes messages when it has handed its last frame to the renderer.
func (p *painter) run(ctx context.Context, send func(tea.Msg)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.drawn:
		}
		if !pause(ctx, frameEvery-time.Since(p.last)) {
			return
		}
		select {
		case <-p.drawn: // meanwhile, and painted with it
		default:
		}
		p.last = time.Now()
		send(paintMsg{})
	}
}

// paint lets the renderer paint. While it still paints, it looks again after that.
func (p *painter) paint() {
	select {
	case p.frames <- time.Now():
	default:
	}
}

// pause waits for d; it reports whether it has, and not ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
