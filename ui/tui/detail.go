package tui

import (
	"eventdeck/host/eventlog"
	"eventdeck/themes"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
)

// detailEnv is what the detail needs.
func (a *app) detailEnv() *detail.Env {
	return &detail.Env{
		Env: &a.Env, Screen: a, Snap: &a.snap,
		Log:         func() eventlog.Records { return a.o.API.Log() },
		Record:      a.recordShown,
		Get:         a.stream.Record,
		Lost:        a.stream.Lost,
		Other:       a.otherShown,
		Room:        func() int { return a.arranged().Detail.W },
		Focused:     func() bool { return a.panes.Focus == layout.Detail },
		Moves:       func() bool { return a.stream.Follow },
		Found:       func() string { return a.search.Text },
		Demo:        a.demo.Is,
		Headline:    a.stream.Headline,
		Note:        a.stream.Marks.Note,
		Rows:        a.stream.Rows,
		Outcomes:    a.react.Outcomes,
		OutcomesGen: a.react.OutcomesGen,
	}
}

// recordShown returns the sequence number of the record that the detail shows, 0 for none.
func (a *app) recordShown() uint64 {
	if a.table() != nil || a.choice.OnNode() {
		return 0
	}
	return a.stream.At
}

// otherShown returns the subject of the detail if it is no record.
func (a *app) otherShown() detail.Other {
	switch t := a.table(); {
	case a.panes.Subject == layout.React:
		return a.react.Other()
	case t != nil:
		return detail.Other{Name: t.At, Changes: t.Gen, Write: t.Describe}
	case a.choice.OnNode():
		return detail.Other{Name: a.tree.At, Write: a.writeNode}
	}
	return detail.Other{}
}

// writeNode writes what is known of the chosen node.
func (a *app) writeNode(d *detail.Text) {
	r := a.tree.Chosen()
	switch {
	case r.Item != nil:
		a.writeItem(d, r.Item)
	case r.Sub != nil:
		d.Subscription(r.Sub, query.Cursorless(&a.snap, r.Sub))
		if r.Node.Level() == 2 { // one row for both
			d.Say("", themes.Strong, "Event type")
			d.TypeFacts(r.Node.Server, r.Type, "")
		}
	case r.Node.Level() == 2:
		subscribe := ""
		if r.Kids == 0 {
			subscribe = a.KeyOf("subscribe")
		}
		d.Type(r.Node.Server, r.Node.Type, r.Type, subscribe)
	case r.Server != nil:
		d.Server(r.Server)
	default:
		d.Everything(&a.snap)
	}
}
