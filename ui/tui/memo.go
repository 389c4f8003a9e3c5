package tui

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/board"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/feed"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
)

// keptLayout is the setting with what the screen remembers.
const keptLayout = "ui.layout"

// saveEvery bounds how often the screen saves what it remembers.
const saveEvery = time.Second

// memo is what the screen remembers between runs: what was shown and how, and
// the lines that were typed. Members that cannot be read are as at a first start.
type memo struct {
	Node    memoNode           `json:"node"`
	Closed  []memoNode         `json:"closed,omitempty"`
	Filter  string             `json:"filter,omitempty"`
	Off     bool               `json:"filterOff,omitempty"`
	Reading uint64             `json:"reading,omitempty"` // the chosen record; 0 while the stream follows
	Focus   layout.Pane        `json:"focus"`
	Size    layout.Size        `json:"size,omitempty"`
	Panes   layout.Arrangement `json:"panes,omitzero"`
	Tab     detail.Tab         `json:"tab,omitempty"`
	Clock   cells.TimeView     `json:"clock,omitempty"`
	Tables  []board.Memo       `json:"tables,omitempty"`

	Filters  []string `json:"filters,omitempty"`  // typed, newest first
	Searches []string `json:"searches,omitempty"` // typed, newest first
	Commands []string `json:"commands,omitempty"` // typed, newest first
	Pipes    []string `json:"pipes,omitempty"`    // commands that events were piped to, newest first
}

// memoNode is a node of the tree in JSON.
type memoNode struct {
	Server string      `json:"server,omitempty"`
	Type   trust.Text  `json:"type,omitzero"`
	Sub    event.SubID `json:"sub,omitempty"`
}

func memoOf(n query.Node) memoNode  { return memoNode{n.Server, n.Type, n.Sub} }
func (m memoNode) node() query.Node { return query.Node{Server: m.Server, Type: m.Type, Sub: m.Sub} }
func compareNodes(x, y memoNode) int {
	for _, c := range [...][2]string{{x.Server, y.Server}, {x.Type.Raw(), y.Type.Raw()}, {string(x.Sub), string(y.Sub)}} {
		if c[0] != c[1] {
			if c[0] < c[1] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// saver saves the memo when it has changed: one save at a time, at most one a
// second, looked at after every message. There is no timer.
type saver struct {
	last   string // what was saved, or is being saved
	at     time.Time
	saving bool
}

// savedMsg: a save is done.
type savedMsg struct{ err error }

// present returns the memo of what is shown now.
func (a *app) present() memo {
	m := a.memo
	m.Node, m.Filter, m.Off = memoOf(a.tree.At), a.stream.Query.Text, a.stream.Query.Off
	if t := &a.typing; a.prompt != nil && a.prompt == t.prompt {
		m.Filter, m.Off = t.before.Text, t.before.Off // what is typed is not yet kept
	}
	m.Focus, m.Size, m.Clock, m.Reading = a.focus, a.size, a.Times, 0
	m.Panes, m.Tab, m.Tables = a.panes, a.detail.Tab, a.boards.Memo()
	if !a.stream.Follow {
		m.Reading = a.stream.At
	}
	m.Closed = nil
	for n, closed := range a.tree.Closed {
		if closed {
			m.Closed = append(m.Closed, memoOf(n))
		}
	}
	slices.SortFunc(m.Closed, compareNodes)
	return m
}

// save has the memo saved if it changed.
func (a *app) save() tea.Cmd {
	s := &a.saver
	if s.saving || a.Clock().Sub(s.at) < saveEvery {
		return nil
	}
	text, err := json.Marshal(a.present())
	if err != nil || string(text) == s.last {
		return nil
	}
	s.last, s.at, s.saving = string(text), a.Clock(), true
	value := s.last
	return a.Do(func(ctx context.Context) tea.Msg { return savedMsg{a.api.SetSetting(ctx, keptLayout, value)} })
}

// saveAtEnd saves what changed since the last save, after the screen is gone. A
// failure has nowhere to be told; the next start shows what was saved before.
func (a *app) saveAtEnd(ctx context.Context) {
	text, err := json.Marshal(a.present())
	if err != nil || string(text) == a.saver.last && !a.saver.saving {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, saveEvery)
	defer cancel()
	_ = a.api.SetSetting(ctx, keptLayout, string(text))
}

func (a *app) saved(msg savedMsg) {
	a.saver.saving = false
	if msg.err != nil {
		a.saver.last = ""
		a.Fail("cannot remember the layout", msg.err)
	}
}

// recall shows what was shown when the screen was left.
func (a *app) recall() {
	text := a.kept(keptLayout)
	if text == "" {
		return
	}
	var m memo
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		a.Fail("what the screen remembers cannot be read", err)
		return
	}
	a.memo, a.saver.last = m, text
	for _, n := range m.Closed {
		a.tree.Closed[n.node()] = true
	}
	a.tree.At = m.Node.node()
	a.wanted = a.tree.At
	a.tree.Load(&a.snap)
	a.want()
	if m.Focus >= layout.Tree && m.Focus <= layout.Log {
		a.enter(m.Focus)
	}
	if m.Size < layout.Sizes {
		a.size = m.Size
	}
	if m.Tab < detail.Tabs {
		a.detail.Tab = m.Tab
	}
	a.panes = m.Panes
	a.boards.Recall(m.Tables)
	if m.Clock < cells.TimeViews {
		a.Times = m.Clock
	}
	q, err := query.New(a.tree.At, m.Filter, a.Clock())
	if err != nil {
		q = query.Query{Node: a.tree.At}
	}
	q.Off = m.Off
	a.stream.Query = q
	a.stream.Follow = m.Reading == 0
	a.stream.At = m.Reading
}

// startStream shows what was shown when the screen was left.
func (a *app) startStream() {
	s := &a.stream
	if reading := s.At; s.Follow || reading == 0 || reading > a.snap.Last {
		s.Follow = true
		s.Show(s.Query)
	} else {
		s.Seek(reading)
	}
	r, _ := s.Next()
	a.fetched(feed.Read(a.ctx, a.api.Log(), r)) // before the program runs
}

// want goes to the scope of the last run as soon as there is such a node.
func (a *app) want() {
	if a.wanted != (query.Node{}) && a.tree.Find(a.wanted) >= 0 {
		a.tree.At, a.wanted = a.wanted, query.Node{}
	}
}
