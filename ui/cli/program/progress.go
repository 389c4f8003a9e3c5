package program

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"charm.land/bubbles/v2/progress"
	"charm.land/bubbles/v2/spinner"
	"charm.land/lipgloss/v2"
)

// When progress is shown first, and how often after that.
const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// barWidth is how wide a bar with its percentage is, in cells.
const barWidth = 30

// progressLine is one line on a terminal's standard error that shows how far work is. The
// other output of the command goes through [progressLine.beside], so that it stands on lines
// of its own.
type progressLine struct {
	out   io.Writer
	what  string
	count func() (done, total uint64) // nil: only the time is known
	now   func() time.Time
	began time.Time

	mu    sync.Mutex
	shown bool
}

// Working shows how far work is until stop is called, if standard error is a terminal. count
// returns how much of it is done, out of how much; nil: that is not known. It may be called
// from another goroutine.
func (a *App) Working(what string, count func() (done, total uint64)) (stop func()) {
	if term, _ := a.Env("TERM"); !a.StderrTerminal || term == "dumb" {
		return func() {}
	}
	p := &progressLine{out: a.Stderr, what: what, count: count, now: time.Now, began: time.Now()}
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
func (p *progressLine) draw() {
	took := p.now().Sub(p.began)
	if took < progressAfter {
		return
	}
	frames := spinner.Line.Frames
	line := fmt.Sprintf("%s %s, %d s", frames[int(took/progressEvery)%len(frames)], p.what, int(took/time.Second))
	if p.count != nil {
		if done, total := p.count(); total > 0 {
			bar := progress.New(progress.WithWidth(barWidth), progress.WithFillCharacters('#', '-'), progress.WithColors(lipgloss.NoColor{}))
			bar.EmptyColor = lipgloss.NoColor{}
			line += " " + bar.ViewAs(float64(min(done, total))/float64(total))
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = true
	_, _ = io.WriteString(p.out, "\r\x1b[K"+line) // what cannot be shown is not missed
}

// clear removes the line.
func (p *progressLine) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
}

// wipe is clear for a caller that holds the lock.
func (p *progressLine) wipe() {
	if p.shown {
		p.shown = false
		_, _ = io.WriteString(p.out, "\r\x1b[K")
	}
}

// beside returns a writer for w that removes the line first.
func (p *progressLine) beside(w io.Writer) io.Writer { return besideProgress{p, w} }

type besideProgress struct {
	p *progressLine
	w io.Writer
}

// Write implements [io.Writer].
func (b besideProgress) Write(text []byte) (int, error) {
	b.p.mu.Lock()
	defer b.p.mu.Unlock()
	b.p.wipe()
	return b.w.Write(text)
}

// CountedReader counts the bytes that were read.
type CountedReader struct {
	In    io.Reader
	Count atomic.Uint64
}

// Read implements [io.Reader].
func (c *CountedReader) Read(p []byte) (int, error) {
	n, err := c.In.Read(p)
	c.Count.Add(uint64(n))
	return n, err
}
