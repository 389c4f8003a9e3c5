// Package trace follows a value over servers and event types: it filters by the value, pins it,
// lists what is related, compares records, writes a report, and pipes events to a command.
package trace

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/incidents"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/pipe"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/widget"
)

// Env is what a [Tracer] needs.
type Env struct {
	*cells.Env
	Screen  widget.Lines
	Stream  *stream.Stream
	Persist *persist.Saver
	Log     func() incidents.Log
	Runs    incidents.Runs // of reactions; nil: there are none
	// Value is that of the detail's chosen line with the term that filters by it, while the
	// detail has the focus and the line has one.
	Value func() (term string, text trust.Text, ok bool)
	// NoValue says that the detail's chosen line has no value, "" while the detail has not the
	// focus.
	NoValue func() string
	// Selected hands the records of the range, or the chosen one, to a function.
	Selected func(then func([]event.Record) tea.Cmd) tea.Cmd
	// Filter shows what a filter takes, and remembers it. was is the filter that is lost by
	// it, "" if none is.
	Filter  func(q query.Query, was string)
	Goto    func(seq uint64)      // shows a record
	Pin     func(values []string) // has values in lower case stand out, and no others
	RowName func() string         // names the chosen row
	// Elsewhere says what a key does that a dialog has no use for; way leads to where it works.
	Elsewhere func(k tea.KeyPressMsg, way string)
	Home      func(path string) string
	// CompletePath has tab complete the path of a file that a prompt asks for.
	CompletePath func(p *widget.Prompt)
	Create       func(path string, overwrite bool) (external.OutFile, error)
	Getenv       func(name string) string
}

// Tracer does what the keys and commands of an incident ask. It is for the event loop.
type Tracer struct {
	Comparing uint64                                                                 // the record that another one is to be compared with; 0: none
	Command   func(ctx context.Context, args []string, input []byte) ([]byte, error) // runs a command of the operator
	env       Env
	ids       idsOf
}

// New returns a tracer that follows nothing yet.
func New(env Env) Tracer { return Tracer{Command: pipe.Run, env: env} }

// idsOf are the ids of a record, as they were read once.
type idsOf struct {
	seq   uint64
	all   []incidents.ID
	clear bool
}

// chosenIDs are the values that may say what the chosen event belongs to; see
// [incidents.IDsOf].
func (t *Tracer) chosenIDs() (all []incidents.ID, clear bool) {
	if at := t.env.Stream.At; at != t.ids.seq {
		t.ids = idsOf{}
		if r, ok := t.env.Stream.Record(at); ok && at != 0 {
			t.ids.seq = r.Seq
			t.ids.all, t.ids.clear = incidents.IDsOf(&r)
		}
	}
	return t.ids.all, t.ids.clear
}
