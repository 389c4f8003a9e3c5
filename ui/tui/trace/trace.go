// Package trace follows a value over servers and event types: it filters by the value, pins it,
// lists what is related, compares records, writes a report, and pipes events to a command.
package trace

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/ui/incidents"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/widget"
)

// Env is what a [Tracer] needs.
type Env struct {
	*cells.Env
	Screen  widget.Screen
	Stream  *stream.Stream
	Persist *persist.Saver
	Log     func() eventlog.Records
	Runs    incidents.Runs // of reactions; nil: there are none
	// Value returns the value of the chosen line of the detail pane and the term that filters by it;
	// ok is false if the pane has not the focus or the line has no value.
	Value func() (term string, text trust.Text, ok bool)
	// NoValue says that the chosen line of the detail pane has no value, "" if the pane has not the
	// focus.
	NoValue func() string
	// Selected calls a function with the selected records, or with the chosen one.
	Selected func(then func([]event.Record) tea.Cmd) tea.Cmd
	// Filter applies a filter and remembers it. was is the filter that it replaces, "" for none.
	Filter func(q query.Query, was string)
	Goto   func(seq uint64)      // shows a record
	Pin    func(values []string) // highlights only these values, which are in lower case
	// Elsewhere says what a key does that a dialog does not handle; way says how to get where it works.
	Elsewhere func(k tea.KeyPressMsg, way string)
	Home      func(path string) string // replaces ~ in a path
	// CompletePath makes tab complete the path of a file in a prompt.
	CompletePath func(p *widget.Prompt)
	Create       func(path string, overwrite bool) (external.OutFile, error)
	Getenv       func(name string) string
	RowName      func() string // describes the chosen row
	// HideType excludes the chosen type from the filter; TypeToHide returns it.
	HideType   func()
	TypeToHide func() (typ trust.Text, ok bool)
	Paths      func(begun string) []string // completes the path of a member of payloads
}

// Tracer implements the actions and commands for incidents. Its methods are called on the event loop.
type Tracer struct {
	Comparing uint64                                                                 // the record to compare with the next chosen one; 0: none
	Command   func(ctx context.Context, args []string, input []byte) ([]byte, error) // runs a command of the operator
	env       Env
	ids       idsOf
}

// New returns a tracer.
func New(env Env) Tracer { return Tracer{Command: RunPipe, env: env} }

// idsOf caches the ids of a record.
type idsOf struct {
	seq   uint64
	all   []incidents.ID
	clear bool
}

// chosenIDs returns the ids of the chosen event, and whether the first one is the one to follow; see
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
