// Shows records that belong together, of the whole log: in lanes by server and type
// over time, and as a list in which repeats can be folded. It searches in the background, the newest
// records first.

package trace

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/incidents"
	"eventdeck/ui/tui/widget"
)

// Request selects the records to show.
type Request struct {
	Title string                   // safe to show; the view appends its order
	Match func(*event.Record) bool // called from several goroutines at once
	At    uint64                   // the record that is chosen first, if it is found
	Fold  bool                     // repeats are folded at first
}

// OpenRelated shows the records that a request matches, as they are found.
func OpenRelated(env *Env, q Request) tea.Cmd {
	d := &view{env: env, of: q, began: env.Clock(), at: q.At, asked: q.At, folded: q.Fold, open: map[uint64]bool{}}
	env.Screen.Show(d)
	return d.start()
}

// view is the dialog. The chosen row is kept as a sequence number, so that records found later do not
// change it.
type view struct {
	env     *Env
	of      Request
	began   time.Time
	entries []incidents.Entry
	hits    int
	read    uint64 // records examined
	done    bool
	err     error

	folded  bool
	open    map[uint64]bool // runs that are not folded, by their first record
	rows    []incidents.Run // of the list
	current bool            // rows are those of entries
	at      uint64          // the record of the chosen row
	asked   uint64          // the record to choose as soon as it is found; 0 once the operator moved
	top     int
	shown   int

	stop context.CancelFunc
}

// start starts the search.
func (d *view) start() tea.Cmd {
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	return d.search(ctx, stop, incidents.NewFinder(d.env.Log(), d.of.Match))
}

// restart searches again, to include records that were stored meanwhile. The chosen record stays.
func (d *view) restart() tea.Cmd {
	d.stop()
	d.entries, d.rows, d.asked, d.done, d.current = nil, nil, d.at, false, false
	return d.start()
}

// stepMax is about how many records one step of the search reads; the view shows the progress
// after each step.
const stepMax = 50_000

// search runs the next step of a search, and so on until all records were read or ctx ends, which
// stop does.
func (d *view) search(ctx context.Context, stop context.CancelFunc, f *incidents.Finder) tea.Cmd {
	return d.env.Screen.Do(func(run context.Context) tea.Msg {
		defer context.AfterFunc(run, stop)()
		found, err := f.Next(ctx, stepMax)
		return widget.Then(func() tea.Cmd {
			if ctx.Err() != nil {
				return nil
			}
			d.err, d.hits, d.read, d.done = err, f.Hits, f.Examined, f.End || err != nil
			d.take(found)
			if d.done {
				return nil
			}
			return d.search(ctx, stop, f)
		})
	})
}

// take adds the records that one step found.
func (d *view) take(found []incidents.Entry) {
	if len(found) == 0 {
		return
	}
	d.entries = append(d.entries, found...)
	incidents.Sort(d.entries)
	d.current = false
	if d.asked != 0 && slices.ContainsFunc(found, func(e incidents.Entry) bool { return e.Seq == d.asked }) {
		d.at = d.asked
	}
	d.makeRows()
}

// makeRows updates the rows of the list.
func (d *view) makeRows() {
	if d.current {
		return
	}
	d.current = true
	runs := incidents.Fold(d.entries)
	d.rows = d.rows[:0]
	for _, r := range runs {
		if d.folded && !d.open[d.entries[r.First].Seq] {
			d.rows = append(d.rows, r)
			continue
		}
		for i := r.First; i <= r.Last; i++ {
			d.rows = append(d.rows, incidents.Run{First: i, Last: i})
		}
	}
	if d.chosenIndex() < 0 && len(d.rows) > 0 {
		d.at = d.entries[d.rows[len(d.rows)-1].First].Seq
	}
}

// chosenIndex returns the index of the chosen row, -1 for none.
func (d *view) chosenIndex() int {
	return slices.IndexFunc(d.rows, func(r incidents.Run) bool {
		return slices.ContainsFunc(d.entries[r.First:r.Last+1], func(e incidents.Entry) bool { return e.Seq == d.at })
	})
}

func (d *view) move(n int) {
	if len(d.rows) == 0 {
		return
	}
	d.asked = 0
	i := max(0, min(d.chosenIndex()+n, len(d.rows)-1))
	d.at = d.entries[d.rows[i].First].Seq
}

// unfold opens or closes the run of the chosen row.
func (d *view) unfold(open bool) {
	i := d.chosenIndex()
	if i < 0 {
		return
	}
	for _, r := range incidents.Fold(d.entries) {
		if first := d.entries[r.First].Seq; r.First <= d.rows[i].First && d.rows[i].First <= r.Last {
			if !d.folded && !open { // the other runs stay open
				d.folded = true
				for _, other := range incidents.Fold(d.entries) {
					d.open[d.entries[other.First].Seq] = true
				}
			}
			if open {
				d.open[first] = true
			} else {
				delete(d.open, first)
				d.at = first
			}
			break
		}
	}
	d.current = false
	d.makeRows()
}

// Title implements [widget.Dialog]. It names the order, because the stream has another one.
func (d *view) Title() string {
	title := d.of.Title + ", by time occurred"
	if d.folded {
		title += ", repeats folded"
	}
	return title
}

func (d *view) Size(w, h int) (int, int) { return max(1, w-4), max(1, h-6) }

func (d *view) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch name {
	case "esc", "q":
		d.stop()
		d.env.Screen.Show(nil)
	case "enter":
		if i := d.chosenIndex(); i >= 0 {
			d.stop()
			d.env.Screen.Show(nil)
			d.env.Goto(d.at)
		}
	case "R":
		return d.restart()
	case "#":
		d.folded = !d.folded
		clear(d.open)
		d.current = false
		d.makeRows()
	case "l", "right":
		d.unfold(true)
	case "h", "left":
		d.unfold(false)
	default:
		if move, ok := widget.Steps(name, len(d.rows), d.shown); ok {
			d.move(move)
		} else {
			d.env.Elsewhere(k, "enter goes to the row there")
		}
	}
	return nil
}

func (d *view) Hints() []string {
	fold := "fold repeats"
	if d.folded {
		fold = "unfold all"
	}
	return []string{"j k", "move", "enter", "go there", "#", fold, "l h", "open, close", "R", "look again", "esc", "back"}
}
