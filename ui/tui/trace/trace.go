// Package trace follows a value over servers and types, and hands on what was found:
// what is related, what differs, a report, events for a command.
package trace

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/incidents"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/memo"
	"eventdeck/ui/tui/pipe"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/widget"
)

// Env is what an incident is followed with.
type Env struct {
	*cells.Env
	Screen
	Stream *stream.Stream
	Memo   *memo.Memo
	Log    func() incidents.Log
	Runs   incidents.Runs // of reactions; nil: there are none
	// Value is that of the detail's chosen line with the term that filters by it, while the
	// detail has the keys and the line has one.
	Value func() (term string, text trust.Text, ok bool)
	// Selected hands the records of the range, or the chosen one, to a function.
	Selected func(then func([]event.Record) tea.Cmd) tea.Cmd
	Filter   func(q query.Query)   // shows what a filter takes, and remembers it
	Goto     func(seq uint64)      // shows a record
	Pin      func(values []string) // has values in lower case stand out, and no others
	RowName  func() string         // names the chosen row
	Home     func(path string) string
	Create   func(path string, overwrite bool) (external.OutFile, error)
	Getenv   func(name string) string
}

// Screen is what shows an incident.
type Screen interface {
	widget.Lines
	// KeyOf is the operator's key of an action.
	KeyOf(action string) string
}

// Desk has what the keys and commands of an incident do. It belongs to the event loop.
type Desk struct {
	Comparing uint64                                                                 // the record that another one is to be compared with; 0: none
	Command   func(ctx context.Context, args []string, input []byte) ([]byte, error) // runs a command of the operator
	env       Env
	id        idOf
}

// New returns a desk with nothing on it.
func New(env Env) Desk { return Desk{Command: pipe.Run, env: env} }

// idOf is the id of a record, as it was read once.
type idOf struct {
	seq   uint64
	text  trust.Text
	found bool
}

// chosenID is the id that says best what the chosen event belongs to.
func (d *Desk) chosenID() (trust.Text, bool) {
	if at := d.env.Stream.At; at != d.id.seq {
		d.id = idOf{}
		if r, ok := d.env.Stream.Record(at); ok && at != 0 {
			d.id.seq = r.Seq
			d.id.text, d.id.found = incidents.IDOf(&r)
		}
	}
	return d.id.text, d.id.found
}
