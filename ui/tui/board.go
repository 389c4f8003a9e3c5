package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
)

// board is a screen of tables, of which one is shown.
type board struct {
	number string
	tabs   []*table
	on     int
}

// boards are the screens beside that of the stream.
type boards struct{ subs, log board }

func newBoards() boards {
	return boards{
		subs: board{number: "4", tabs: []*table{
			newTable("Subscriptions", newSubsTable(), false),
			newTable("Gaps", newGapLedger(), false),
			newTable("At servers", newRemotes(), false),
			newTable("Refused", &refusals{}, false),
			newTable("Resumed", &resumed{}, false),
		}},
		log: board{number: "5", tabs: []*table{
			newTable("Audit", newAuditLog(), true),
			newTable("Wire", newWireLog(), true),
			newTable("App", newAppLog(), true),
		}},
	}
}

// board returns the screen of tables that is shown, nil on the main screen.
func (a *app) board() *board {
	switch a.subject {
	case subsPane:
		return &a.boards.subs
	case logPane:
		return &a.boards.log
	}
	return nil
}

// table returns the table that is shown, nil on the main screen.
func (a *app) table() *table {
	if b := a.board(); b != nil {
		return b.tabs[b.on]
	}
	return nil
}

func (b *board) turn(step int) { b.on = (b.on + step + len(b.tabs)) % len(b.tabs) }

// title names the tabs; the one that is shown stands in brackets.
func (b *board) title(room int) string {
	names := make([]string, len(b.tabs))
	for i, t := range b.tabs {
		names[i] = t.name
		if i == b.on {
			names[i] = "[" + t.name + "]"
		}
	}
	s := b.number + " " + strings.Join(names, " ")
	if len(s) > room {
		s = fmt.Sprintf("%s %s %d/%d", b.number, names[b.on], b.on+1, len(b.tabs))
	}
	if t := b.tabs[b.on]; t.text != "" {
		s += " / " + cells.Sanitize(t.text).Plain()
	}
	return s
}

// boardWork has the shown table's source do what takes long beside the program.
func (a *app) boardWork() tea.Cmd {
	if t := a.table(); t != nil {
		if _, ok := t.src.(*appLog); ok {
			a.trouble.see()
		}
		if w, ok := t.src.(worker); ok {
			return w.work(a)
		}
	}
	return nil
}

// worker is a source that reads what takes long.
type worker interface{ work(a *app) tea.Cmd }

// turnTab shows the next tab of what has tabs.
func (a *app) turnTab(step int) {
	if b := a.board(); b != nil && a.focus != detailPane {
		b.turn(step)
		a.table().load(a)
		return
	}
	a.detail.turn(a, step)
}

// openRow leads from a row of a table to what it is about.
func (a *app) openRow() {
	t := a.table()
	if o, ok := t.src.(opener); ok && o.open(a, t.at) {
		return
	}
	if t.at != (rowID{}) {
		a.enter(detailPane)
	}
}

// jump shows a record in the stream. A scope or filter that hides it is taken
// away.
func (a *app) jump(seq uint64) bool {
	r, err := a.api.Log().Get(seq)
	if err != nil {
		a.Tell("that record is not in the log any more")
		return false
	}
	if !a.stream.query.Matches(&r) {
		a.tree.at = query.Node{}
		a.requery(query.Query{})
	}
	a.gotoSeq(seq)
	return true
}

// jumpToSub chooses a subscription in the tree, and with it its part of the
// stream.
func (a *app) jumpToSub(id event.SubID) bool {
	v := a.sub(id)
	if v == nil {
		a.Tell("that subscription has ended")
		return false
	}
	n := query.Node{Server: v.Key.Server, Type: v.Key.Type, Sub: id}
	a.tree.closed[query.Node{Server: n.Server}] = false
	a.tree.closed[n.Parent()] = false
	a.tree.load(&a.snap)
	a.tree.at = n
	a.rescope()
	a.enter(streamPane)
	return true
}

// rowSub returns the subscription that a row of a table is about.
func (a *app) rowSub() *host.SubscriptionView {
	if t := a.table(); t != nil {
		return a.sub(t.at.sub)
	}
	return nil
}

// inTable tells whether a table with the given rows has the keys.
func onTable[S source](a *app) bool {
	t := a.table()
	if t == nil || t.at == (rowID{}) {
		return false
	}
	_, ok := t.src.(S)
	return ok
}
