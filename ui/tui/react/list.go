package react

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/react"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/widget"
)

// list has the rows of a table, which are identified by their names.
type list[T any] struct {
	rows []T
	name func(*T) string
}

func (l *list[T]) Len() int             { return len(l.rows) }
func (l *list[T]) ID(i int) table.RowID { return table.RowID{Name: l.name(&l.rows[i])} }
func (l *list[T]) Find(id table.RowID) int {
	return slices.IndexFunc(l.rows, func(x T) bool { return l.name(&x) == id.Name })
}

// row returns the row with an id, nil if it is not listed.
func (l *list[T]) row(id table.RowID) *T {
	if i := l.Find(id); i >= 0 {
		return &l.rows[i]
	}
	return nil
}

// viewList lists a part of the engine's view.
type viewList[T any] struct {
	list[T]
	pane *Pane
	part func(*react.View) []T
	of   viewVersion // of rows
}

// viewVersion identifies a state of the view.
type viewVersion struct {
	revision uint64
	known    bool
}

func (l *viewList[T]) Load() bool {
	rows, of := l.part(&l.pane.view), viewVersion{l.pane.view.Revision, l.pane.known}
	if len(l.rows) == len(rows) && l.of == of {
		return false
	}
	l.rows, l.of = rows, of
	return true
}

func runName(r *react.Run) string { return string(r.ID) }

// fetched is the state of a request to the engine that is repeated when its key K changes.
type fetched[K comparable] struct {
	of   K // the key of the last answer
	busy bool
}

// fetch returns a command that asks the engine and calls take with the answer on the event loop. It
// returns nil while a request is running, and if the last answer was for want.
func fetch[K comparable, V any](p *Pane, f *fetched[K], want K, ask func(context.Context) (V, error), take func(V, error)) tea.Cmd {
	if f.busy || f.of == want {
		return nil
	}
	f.busy = true
	return p.env.Screen.Do(func(ctx context.Context) tea.Msg {
		v, err := ask(ctx)
		return widget.Then(func() tea.Cmd {
			f.busy, f.of = false, want
			take(v, err)
			return nil
		})
	})
}

// runVersion identifies a run at a revision of the view.
type runVersion struct {
	id       react.RunID
	revision uint64
}
