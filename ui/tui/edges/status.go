// Package edges draws the lines above and below the panes: the scope and filter of the stream,
// notes for the operator, and totals.
package edges

import (
	"errors"
	"time"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/external"
)

// Edges are the two lines. The lower one takes notes.
type Edges struct {
	Head Head
	Status
}

// Status is the line below the panes. It shows totals, or for some seconds a note.
type Status struct {
	Note    Note
	Trouble Trouble
	env     *Env
	undo    undo
	canvas  cells.Canvas
	line    string
	of      statusKey
}

// NewStatus returns the line below the panes, without a note.
func NewStatus(env *Env) Status { return Status{env: env} }

// Draw draws the line in w cells: the note, else what can be undone, else the progress of an
// export, else totals.
func (s *Status) Draw(w int) string {
	writing := s.env.Writing()
	turn := ""
	if writing.Path != "" {
		turn = s.env.Turning()
	}
	key := statusKey{s.changes(), w, s.env.Style, s.env.Clock().Unix(), s.env.Snap.Version, s.env.Snap.Last, errText(errors.Join(s.env.Snap.Store.Err, s.env.Snap.Store.Damage)), s.env.Rates.At, s.Note, s.Trouble.seen, s.Trouble.open, turn, writing}
	if key == s.of {
		return s.line
	}
	s.of = key
	c := &s.canvas
	c.Begin(&s.env.Theme, w)
	switch {
	case s.Note.Text != "" && s.Note.Bad:
		s.drawChip(c)
		c.Put(themes.Bad, " ")
		first, _ := s.failure(c.Room)
		c.Safe(themes.Bad, first)
	case s.Note.Text != "":
		s.drawNote(c, s.Note.Text)
	case s.CanUndo():
		s.drawNote(c, s.undoWords())
	case writing.Path != "":
		s.drawWriting(c, writing)
	default:
		s.drawTotals(c)
	}
	c.End()
	s.line = c.Top()
	return s.line
}

// failure splits a failure into the part that fits w cells and the rest.
func (s *Status) failure(w int) (first, more trust.Rendered) {
	lines := cells.Wrap(s.Note.Words(), max(w, 1), 2)
	if len(lines) == 1 {
		return lines[0], more
	}
	return lines[0], lines[1]
}

// More draws the rest of a failure that does not fit the line, in w cells: it takes the place of the
// hints. It returns "" if there is none.
func (s *Status) More(w int) string {
	if !s.Note.Bad {
		return ""
	}
	var c cells.Canvas
	c.Begin(&s.env.Theme, w)
	s.drawChip(&c)
	_, more := s.failure(c.Room - 1)
	if more.Width == 0 {
		return ""
	}
	c.Begin(&s.env.Theme, w)
	c.Put(themes.Bad, " ")
	c.Safe(themes.Bad, more.Clip(c.Room))
	c.End()
	return c.Top()
}

// drawWriting draws the progress of an export.
func (s *Status) drawWriting(c *cells.Canvas, x external.Running) {
	c.Put(themes.Busy, " "+s.env.Turning()+" ")
	if bar := s.env.Bar(x.Done, x.Total); bar != "" && c.Width >= barFrom {
		c.Put(themes.Busy, bar+"  ")
	}
	c.Put(themes.Busy, "writing "+cells.Number(uint64(x.Records))+" ")
	c.Safe(themes.Busy, cells.Join(cells.Sanitize("to "), cells.Sanitize(x.Path), cells.Sanitize("; "+s.env.KeyOf("export.stop")+" stops it")).Clip(c.Room))
}

// barFrom is the least width of a line with a bar.
const barFrom = 80

// drawNote draws a note. Trouble stays visible beside it.
func (s *Status) drawNote(c *cells.Canvas, text string) {
	s.drawChip(c)
	c.Put(themes.Strong, " ")
	c.Safe(themes.Strong, cells.Sanitize(text).Clip(c.Room))
}

// drawChip draws trouble in few words, so that a note does not hide it.
func (s *Status) drawChip(c *cells.Canvas) {
	s.drawChips(c)
	word, _ := evidence.StoreTrouble(s.env.Snap.Store)
	if word == "" {
		word = s.env.Total.InTrouble()
	}
	if word != "" {
		c.Put(themes.Bad, " "+word)
		c.Put(themes.Rule, " "+s.env.Glyphs.Divider)
	}
}

func (s *Status) drawChips(c *cells.Canvas) {
	if s.env.Chips != nil {
		s.env.Chips(c)
	}
}

func (s *Status) changes() uint64 {
	if s.env.Changes == nil {
		return 0
	}
	return s.env.Changes()
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// statusKey has the values that the status line was drawn from.
type statusKey struct {
	changes       uint64
	w, look       int
	second        int64
	version, last uint64
	failed        string
	measured      time.Time
	note          Note
	errors        uint64
	pending       bool
	turn          string
	writing       external.Running
}
