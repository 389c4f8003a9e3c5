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
	"eventdeck/ui/tui/widget"
)

// subsTable lists the subscriptions of all servers, or of the scope.
type subsTable struct {
	env     *Env
	subs    []host.SubscriptionView
	order   []int // into subs
	rates   map[event.SubID]host.Rate
	lags    map[event.SubID]lagAt
	busy    bool // they are being read
	now     time.Time
	widest  struct{ server, typ int } // room that names would like to have
	args    bool                      // a subscription that is listed has arguments
	col     int
	reverse bool
	text    string

	of subsKey
}

// subsKey is what the order was made from.
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

func (t *subsTable) columns() []tableColumn {
	server, typ, args := max(t.widest.server, 6), max(t.widest.typ, 10), 0
	if t.args {
		args = 10
	}
	return []tableColumn{
		subState:    {title: "STATE", width: 12},
		subMode:     {title: "MODE", width: 5, rank: 2},
		subServer:   {title: "SERVER", width: min(10, server), grow: 1, most: server, rank: 4},
		subType:     {title: "TYPE", width: min(16, typ), grow: 2, most: typ},
		subArgs:     {title: "ARGUMENTS", width: args, grow: 2, rank: 8},
		subEvidence: {title: "EVIDENCE", width: 22, grow: 3, rank: 3, wish: 34},
		subLast:     {title: "LAST EVENT", width: 11, rank: 5, right: true},
		subCount:    {title: "COUNT", width: 8, rank: 1, right: true},
		subDup:      {title: "DUP", width: 5, rank: 9, right: true},
		subLag:      {title: "LAG", width: 7, rank: 7, right: true},
		subLease:    {title: "LEASE", width: 8, rank: 10, right: true},
		subRate:     {title: "RATE", width: 16, rank: 6, right: true},
	}
}

func (t *subsTable) sortBy(col int, reverse bool) { t.col, t.reverse = col, reverse }
func (t *subsTable) filter(text string)           { t.text = strings.ToLower(text) }

func (t *subsTable) load() bool {
	e := t.env
	t.now = e.Clock()
	t.rates = e.Stats.BySub
	t.widest.server, t.widest.typ = e.Widest()
	key := subsKey{e.Snap.Version, e.Scope(), t.col, t.reverse, t.text}
	if key == t.of && len(t.subs) == len(e.Snap.Subs) {
		return false
	}
	t.of, t.subs = key, e.Snap.Subs
	t.order, t.args = t.order[:0], false
	for i := range t.subs {
		if v := &t.subs[i]; key.scope.HoldsSub(v.ID, &v.Key) && t.holds(v) {
			t.order = append(t.order, i)
			t.args = t.args || !evidence.NoArgs(v.Key.Args)
		}
	}
	if t.col < 0 { // until an order is chosen, what needs a look comes first
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

// compare orders two subscriptions by the chosen column: what needs a look, what
// is newer and what is more comes first.
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

func (t *subsTable) len() int       { return len(t.order) }
func (t *subsTable) id(i int) RowID { return RowID{Sub: t.subs[t.order[i]].ID} }

func (t *subsTable) find(id RowID) int {
	return slices.IndexFunc(t.order, func(i int) bool { return t.subs[i].ID == id.Sub })
}

func (t *subsTable) cell(i, col int) cell {
	e := t.env
	v := &t.subs[t.order[i]]
	switch col {
	case subState:
		word := evidence.StateWord(v, t.now)
		glyph, role := evidence.Sign(e.Glyphs, word)
		return say(role, glyph+" "+string(word))
	case subMode:
		return say(themes.Plain, evidence.ModeWord(v.Mode))
	case subServer:
		return say(themes.Server, v.Key.Server)
	case subType:
		return cell{themes.Type, trust.Line(v.Key.Type)}
	case subArgs:
		if evidence.NoArgs(v.Key.Args) {
			return cell{}
		}
		return say(themes.Dim, string(v.ShownArgs()))
	case subEvidence:
		return t.evidence(v)
	case subLast:
		if last := lastEvent(v); !last.IsZero() {
			return say(themes.Dim, cells.Ago(t.now, last))
		}
	case subCount:
		return say(themes.Plain, cells.Number(v.Stored))
	case subDup:
		return counted(v.Dropped)
	case subLag:
		if d := t.lag(v); d > 0 {
			return say(themes.Plain, cells.ShortSpan(d))
		}
	case subLease:
		if end := evidence.LeaseOf(v).RefreshBefore; v.Mode == event.ModeWebhook && !end.IsZero() {
			return say(themes.Plain, cells.Span(end.Sub(t.now)))
		}
	case subRate:
		return t.rateCell(v)
	}
	return cell{}
}

// evidence is the column that explains the state; an error comes first.
func (t *subsTable) evidence(v *host.SubscriptionView) cell {
	e := t.env
	words := evidence.Of(*v, t.now)
	if e.Cursorless(v) {
		words = cells.Commas(words, evidence.NoReplay)
	}
	switch {
	case v.Status.Error.IsZero():
		return cell{themes.Dim, cells.Sanitize(words)}
	case words == "":
		return cell{themes.Warn, trust.Line(v.Status.Error)}
	}
	return cell{themes.Warn, cells.Join(cells.Sanitize(words+": "), trust.Line(v.Status.Error))}
}

func (t *subsTable) describe(d *detail.Text, id RowID) {
	e := t.env
	if v := e.Sub(id.Sub); v != nil {
		d.Subscription(v, e.Cursorless(v))
	}
}

func (t *subsTable) open(id RowID) (tea.Cmd, bool) {
	e := t.env
	return nil, e.JumpToSub(id.Sub)
}

func (t *subsTable) teach() []string {
	e := t.env
	switch {
	case t.text != "":
		return []string{"No subscription matches.", "", "esc takes the words away."}
	case len(e.Snap.Subs) > 0:
		return []string{"No subscriptions in this scope.", "", "esc goes back; without a scope all are listed."}
	}
	return []string{"No subscriptions yet.", "", "Choose an event type in the tree (" + e.KeyOf("tree") + ") and press " + e.KeyOf("subscribe") + "."}
}

// counted shows a number that is worth a look when it is not zero.
func counted(n uint64) cell {
	if n == 0 {
		return say(themes.Dim, "0")
	}
	return say(themes.Plain, cells.Number(n))
}

// lagAt is how long the newest event of a subscription was on its way.
type lagAt struct {
	seq uint64
	lag time.Duration
}

// rate is how many events came in a second, of late.
func (t *subsTable) rate(v *host.SubscriptionView) float64 {
	r := t.rates[v.ID]
	return cells.PerSecond(r.Seconds[:])
}

// rateCell draws the course of the rate beside it.
func (t *subsTable) rateCell(v *host.SubscriptionView) cell {
	e := t.env
	const seconds = 8
	r, ok := t.rates[v.ID]
	if !ok {
		return cell{}
	}
	course := cells.Recent(r.Seconds[:], seconds)
	if cells.Highest(course) == 0 {
		return cell{}
	}
	return say(themes.Plain, e.Glyphs.Spark(course)+" "+cells.Rate(t.rate(v)))
}

// lag is how long the newest event was on its way, 0 if that is not known.
func (t *subsTable) lag(v *host.SubscriptionView) time.Duration { return t.lags[v.ID].lag }

// Work reads how long the newest events were on their way.
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
