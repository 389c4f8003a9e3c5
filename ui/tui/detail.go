package tui

import (
	"eventdeck/host"
	"eventdeck/host/event"
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
		Demo:        a.isDemo,
		Sub:         a.sub,
		TypeOf:      a.typeOf,
		Headline:    a.stream.Headline,
		Cursorless:  a.cursorless,
		Note:        a.noteOf,
		Rows:        a.stream.Rows,
		Outcomes:    a.react.Outcomes,
		OutcomesGen: a.react.OutcomesGen,
	}
}

// onNode reports whether the detail shows the chosen node. The root of the tree is shown only if
// there is no record.
func (a *app) onNode() bool {
	return a.panes.Subject == layout.Tree && (a.tree.At != query.Node{} || a.stream.At == 0)
}

// recordShown returns the sequence number of the record that the detail shows, 0 for none.
func (a *app) recordShown() uint64 {
	if a.table() != nil || a.onNode() {
		return 0
	}
	return a.stream.At
}

// showsRecord reports whether the detail shows a record.
func (a *app) showsRecord() bool { return a.recordShown() != 0 }

// otherShown returns the subject of the detail if it is no record.
func (a *app) otherShown() detail.Other {
	switch t := a.table(); {
	case a.panes.Subject == layout.React:
		return a.react.Other()
	case t != nil:
		return detail.Other{Name: t.At, Changes: t.Gen, Write: t.Describe}
	case a.onNode():
		return detail.Other{Name: a.tree.At, Write: a.writeNode}
	}
	return detail.Other{}
}

func (a *app) onPayload() bool { return a.detail.HasPayload() }

// writeNode writes what is known of the chosen node.
func (a *app) writeNode(d *detail.Text) {
	r := a.tree.Chosen()
	switch {
	case r.Item != nil:
		a.writeItem(d, r.Item)
	case r.Sub != nil:
		d.Subscription(r.Sub, a.cursorless(r.Sub))
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

// typeOf returns the type of an event as its server lists it now.
func (a *app) typeOf(r *event.Record) event.Type { return query.TypeOf(&a.snap, r.Server, r.Type) }

func (a *app) cursorless(v *host.SubscriptionView) bool { return query.Cursorless(&a.snap, v) }
