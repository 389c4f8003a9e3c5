// Package edges has the lines above and below the panes: what is shown, what was told, and
// the state of everything.
package edges

import (
	"errors"
	"strconv"
	"time"

	"eventdeck/host"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/stats"
	"eventdeck/ui/tui/tree"
)

// Edges are both lines.
type Edges struct {
	Head   Head
	Status Status
}

// StatusEnv is what the line below the panes tells of.
type StatusEnv struct {
	*cells.Env
	Snap  *host.Snapshot
	Rates *stats.Rates
	Total *tree.Totals
	// Writing returns the file that is being written, "" for none, and how many records of
	// it are.
	Writing func() (path string, records int64)
	KeyOf   func(action string) string
	// Chips writes what else must not be hidden, Changes differs when that is another; nil:
	// there is nothing.
	Chips   func(c *cells.Canvas)
	Changes func() uint64
}

// Status is the line below the panes. What was done and what failed stands before the state
// of everything, for a while.
type Status struct {
	Note    Note
	Trouble Trouble
	env     StatusEnv
	undo    undo
	canvas  cells.Canvas
	line    string
	of      statusKey
}

// NewStatus returns a line below the panes that tells nothing yet.
func NewStatus(env StatusEnv) Status { return Status{env: env} }

// Draw tells in w cells what was done, or the state of everything.
func (s *Status) Draw(w int) string {
	writing, written := s.env.Writing()
	key := statusKey{s.changes(), w, s.env.Style, s.env.Clock().Unix(), s.env.Snap.Version, s.env.Snap.Last, errText(errors.Join(s.env.Snap.Store.Err, s.env.Snap.Store.Damage)), s.env.Rates.At, s.Note, s.Trouble.seen, s.Trouble.open, writing, written}
	if key == s.of {
		return s.line
	}
	s.of = key
	c := &s.canvas
	c.Begin(&s.env.Theme, w)
	switch {
	case s.Note.Text != "" && s.Note.Bad:
		c.Only(themes.Alarm)
		s.drawChip(c)
		c.Put(themes.Plain, " failed ")
		c.Safe(themes.Plain, cells.Sanitize(s.Note.Text).Clip(c.Room))
	case s.Note.Text != "":
		s.drawNote(c, s.Note.Text)
	case s.CanUndo():
		s.drawNote(c, s.undoWords())
	case writing != "":
		c.Put(themes.Busy, " writing "+cells.Number(uint64(written))+" ")
		c.Safe(themes.Busy, cells.Join(cells.Sanitize("to "), cells.Sanitize(writing), cells.Sanitize("; "+s.env.KeyOf("export.stop")+" stops it")).Clip(c.Room))
	default:
		s.drawTotals(c)
	}
	c.End()
	s.line = c.Top()
	return s.line
}

// drawNote tells what was done. Trouble stays in view beside it.
func (s *Status) drawNote(c *cells.Canvas, text string) {
	s.drawChip(c)
	c.Put(themes.Strong, " ")
	c.Safe(themes.Strong, cells.Sanitize(text).Clip(c.Room))
}

// drawChip tells in few words of trouble that a line about something else must not hide.
func (s *Status) drawChip(c *cells.Canvas) {
	s.drawChips(c)
	word, _ := evidence.StoreTrouble(s.env.Snap.Store)
	if word == "" && s.env.Total.Trouble > 0 {
		word = strconv.Itoa(s.env.Total.Trouble) + " in trouble"
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

// statusKey is what the status line was made from.
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
	writing       string
	written       int64
}
