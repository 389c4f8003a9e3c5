package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// action is something the operator can do. Keys, hints and help come from the
// one table of actions.
type action struct {
	id    string
	title string
	keys  []string // two keys in a row are parted by a blank
	hint  string   // short form for the hints line; "" is not hinted
	panes []paneID // where it works; none means everywhere
	// dangerous actions end something and ask first.
	dangerous bool
	when      func(*app) bool // nil: always
	run       func(*app) tea.Cmd
}

func (x *action) works(a *app) bool {
	if len(x.panes) > 0 {
		in := false
		for _, p := range x.panes {
			in = in || p == a.focus
		}
		if !in {
			return false
		}
	}
	return x.when == nil || x.when(a)
}

func (x *action) keyWords() string { return strings.Join(x.keys, " ") }

func act(fn func(*app)) func(*app) tea.Cmd {
	return func(a *app) tea.Cmd { fn(a); return nil }
}

// actions is the table, in the order of help.
func actions() []action {
	inTree, inStream, inDetail := []paneID{treePane}, []paneID{streamPane}, []paneID{detailPane}
	return []action{
		{id: "subscribe", title: "subscribe to the chosen event type", keys: []string{"s"}, hint: "subscribe", when: (*app).canSubscribe, run: (*app).openForm},
		{id: "open", title: "open what is chosen", keys: []string{"enter"}, hint: "open", run: (*app).open},
		{id: "filter", title: "filter by words, flag:term, flag:any", keys: []string{"/"}, hint: "filter", run: act((*app).openFilter)},
		{id: "pause.view", title: "freeze the view, or let it go on", keys: []string{"space"}, hint: "freeze", run: act((*app).freeze)},
		{id: "follow", title: "follow the newest event", keys: []string{"f"}, hint: "follow", run: act((*app).followNewest)},
		{id: "pause", title: "pause or resume the subscription", keys: []string{"P"}, hint: "pause", when: (*app).onSub, run: (*app).pauseSub},
		{id: "unsubscribe", title: "end the subscription", keys: []string{"D"}, hint: "unsubscribe", dangerous: true, when: (*app).onSub, run: act((*app).askUnsubscribe)},
		{id: "why", title: "why it is flagged, and hidden text in clear", keys: []string{"w"}, hint: "why", when: (*app).onPayload, run: act((*app).openWhy)},
		{id: "view", title: "payload rendered, escaped, hex or raw JSON", keys: []string{"v"}, hint: "view", when: (*app).onPayload, run: act((*app).nextView)},
		{id: "span.next", title: "next place noticed", keys: []string{"n"}, hint: "next place", panes: inDetail, when: (*app).onPayload, run: act(func(a *app) { a.toSpan(1) })},
		{id: "span.previous", title: "previous place noticed", keys: []string{"N"}, panes: inDetail, when: (*app).onPayload, run: act(func(a *app) { a.toSpan(-1) })},
		{id: "copy", title: "copy the payload, escaped", keys: []string{"y y"}, when: (*app).onPayload, run: (*app).copyPayload},
		{id: "copy.id", title: "copy the event id, escaped", keys: []string{"y i"}, when: (*app).onPayload, run: (*app).copyID},
		{id: "copy.raw", title: "copy the raw bytes: they may act when pasted", keys: []string{"y r"}, when: (*app).onPayload, run: (*app).copyRaw},
		{id: "zoom", title: "give the pane the whole screen, or back", keys: []string{"z"}, hint: "zoom", run: act(func(a *app) { a.zoom = !a.zoom })},
		{id: "down", title: "down", keys: []string{"j", "down"}, run: act(func(a *app) { a.move(1) })},
		{id: "up", title: "up", keys: []string{"k", "up"}, run: act(func(a *app) { a.move(-1) })},
		{id: "top", title: "to the first row", keys: []string{"g", "home"}, run: act(func(a *app) { a.moveEnd(false) })},
		{id: "bottom", title: "to the newest row, and follow", keys: []string{"G", "end"}, run: act(func(a *app) { a.moveEnd(true) })},
		{id: "half.down", title: "half a page down", keys: []string{"ctrl+d", "pgdown"}, run: act(func(a *app) { a.move(a.half()) })},
		{id: "half.up", title: "half a page up", keys: []string{"ctrl+u", "pgup"}, run: act(func(a *app) { a.move(-a.half()) })},
		{id: "fold", title: "fold, or to the node above", keys: []string{"h", "left"}, panes: inTree, run: act(func(a *app) { a.fold(false) })},
		{id: "unfold", title: "unfold, or to the node below", keys: []string{"l", "right"}, panes: inTree, run: act(func(a *app) { a.fold(true) })},
		{id: "problem.next", title: "next gap, change of state or refusal", keys: []string{"]"}, panes: inStream, run: act(func(a *app) { a.toMarker(1) })},
		{id: "problem.previous", title: "previous gap, change of state or refusal", keys: []string{"["}, panes: inStream, run: act(func(a *app) { a.toMarker(-1) })},
		{id: "next", title: "next pane", keys: []string{"tab"}, run: act(func(a *app) { a.turn(1) })},
		{id: "previous", title: "previous pane", keys: []string{"shift+tab"}, run: act(func(a *app) { a.turn(-1) })},
		{id: "tree", title: "to the servers", keys: []string{"1"}, run: act(func(a *app) { a.enter(treePane) })},
		{id: "stream", title: "to the stream", keys: []string{"2"}, run: act(func(a *app) { a.enter(streamPane) })},
		{id: "detail", title: "to the detail", keys: []string{"3"}, run: act(func(a *app) { a.enter(detailPane) })},
		{id: "back", title: "one step back; never quits", keys: []string{"esc"}, run: act(func(a *app) { a.back() })},
		{id: "help", title: "what works here", keys: []string{"?"}, hint: "help", run: act(func(a *app) { a.dialog = newHelp(a) })},
		{id: "quit", title: "back, or quit", keys: []string{"q"}, hint: "quit", run: (*app).backOrQuit},
		{id: "quit.now", title: "quit", keys: []string{"ctrl+c"}, run: (*app).quit},
	}
}

// action returns an action by its id.
func (a *app) action(id string) *action {
	for i := range a.actions {
		if a.actions[i].id == id {
			return &a.actions[i]
		}
	}
	return nil
}

// press runs the action of a key, or remembers the first of two keys.
func (a *app) press(key string) tea.Cmd {
	first := a.chord
	a.chord = ""
	if first != "" {
		key = first + " " + key
	}
	for i := range a.actions {
		x := &a.actions[i]
		for _, k := range x.keys {
			if k == key && x.works(a) {
				return x.run(a)
			}
			if strings.HasPrefix(k, key+" ") && x.works(a) {
				a.chord = key
			}
		}
	}
	return nil
}
