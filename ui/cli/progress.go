package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// When the progress of work is shown first, and how often after that.
const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// progress is one line on a terminal's standard error that tells how far work is. What
// the command writes meanwhile goes through [progress.beside], so that it stands on lines
// of its own.
type progress struct {
	out   io.Writer
	what  string
	count func() (done, total uint64) // nil: only the time is known
	now   func() time.Time
	began time.Time

	mu    sync.Mutex
	shown bool
}

// working shows how far work is until it is told to stop, where a person sees standard
// error. count tells how much of it is done, out of how much; nil: it is not known.
// It may be called from another goroutine.
func (a *app) working(what string, count func() (done, total uint64)) (stop func()) {
	if term, _ := a.Env("TERM"); !a.StderrTerminal || term == "dumb" {
		return func() {}
	}
	p := &progress{out: a.Stderr, what: what, count: count, now: time.Now, began: time.Now()}
	stdout, stderr := a.Stdout, a.Stderr
	a.Stderr = p.beside(stderr)
	if a.StdoutTerminal {
		a.Stdout = p.beside(stdout)
	}
	done := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.draw()
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		drawing.Wait()
		p.clear()
		a.Stdout, a.Stderr = stdout, stderr
	}
}

// draw shows the line as it is now.
func (p *progress) draw() {
	took := p.now().Sub(p.began)
	if took < progressAfter {
		return
	}
	line := fmt.Sprintf("%s, %d s", p.what, int(took/time.Second))
	if p.count != nil {
		if done, total := p.count(); total > 0 {
			const cells = 20
			part := min(done, total) * cells / total
			line = fmt.Sprintf("%s [%s%s] %d %%", line, strings.Repeat("#", int(part)), strings.Repeat(" ", int(cells-part)), min(done, total)*100/total)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = true
	_, _ = io.WriteString(p.out, "\r\x1b[K"+line) // what cannot be shown is not missed
}

// clear takes the line away.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
}

// wipe is clear for who holds the lock.
func (p *progress) wipe() {
	if p.shown {
		p.shown = false
		_, _ = io.WriteString(p.out, "\r\x1b[K")
	}
}

// beside returns a writer for w that takes the line away first.
func (p *progress) beside(w io.Writer) io.Writer { return besideProgress{p, w} }

type besideProgress struct {
	p *progress
	w io.Writer
}

// Write implements [io.Writer].
func (b besideProgress) Write(text []byte) (int, error) {
	b.p.mu.Lock()
	defer b.p.mu.Unlock()
	b.p.wipe()
	return b.w.Write(text)
}
