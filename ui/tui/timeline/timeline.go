// Package timeline draws the number of stored records over time, and leads to the records of a time.
package timeline

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// timeline is the dialog.
type timeline struct {
	env         *cells.Env
	screen      widget.Screen
	log         eventlog.Records
	of          Subset
	everything  bool      // all records are drawn, not only the matches of the query
	width       int       // inside the frame
	first, last time.Time // the times of the first and the last stored record
	from, to    time.Time // the range that is drawn, without to
	counts      []uint64
	grades      *grades // the severities of the records in each bucket
	at          int     // the bucket under the cursor; -1 until there are buckets
	token       int     // of the newest request
	busy        bool
	err         error
	stop        context.CancelFunc // ends the reading of severities; nil if there is none
}

// Subset selects the records that are drawn first.
type Subset struct {
	Matches func(*event.Record) bool // called from several goroutines; nil: everything is drawn
	Title   string                   // describes the records; safe to show
}

// minBucket is the shortest duration of a bucket.
const minBucket = time.Millisecond

// Open shows the timeline at once, and draws a subset of the log as soon as the times of the first
// and the last record are known. A key shows all records instead.
func Open(env *cells.Env, screen widget.Screen, log eventlog.Records, of Subset) tea.Cmd {
	d := &timeline{env: env, screen: screen, log: log, of: of, at: -1, busy: true}
	screen.Show(d)
	return screen.Do(func(context.Context) tea.Msg {
		first, last, err := extent(log)
		return widget.Then(func() tea.Cmd {
			switch d.first, d.last = first, last; {
			case screen.Shown() != widget.Dialog(d):
				return nil
			case err == nil && !first.IsZero():
				d.whole()
				return d.load()
			case err != nil:
				screen.Fail("cannot read the log", err)
			default:
				screen.Tell("nothing is stored yet")
			}
			screen.Show(nil)
			return nil
		})
	})
}

// extent returns when the first and the last record of the log were received; zero times if there
// are none.
func extent(log eventlog.Records) (first, last time.Time, err error) {
	taking := func(t *time.Time) func(event.Record) bool {
		return func(r event.Record) bool { *t = r.ReceivedAt; return false }
	}
	if r, err := log.Get(1); err == nil { // reading from 0 makes the store check its file for damage
		first = r.ReceivedAt
	} else if err := log.After(0, taking(&first)); err != nil {
		return first, last, err
	}
	return first, last, log.Before(0, taking(&last))
}

// whole sets the range to that of all records.
func (d *timeline) whole() {
	d.from, d.to = d.first, d.last.Add(time.Millisecond)
	if d.to.Sub(d.from) < time.Second { // also if the clock was set back
		d.to = d.from.Add(time.Second)
	}
}

// gutter is the width of the labels at the left, in cells.
const gutter = 9

// filtered reports whether only the matches of the query are drawn.
func (d *timeline) filtered() bool { return !d.everything && d.of.Matches != nil }

// load counts the records in a bucket for each column, and then reads their severities. The matches
// of a query are counted while they are read.
func (d *timeline) load() tea.Cmd {
	d.token++
	d.busy = true
	d.stopReading()
	from, to, token, n := d.from, d.to, d.token, max(1, d.width-gutter-1)
	if d.filtered() {
		d.counted(make([]uint64, n), nil)
		return d.grade()
	}
	return d.screen.Do(func(ctx context.Context) tea.Msg {
		counts, err := d.log.Histogram(ctx, from, to, n)
		return widget.Then(func() tea.Cmd {
			if token != d.token {
				return nil
			}
			d.counted(counts, err)
			if err != nil {
				return nil
			}
			return d.grade()
		})
	})
}

// stopReading ends the reading of severities.
func (d *timeline) stopReading() {
	if d.stop != nil {
		d.stop()
		d.stop = nil
	}
}

// grade reads the severities of records, the newest first. The counts so far are drawn meanwhile.
func (d *timeline) grade() tea.Cmd {
	ctx, stop := context.WithCancel(context.Background())
	var matches func(*event.Record) bool
	if d.filtered() {
		matches = d.of.Matches
	}
	g := newGrades(d.from, d.to, len(d.counts), matches)
	d.grades, d.stop = g, stop
	return d.screen.Do(func(run context.Context) tea.Msg {
		defer context.AfterFunc(run, stop)()
		defer stop()
		err := g.read(ctx, d.log)
		return widget.Then(func() tea.Cmd {
			if d.grades == g {
				g.done = true
				if err != nil && ctx.Err() == nil {
					d.screen.Fail("cannot read the log", err)
				}
			}
			return nil
		})
	})
}

// counted stores the answer to the newest request.
func (d *timeline) counted(counts []uint64, err error) {
	d.busy, d.counts, d.err = false, counts, err
	if d.at < 0 { // the newest one, once it is known how many there are
		d.at = len(d.counts) - 1
	}
	d.at = max(0, min(d.at, len(d.counts)-1))
}

// begins returns the time at which a bucket begins.
func (d *timeline) begins(bucket int) time.Time {
	if len(d.counts) == 0 {
		return d.from
	}
	return d.from.Add(time.Duration(float64(d.to.Sub(d.from)) * float64(bucket) / float64(len(d.counts))))
}

// Title implements [widget.Dialog].
func (d *timeline) Title() string {
	switch {
	case d.filtered():
		return "Timeline of " + d.of.Title
	case d.everything:
		return "Timeline of everything, unfiltered"
	}
	return "Timeline of everything"
}

func (d *timeline) Size(sw, sh int) (int, int) {
	d.width = max(1, sw-4)
	return d.width, min(18, sh-6)
}

func (d *timeline) Key(k tea.KeyPressMsg) tea.Cmd {
	name, n := k.String(), len(d.counts)
	if n == 0 && d.busy && name != "esc" && name != "q" {
		return nil // there is nothing to move in yet
	}
	switch name {
	case "esc", "q":
		d.stopReading()
		d.screen.Show(nil)
	case "h", "left":
		d.at--
	case "l", "right":
		d.at++
	case "b", "pgup", "up", "shift+left":
		d.at -= max(1, n/10)
	case "w", "pgdown", "down", "shift+right":
		d.at += max(1, n/10)
	case "g", "home":
		d.at = 0
	case "G", "end":
		d.at = n - 1
	case "+", "=":
		return d.zoom(4)
	case "-":
		return d.zoom(0.25)
	case "a":
		if d.of.Matches != nil {
			d.everything = !d.everything
			return d.load()
		}
	case "0":
		d.whole()
		return d.load()
	case "enter":
		return d.jump()
	}
	d.at = max(0, min(d.at, n-1))
	return nil
}

// zoom divides the range around the cursor by a factor.
func (d *timeline) zoom(by float64) tea.Cmd {
	if len(d.counts) == 0 {
		return nil
	}
	middle := d.begins(d.at)
	span := time.Duration(float64(d.to.Sub(d.from)) / by)
	if span < minBucket*time.Duration(len(d.counts)) {
		return nil
	}
	all := d.last.Add(time.Millisecond).Sub(d.first)
	if span >= all {
		d.whole()
	} else {
		d.from = middle.Add(-span / 2)
		if end := d.last.Add(time.Millisecond); d.from.Add(span).After(end) {
			d.from = end.Add(-span)
		}
		if d.from.Before(d.first) {
			d.from = d.first
		}
		d.to = d.from.Add(span)
	}
	d.at = int(float64(len(d.counts)) * float64(middle.Sub(d.from)) / float64(d.to.Sub(d.from)))
	return d.load()
}

// jump shows the first record of the bucket under the cursor, or a later one, in the stream.
func (d *timeline) jump() tea.Cmd {
	if len(d.counts) == 0 {
		return nil
	}
	if d.filtered() {
		if seq := d.grades.since(d.at); seq > 0 {
			d.stopReading()
			d.screen.Show(nil)
			return d.screen.Jump(seq)
		}
	}
	at := d.begins(d.at)
	return d.screen.Do(func(context.Context) tea.Msg {
		seq, err := d.log.SeqAt(at)
		seq = min(seq, d.log.Last())
		return widget.Then(func() tea.Cmd {
			if err != nil {
				d.screen.Fail("cannot read the log", err)
				return nil
			}
			d.stopReading()
			d.screen.Show(nil)
			return d.screen.Jump(seq)
		})
	})
}

// Busy implements [widget.Worker].
func (d *timeline) Busy() bool { return d.busy || d.grades != nil && !d.grades.done }

// Click implements [widget.Clicker].
func (d *timeline) Click(x, _ int) tea.Cmd {
	if n, x := len(d.counts), x-gutter; n > 0 && d.width > gutter+1 && x >= 0 {
		i := min(x*n/(d.width-gutter-1), n-1)
		if i == d.at {
			return d.jump()
		}
		d.at = i
	}
	return nil
}

func (d *timeline) Paste(string) tea.Cmd { return nil }
func (d *timeline) Hints() []string {
	hints := []string{"h l", "move", "+ -", "zoom", "0", "all times"}
	switch {
	case d.filtered():
		hints = append(hints, "a", "everything")
	case d.everything:
		hints = append(hints, "a", "what is shown")
	}
	return append(hints, "enter", "go there", "esc", "back")
}
