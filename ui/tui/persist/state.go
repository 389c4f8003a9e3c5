package persist

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/widget"
)

// SaveEvery is the least time between two saves.
const SaveEvery = time.Second

// State is the saved state of the screen. [Saver.Restore] replaces values that this version does
// not know by defaults.
type State struct {
	Place
	Second *Second            `json:"second,omitempty"` // nil: there is one stream
	Closed []Node             `json:"closed,omitempty"`
	Focus  layout.Pane        `json:"focus"`
	Size   layout.Size        `json:"size,omitempty"`
	Panes  layout.Arrangement `json:"panes,omitzero"`
	Tab    detail.Tab         `json:"tab,omitempty"`
	Clock  cells.TimeView     `json:"clock,omitempty"`
	Tables []table.State      `json:"tables,omitempty"`
	Lines
}

// Place is the query of a stream, and its chosen record.
type Place struct {
	Node    Node   `json:"node"`
	Filter  string `json:"filter,omitempty"`
	Off     bool   `json:"filterOff,omitempty"`
	Reading uint64 `json:"reading,omitempty"` // the chosen record; 0 while the stream follows
}

// Query returns the query of the stream, without a filter that this version cannot parse.
func (p Place) Query(now time.Time) query.Query {
	q, err := query.New(p.Node.Node(), p.Filter, now)
	if err != nil {
		q = query.Query{Node: p.Node.Node()}
	}
	q.Off = p.Off
	return q
}

// Second is the stream without the focus, of two.
type Second struct {
	Place
	Way   layout.Streams `json:"way"`
	First bool           `json:"first,omitempty"` // this stream is on the left, or above
}

// Lines are the histories of typed lines, each with the newest first.
type Lines struct {
	Filters  []string `json:"filters,omitempty"`
	Searches []string `json:"searches,omitempty"`
	Commands []string `json:"commands,omitempty"`
	Pipes    []string `json:"pipes,omitempty"` // commands that events were piped to
}

// Node is a node of the tree in JSON.
type Node struct {
	Server string      `json:"server,omitempty"`
	Type   trust.Text  `json:"type,omitzero"`
	Sub    event.SubID `json:"sub,omitempty"`
}

// NodeOf returns the JSON form of a node.
func NodeOf(n query.Node) Node { return Node{n.Server, n.Type, n.Sub} }

// Node returns the node of the tree.
func (n Node) Node() query.Node { return query.Node{Server: n.Server, Type: n.Type, Sub: n.Sub} }

// Close sets the closed nodes, sorted, so that equal states have equal JSON.
func (s *State) Close(closed map[query.Node]bool) {
	s.Closed = nil
	for n, is := range closed {
		if is {
			s.Closed = append(s.Closed, NodeOf(n))
		}
	}
	slices.SortFunc(s.Closed, func(x, y Node) int {
		return cmp.Or(cmp.Compare(x.Server, y.Server), cmp.Compare(x.Type.Raw(), y.Type.Raw()), cmp.Compare(x.Sub, y.Sub))
	})
}

// fix replaces values that this version does not know by defaults.
func (s *State) fix() {
	if s.Focus < layout.Tree || s.Focus > layout.React {
		s.Focus = layout.None
	}
	if s.Size >= layout.Sizes {
		s.Size = layout.Normal
	}
	if s.Tab >= detail.Tabs {
		s.Tab = 0
	}
	if s.Clock >= cells.TimeViews {
		s.Clock = 0
	}
	if s.Second != nil && (s.Second.Way == layout.OneStream || s.Second.Way >= layout.StreamsUses) {
		s.Second = nil
	}
}

// Saver saves the state of the screen when it has changed: one save at a time, and at most one
// in [SaveEvery]. It is for the event loop.
type Saver struct {
	Settings
	Lines
	Wanted query.Node // the scope of the last run, until the tree has that node
	clock  func() time.Time
	last   string // the JSON that was saved, or is being saved
	at     time.Time
	saving bool
}

// New returns a saver with empty histories.
func New(s Settings, clock func() time.Time) Saver { return Saver{Settings: s, clock: clock} }

// Restore reads the saved state from the host; ok is false if there is none or it cannot be read.
// It is called before the program runs.
func (m *Saver) Restore() (s State, ok bool) {
	text := m.Get(Layout)
	if text == "" {
		return s, false
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		m.Screen.Fail("cannot read the saved state of the screen", err)
		return State{}, false
	}
	m.Lines, m.last = s.Lines, text
	m.Wanted = s.Node.Node()
	s.fix()
	return s, true
}

// Save returns a command that saves the current state, nil if it has not changed, is being
// saved, or was saved less than [SaveEvery] ago. It is called after every message.
func (m *Saver) Save(current func() State) tea.Cmd {
	if m.saving || m.clock().Sub(m.at) < SaveEvery {
		return nil
	}
	text, err := textOf(current())
	if err != nil || text == m.last {
		return nil
	}
	m.last, m.at, m.saving = text, m.clock(), true
	return m.Screen.Do(func(ctx context.Context) tea.Msg {
		err := m.Host.SetSetting(ctx, Layout, text)
		return widget.Then(func() tea.Cmd {
			if m.saving = false; err != nil {
				m.last = ""
				m.Screen.Fail("cannot save the state of the screen", err)
			}
			return nil
		})
	})
}

// SaveAtEnd saves a changed state after the program has ended. It takes at most [SaveEvery]. A
// failure is ignored, as no screen is left to show it: the next run restores the state saved before.
func (m *Saver) SaveAtEnd(ctx context.Context, s State) {
	text, err := textOf(s)
	if err != nil || text == m.last && !m.saving {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, SaveEvery)
	defer cancel()
	_ = m.Host.SetSetting(ctx, Layout, text)
}

func textOf(s State) (string, error) {
	text, err := json.Marshal(s)
	return string(text), err
}
