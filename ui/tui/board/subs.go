package board

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/widget"
)

// subsTable lists the subscriptions of the scope.
type subsTable struct {
	env     *Env
	subs    []host.SubscriptionView
	order   []int // into subs
	rates   map[event.SubID]host.Rate
	lags    map[event.SubID]lagAt
	busy    bool // they are being read
	now     time.Time
	widest  struct{ server, typ int } // cells of the longest names
	args    bool                      // a listed subscription has arguments
	col     int
	reverse bool
	text    string

	of subsKey
}

// subsKey has what the order depends on.
type subsKey struct {
	version uint64
	scope   query.Node
	col     int
	reverse bool
	text    string
}

func newSubsTable(e *Env) *subsTable { return &subsTable{env: e, col: -1} }

// The columns of the subscriptions.
const (
	subState = iota
	subMode
	subServer
	subType
	subArgs
	subEvidence
	subLast
	subCount
	subDup
	subLag
	subLease
	subRate
)

func (t *subsTable) Columns() []table.Column {
	server, typ, args := max(t.widest.server, 6), max(t.widest.typ, 10), 0
	if t.args {
		args = 10
	}
	return []table.Column{
		subState:    {Title: "STATE", Width: 12},
		subMode:     {Title: "MODE", Width: 5, Rank: 2},
		subServer:   {Title: "SERVER", Width: min(10, server), Grow: 1, Max: server, Rank: 4},
		subType:     {Title: "TYPE", Width: min(16, typ), Grow: 2, Max: typ},
		subArgs:     {Title: "ARGUMENTS", Width: args, Grow: 2, Rank: 8},
		subEvidence: {Title: "EVIDENCE", Width: 22, Grow: 3, Rank: 3, Wanted: 34},
		subLast:     {Title: "LAST EVENT", Width: 11, Rank: 5, Right: true},
		subCount:    {Title: "COUNT", Width: 8, Rank: 1, Right: true},
		subDup:      {Title: "DUP", Width: 5, Rank: 9, Right: true},
		subLag:      {Title: "LAG", Width: 7, Rank: 7, Right: true},
		subLease:    {Title: "LEASE", Width: 8, Rank: 10, Right: true},
		subRate:     {Title: "RATE", Width: 16, Rank: 6, Right: true},
	}
}

func (t *subsTable) SortBy(col int, reverse bool) { t.col, t.reverse = col, reverse }
func (t *subsTable) Filter(text string)           { t.text = strings.ToLower(text) }

func (t *subsTable) Load() bool {
	e := t.env
	t.now = e.Clock()
	t.rates = e.Stats.BySub
	key := subsKey{e.Snap.Version, e.Scope(), t.col, t.reverse, t.text}
	if key == t.of && len(t.subs) == len(e.Snap.Subs) {
		return false
	}
	t.of, t.subs = key, e.Snap.Subs
	t.order, t.args, t.widest.server, t.widest.typ = t.order[:0], false, 0, 0
	for i := range t.subs {
		if v := &t.subs[i]; key.scope.HoldsSub(v.ID, &v.Key) && t.holds(v) {
			t.order = append(t.order, i)
			t.args = t.args || !evidence.NoArgs(v.Key.Args)
			t.widest.server = max(t.widest.server, cells.Sanitize(v.Key.Server).Width)
			t.widest.typ = max(t.widest.typ, trust.Line(v.Key.Type).Width)
		}
	}
	if t.col < 0 { // until an order is chosen, subscriptions that need attention come first
		slices.SortStableFunc(t.order, func(i, j int) int { return cmp.Compare(evidence.Urgency(&t.subs[i]), evidence.Urgency(&t.subs[j])) })
	} else {
		slices.SortStableFunc(t.order, func(i, j int) int {
			c := t.compare(&t.subs[i], &t.subs[j])
			if t.reverse {
				return -c
			}
			return c
		})
	}
	return true
}

func (t *subsTable) holds(v *host.SubscriptionView) bool {
	if t.text == "" {
		return true
	}
	for _, s := range []string{v.Key.Server, v.Key.Type.Raw(), string(v.ShownArgs()), string(v.Mode), string(evidence.StateWord(v, t.now)), string(v.ID)} {
		if cells.HasText(s, t.text) {
			return true
		}
	}
	return false
}

// compare compares two subscriptions by the chosen column: those that need attention, newer ones and
// higher numbers come first.
func (t *subsTable) compare(x, y *host.SubscriptionView) int {
	switch t.col {
	case subState:
		return cmp.Or(cmp.Compare(evidence.Urgency(x), evidence.Urgency(y)), cmp.Compare(evidence.StateWord(x, t.now), evidence.StateWord(y, t.now)))
	case subMode:
		return cmp.Compare(x.Mode, y.Mode)
	case subServer:
		return cmp.Compare(x.Key.Server, y.Key.Server)
	case subType:
		return cmp.Compare(x.Key.Type.Raw(), y.Key.Type.Raw())
	case subArgs:
		return bytes.Compare(x.ShownArgs(), y.ShownArgs())
	case subEvidence:
		return y.Status.Since.Compare(x.Status.Since)
	case subLast:
		return lastEvent(y).Compare(lastEvent(x))
	case subCount:
		return cmp.Compare(y.Stored, x.Stored)
	case subDup:
		return cmp.Compare(y.Dropped, x.Dropped)
	case subLag:
		return cmp.Compare(t.lag(y), t.lag(x))
	case subLease:
		return evidence.LeaseOf(x).RefreshBefore.Compare(evidence.LeaseOf(y).RefreshBefore)
	case subRate:
		return cmp.Compare(t.rate(y), t.rate(x))
	}
	return 0
}

func lastEvent(v *host.SubscriptionView) time.Time {
	return cells.Latest(v.Status.LastEvent, v.Status.LastDelivery)
}

func (t *subsTable) Len() int             { return len(t.order) }
func (t *subsTable) ID(i int) table.RowID { return table.RowID{Sub: t.subs[t.order[i]].ID} }

func (t *subsTable) Find(id table.RowID) int {
	return slices.IndexFunc(t.order, func(i int) bool { return t.subs[i].ID == id.Sub })
}

func (t *subsTable) Cell(i, col int) table.Cell {
	v := &t.subs[t.order[i]]
	switch col {
	case subState:
		word := evidence.StateWord(v, t.now)
		glyph, role := evidence.Sign(t.env.Glyphs, word)
		return table.Say(role, glyph+" "+string(word))
	case subMode:
		return table.Say(themes.Plain, evidence.ModeWord(v.Mode))
	case subServer:
		return table.Say(themes.Server, v.Key.Server)
	case subType:
		return table.Cell{Role: themes.Type, Text: trust.Line(v.Key.Type)}
	case subArgs:
		if evidence.NoArgs(v.Key.Args) {
			return table.Cell{}
		}
		return table.Say(themes.Dim, string(v.ShownArgs()))
	case subEvidence:
		return t.evidence(v)
	case subLast:
		if last := lastEvent(v); !last.IsZero() {
			return table.Say(themes.Dim, cells.Ago(t.now, last))
		}
	case subCount:
		return table.Say(themes.Plain, cells.Number(v.Stored))
	case subDup:
		return counted(v.Dropped)
	case subLag:
		if d := t.lag(v); d > 0 {
			return table.Say(themes.Plain, cells.ShortSpan(d))
		}
	case subLease:
		if end := evidence.LeaseOf(v).RefreshBefore; v.Mode == event.ModeWebhook && !end.IsZero() {
			return table.Say(themes.Plain, cells.Span(end.Sub(t.now)))
		}
	case subRate:
		return t.rateCell(v)
	}
	return table.Cell{}
}

// evidence returns the cell that explains the state, with the error after it.
func (t *subsTable) evidence(v *host.SubscriptionView) table.Cell {
	words := evidence.Of(*v, t.now)
	if query.Cursorless(t.env.Snap, v) {
		words = cells.Commas(words, evidence.NoReplay)
	}
	switch {
	case v.Status.Error.IsZero():
		return table.Cell{Role: themes.Dim, Text: cells.Sanitize(words)}
	case words == "":
		return table.Cell{Role: themes.Warn, Text: trust.Line(v.Status.Error)}
	}
	return table.Cell{Role: themes.Warn, Text: cells.Join(cells.Sanitize(words+": "), trust.Line(v.Status.Error))}
}

func (t *subsTable) Describe(d *detail.Text, id table.RowID) {
	e := t.env
	if v := query.FindSub(e.Snap, id.Sub); v != nil {
		d.Subscription(v, query.Cursorless(e.Snap, v))
	}
}

func (t *subsTable) Open(id table.RowID) (tea.Cmd, bool) { return nil, t.env.JumpToSub(id.Sub) }

func (t *subsTable) EmptyText() []string {
	switch {
	case t.text != "":
		return []string{"No subscription matches.", "", "esc takes the words away."}
	case len(t.env.Snap.Subs) > 0:
		return []string{"No subscriptions in this scope.", "", "esc goes back; without a scope all are listed."}
	}
	return []string{"No subscriptions yet.", "", "Choose an event type in the tree (" + t.env.KeyOf("tree") + ") and press " + t.env.KeyOf("subscribe") + "."}
}

// counted returns the cell of a number that stands out if it is not zero.
func counted(n uint64) table.Cell {
	if n == 0 {
		return table.Say(themes.Dim, "0")
	}
	return table.Say(themes.Plain, cells.Number(n))
}

// lagAt is the lag of a record.
type lagAt struct {
	seq uint64
	lag time.Duration
}

// rate returns the recent number of events per second.
func (t *subsTable) rate(v *host.SubscriptionView) float64 {
	r := t.rates[v.ID]
	return cells.PerSecond(r.Seconds[:])
}

// rateCell returns the cell with a sparkline of the last seconds and the rate.
func (t *subsTable) rateCell(v *host.SubscriptionView) table.Cell {
	e := t.env
	const seconds = 8
	r, ok := t.rates[v.ID]
	if !ok {
		return table.Cell{}
	}
	course := cells.Recent(r.Seconds[:], seconds)
	if cells.Highest(course) == 0 {
		return table.Cell{}
	}
	return table.Say(themes.Plain, e.Glyphs.Spark(course)+" "+cells.Rate(t.rate(v)))
}

// lag returns how long the newest event was on its way, 0 if that is not known.
func (t *subsTable) lag(v *host.SubscriptionView) time.Duration { return t.lags[v.ID].lag }

// Work reads the newest records of subscriptions, which have the times for the lag.
func (t *subsTable) Work() tea.Cmd {
	want := map[event.SubID]uint64{}
	for i := range t.subs {
		if v := &t.subs[i]; v.LastSeq != 0 && t.lags[v.ID].seq != v.LastSeq {
			want[v.ID] = v.LastSeq
		}
	}
	if len(want) == 0 || t.busy {
		return nil
	}
	t.busy = true
	log := t.env.Host.Log()
	return t.env.Do(func(ctx context.Context) tea.Msg {
		lags := map[event.SubID]lagAt{}
		for id, seq := range want {
			if ctx.Err() != nil {
				break
			}
			l := lagAt{seq: seq}
			if r, err := log.Get(seq); err == nil {
				l.lag, _ = evidence.LagOf(&r)
			}
			lags[id] = l
		}
		return widget.Then(func() tea.Cmd {
			t.busy = false
			if t.lags == nil {
				t.lags = map[event.SubID]lagAt{}
			}
			maps.Copy(t.lags, lags)
			t.of = subsKey{}
			return nil
		})
	})
}
