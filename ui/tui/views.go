package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/filterbar"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/stream"
)

// viewNow returns the current view.
func (a *app) viewNow() filterbar.View {
	m := a.state()
	v := filterbar.View{Place: m.Place, Second: m.Second, Panes: m.Panes}
	v.Reading = 0
	if v.Second != nil {
		v.Second.Reading = 0
	}
	for _, s := range a.stream.Shown() {
		key := stream.TypeKey(s.Query.Node)
		if cols := a.stream.Columns.By[key]; len(cols) > 0 {
			if v.Columns == nil {
				v.Columns = map[string][]stream.Column{}
			}
			v.Columns[key] = slices.Clone(cols)
		}
	}
	return v
}

// openView opens a view at its newest record.
func (a *app) openView(v filterbar.View) tea.Cmd {
	a.search.Drop()
	a.panes.Arrangement, a.panes.Size = v.Panes, layout.Normal
	cmd := a.setColumns(&v)
	a.stream.Follow = true
	switch {
	case v.Second == nil:
		a.oneStream()
	default:
		a.stream.Open()
		a.panes.Streams, a.panes.Last = v.Second.Way, v.Second.First
		a.stream.Other.ShowNewest(v.Second.Place.Query(a.Clock()))
	}
	a.stream.Stream.ShowNewest(v.Place.Query(a.Clock()))
	a.toTree(v.Node.Node())
	a.panes.Enter(layout.Stream)
	return tea.Batch(cmd, a.Read())
}

// setColumns sets the columns of a view, and saves them if they have changed.
func (a *app) setColumns(v *filterbar.View) tea.Cmd {
	places, changed := []persist.Place{v.Place}, false
	if v.Second != nil {
		places = append(places, v.Second.Place)
	}
	for _, p := range places {
		key := stream.TypeKey(p.Node.Node())
		if cols := v.Columns[key]; !slices.Equal(cols, a.stream.Columns.By[key]) {
			a.stream.Columns.Set(key, cols)
			changed = true
		}
	}
	if !changed {
		return nil
	}
	return a.persist.SetJSON(stream.ColumnsSetting, a.stream.Columns.By)
}
