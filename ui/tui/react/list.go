package react

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/react"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/widget"
)

// list has the rows of a table. Their names stay the same while rows come and go.
type list[T any] struct {
	rows []T
	name func(*T) string
}

func (l *list[T]) Len() int             { return len(l.rows) }
func (l *list[T]) ID(i int) table.RowID { return table.RowID{Name: l.name(&l.rows[i])} }
func (l *list[T]) Find(id table.RowID) int {
	return slices.IndexFunc(l.rows, func(x T) bool { return l.name(&x) == id.Name })
}

// row is the row of an id, nil if it is not listed.
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
	of   viewVersion // of the view that rows are from
}

// viewVersion reports whether the view changed.
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

// fetched is the state of something that is asked of the engine again when what it is asked
// for, a K, changes.
type fetched[K comparable] struct {
	of   K // what was asked for last
	busy bool
}

// fetch returns a command that asks the engine and hands the answer to take on the event loop.
// It returns nil while an answer is due, and where want was asked for last.
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

// runVersion names a run as it stood at a revision of the view.
type runVersion struct {
	id       react.RunID
	revision uint64
}
