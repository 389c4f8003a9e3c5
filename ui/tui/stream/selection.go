package stream

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// Selection is a range of records of the stream. Its ends are sequence numbers, which arrivals and
// filters do not change.
type Selection struct {
	On   bool
	From uint64 // the record where it began
	All  bool   // everything that the stream shows, up to From
}

// Ends returns the first and the last record of the range.
func (s *Stream) Ends() (first, last uint64) {
	switch {
	case !s.Selected.On:
		return s.At, s.At
	case s.Selected.All:
		return 1, s.Selected.From
	}
	return min(s.Selected.From, s.At), s.LastOf(max(s.Selected.From, s.At))
}

// in reports whether a record is in the range.
func (s *Stream) in(seq uint64) bool {
	if !s.Selected.On {
		return false
	}
	first, last := s.Ends()
	return first <= seq && seq <= last
}

// Chosen returns the chosen record; ok is false if there is none or it has not been read yet.
func (s *Stream) Chosen() (event.Record, bool) { return s.Record(s.At) }

// OnRecord reports whether the list that is shown is the stream or the tree, and a record is chosen.
func (s *Stream) OnRecord() bool { return s.At != 0 && !s.env.Panes.OnTable() }

// OnEvent reports whether the chosen record is an event.
func (s *Stream) OnEvent() bool {
	r, ok := s.Chosen()
	return ok && r.Kind == event.KindEvent
}

// NoEvent names the kind of the chosen record if it is no event.
func (s *Stream) NoEvent() string {
	switch r, ok := s.Chosen(); {
	case !ok || r.Kind == event.KindEvent:
		return ""
	case r.Kind == event.KindState:
		return "a change of state"
	case r.Kind == event.KindRejected:
		return "a payload that was refused"
	}
	return "a gap"
}

// RowName names the chosen record by its time and summary, as rows that arrive meanwhile may look
// alike. It is "" if keys act on no record.
func (s *Stream) RowName() string {
	r, ok := s.Chosen()
	if !ok || s.env.Panes.Focus == layout.Tree || s.env.Panes.OnTable() {
		return ""
	}
	_, summary, _ := s.Headline(&r)
	return cells.TimeText(r.ReceivedAt, s.env.Times.Zone(), time.TimeOnly) + " " + summary.Clip(rowNameMax).Plain()
}

// rowNameMax bounds the summary in the name of a row, in cells.
const rowNameMax = 40

// SelectRange begins a range at the chosen record, or ends it.
func (s *Stream) SelectRange() {
	if s.Selected.On {
		s.Selected = Selection{}
		return
	}
	s.Selected = Selection{On: true, From: s.At}
	s.Follow = false
	screen := s.env.Screen
	screen.EnterStream()
	screen.Tell("range: move to its other end; " + screen.KeyOf("copy") + " copies, " + screen.KeyOf("export") + " writes, esc ends it")
}

// SelectAll selects everything that the stream shows.
func (s *Stream) SelectAll() {
	s.Selected = Selection{On: true, From: s.env.Snap.Last, All: true}
	s.env.Screen.EnterStream()
	s.env.Screen.Tell("everything shown is selected; " + s.env.Screen.KeyOf("export") + " writes it, esc ends it")
}

// Bounds of the records of a range that are held in memory.
const (
	rangeMax = 20_000
	rangeMem = 8 << 20 // bytes
)

// WithSelected calls then with the records of the range, oldest first, or with the chosen record. It
// cuts a range at [rangeMax] records or [rangeMem] bytes.
func (s *Stream) WithSelected(then func([]event.Record) tea.Cmd) tea.Cmd {
	if !s.Selected.On {
		return s.WithRecord(s.At, func(r event.Record, err error) tea.Cmd {
			if err != nil {
				s.env.Screen.Fail("cannot read the log", err)
				return nil
			}
			return then([]event.Record{r})
		})
	}
	first, last := s.Ends()
	log, q := s.env.Log(), s.Query
	return s.env.Screen.Do(func(ctx context.Context) tea.Msg {
		var all []event.Record
		size := 0
		err := log.After(first-1, func(r event.Record) bool {
			if r.Seq > last {
				return false
			}
			if q.Matches(&r) {
				all, size = append(all, r), size+len(r.Raw)
			}
			return len(all) < rangeMax && size < rangeMem && ctx.Err() == nil
		})
		return widget.Then(func() tea.Cmd {
			if err != nil {
				s.env.Screen.Fail("cannot read the log", err)
				return nil
			}
			return then(all)
		})
	})
}

// WithRecord calls then with a record: at once if it is in memory, else when it has been read.
func (s *Stream) WithRecord(seq uint64, then func(event.Record, error) tea.Cmd) tea.Cmd {
	if r, ok := s.Record(seq); ok {
		return then(r, nil)
	}
	log := s.env.Log()
	return s.env.Screen.Do(func(context.Context) tea.Msg {
		r, err := log.Get(seq)
		return widget.Then(func() tea.Cmd { return then(r, err) })
	})
}

// Halt stops a stream that follows, and names what is chosen in it: it may have come after the row
// that the operator looked at. It returns "" if rows do not move.
func (s *Stream) Halt() string {
	row := s.RowName()
	if row == "" || !s.Follow || s.Paused {
		return ""
	}
	s.Follow = false
	r, _ := s.Chosen()
	if v := query.SubAt(s.env.Snap, query.Node{Server: r.Server, Type: r.Type, Sub: r.Sub}); v != nil {
		return evidence.SubName(&v.Subscription) + " (" + row + ")"
	}
	return row
}

// Halted makes the Run of a typed command that acts on what is chosen: the first time in a stream that
// follows, the command fails and names that.
func (s *Stream) Halted(run func([]string) (tea.Cmd, error)) func([]string) (tea.Cmd, error) {
	return func(words []string) (tea.Cmd, error) {
		if target := s.Halt(); target != "" {
			return nil, fmt.Errorf("the stream went on while you typed; enter again acts on %s", target)
		}
		return run(words)
	}
}
