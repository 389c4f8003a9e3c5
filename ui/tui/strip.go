package tui

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/timeline"
)

// Least size of the stream with a timeline above its rows, in cells.
const (
	stripHeight = 12
	stripWidth  = 60
)

// openTimeline opens the timeline of the records that the stream shows.
func (a *app) openTimeline() tea.Cmd {
	var of timeline.Subset
	if q := a.stream.Query; !q.Everything() {
		of = timeline.Subset{Matches: q.Matches, Title: stream.QueryWords(&q, a.Glyphs).Plain()}
	}
	return timeline.Open(&a.Env, a, a.o.API.Log(), of)
}

// stripRows returns the number of rows of the timeline in the stream's pane: none with two streams.
func (a *app) stripRows() int {
	if r := a.panes.Now.Stream; r.H < stripHeight || r.W < stripWidth || a.stream.Two || len(a.stream.Seqs) == 0 {
		return 0
	}
	return timeline.StripRows
}

// rowsShown describes the rows of the stream for its timeline.
func (a *app) rowsShown() timeline.Rows {
	s := &a.stream.Stream
	r := timeline.Rows{Stream: s.ID(), Gen: s.Gen, Loaded: s.Loaded, Begins: s.Oldest, Seqs: s.Seqs, Top: s.Top, At: s.At, Follow: s.Follow && !s.Paused, Marks: s.Marks.Gen, Marked: s.Marks}
	if n := len(s.Seqs); n > 0 {
		r.Bottom = s.Seqs[min(s.Index(s.Top)+max(s.Height, 1), n)-1]
	}
	return r
}

// stripWork returns a command that reads what the timeline needs, nil if it is not shown.
func (a *app) stripWork() tea.Cmd {
	if a.stripRows() == 0 {
		return nil
	}
	log := a.o.API.Log()
	return a.strip.Work(a, a.rowsShown(), func(seq uint64) (event.Record, error) { return log.Get(seq) })
}
