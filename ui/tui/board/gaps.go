package board

import (
	"context"
	"slices"
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

// The numbers of records read in one step: of new ones, and of the log backwards.
const (
	arrivedScan = 4_000
	backScan    = 20_000
)

// gapsMax bounds the gaps that are listed.
const gapsMax = 1_000

// gapLedger lists the gaps of the log, the newest first. It reads the log backwards in steps in the
// background.
type gapLedger struct {
	env   *Env
	gaps  []event.Record // the newest first
	begun bool
	from  uint64 // records from this one up to seen were read
	seen  uint64
	done  bool // there is no record before from
	busy  bool
	err   error       // of the last step
	tried hostVersion // when the last step began

	scope query.Node
	rows  []int // into gaps
}

func newGapLedger(e *Env) *gapLedger { return &gapLedger{env: e} }

func (t *gapLedger) Columns() []table.Column {
	return []table.Column{
		{Title: "SEEN", Width: 15},
		{Title: "EVENTS ARE", Width: 16},
		{Title: "CAUSE", Width: 15, Rank: 1},
		{Title: "FROM", Width: 9, Rank: 3},
		{Title: "TO", Width: 9, Rank: 4},
		{Title: "SERVER", Width: 10, Grow: 1, Rank: 5},
		{Title: "TYPE", Width: 16, Grow: 2, Rank: 2},
		{Title: "SUB", Width: 8, Rank: 6},
	}
}

func (t *gapLedger) Load() bool {
	if scope := t.env.Scope(); scope != t.scope || t.rows == nil {
		t.scope = scope
		t.filterScope()
		return true
	}
	return false
}

// filterScope updates the rows with the gaps of the scope.
func (t *gapLedger) filterScope() {
	if len(t.gaps) > gapsMax {
		t.gaps, t.done = t.gaps[:gapsMax:gapsMax], true
	}
	t.rows = make([]int, 0, len(t.gaps))
	for i := range t.gaps {
		if t.scope.Holds(&t.gaps[i]) {
			t.rows = append(t.rows, i)
		}
	}
}

// Work reads the records that arrived since the last step, else a further part of the log. After an
// error it reads again once the data of the host may have changed.
func (t *gapLedger) Work() tea.Cmd {
	last := t.env.Snap.Last
	if !t.begun {
		t.begun, t.seen, t.from = true, last, last+1
	}
	arrived := t.seen < last
	now := hostVersionOf(t.env)
	if t.busy || t.done && !arrived || t.err != nil && t.tried == now {
		return nil
	}
	t.busy, t.tried = true, now
	log, from, seen := t.env.Host.Log(), t.from, t.seen
	return t.env.Do(func(ctx context.Context) tea.Msg {
		p := gapPart{from: from, seen: seen}
		if arrived {
			p.err = log.After(seen, p.collect(ctx, arrivedScan, &p.seen))
			slices.Reverse(p.gaps)
		} else {
			p.end = true
			p.err = log.Before(from, p.collect(ctx, backScan, &p.from))
		}
		return widget.Then(func() tea.Cmd { t.read(p, arrived); return nil })
	})
}

// gapPart is the result of one step.
type gapPart struct {
	gaps       []event.Record // the newest first
	from, seen uint64
	end        bool // the log has no further records
	err        error
}

// collect returns a function that reads at most left records and sets edge to the last one.
func (p *gapPart) collect(ctx context.Context, left int, edge *uint64) func(event.Record) bool {
	return func(r event.Record) bool {
		if left == 0 || ctx.Err() != nil {
			p.end = false
			return false
		}
		left--
		*edge = r.Seq
		if r.Kind == event.KindGap && r.Gap != nil {
			p.gaps = append(p.gaps, r)
		}
		return true
	}
}

// read adds the result of a step.
func (t *gapLedger) read(p gapPart, arrived bool) {
	if p.err != nil && t.err == nil {
		t.env.Fail("cannot read the gaps", p.err)
	}
	t.busy, t.from, t.seen, t.err = false, p.from, p.seen, p.err
	if !arrived {
		t.done = p.end && p.err == nil
	}
	if len(p.gaps) == 0 {
		return
	}
	if arrived {
		t.gaps = append(p.gaps, t.gaps...)
	} else {
		t.gaps = append(t.gaps, p.gaps...)
	}
	t.rows = nil
}

func (t *gapLedger) Len() int { return len(t.rows) }
func (t *gapLedger) ID(i int) table.RowID {
	g := &t.gaps[t.rows[i]]
	return table.RowID{Sub: g.Sub, Seq: g.Seq}
}

func (t *gapLedger) Find(id table.RowID) int {
	return slices.IndexFunc(t.rows, func(i int) bool { return t.gaps[i].Seq == id.Seq })
}

func (t *gapLedger) Cell(i, col int) table.Cell {
	r := &t.gaps[t.rows[i]]
	switch col {
	case 0:
		return t.env.when(i, func(i int) time.Time { return t.gaps[t.rows[i]].ReceivedAt }, cells.StampDay)
	case 1:
		if r.Gap.Certain {
			return table.Say(themes.Bad, "missing")
		}
		return table.Say(themes.Warn, "possibly missing")
	case 2:
		return table.Say(themes.Plain, string(r.Gap.Cause))
	case 3:
		if !r.Gap.From.IsZero() {
			return table.Say(themes.Plain, cells.At(t.env.Clock(), r.Gap.From))
		}
	case 4:
		if !r.Gap.To.IsZero() {
			return table.Say(themes.Plain, cells.At(t.env.Clock(), r.Gap.To))
		}
	case 5, 6, 7:
		return origin(col-5, r.Server, r.Type, r.Sub)
	}
	return table.Cell{}
}

func (t *gapLedger) Describe(d *detail.Text, id table.RowID) {
	e := t.env
	i := t.Find(id)
	if i < 0 {
		return
	}
	r := &t.gaps[t.rows[i]]
	d.Headline(r, trust.Rendered{}, trust.Rendered{}, 0, "")
	d.Envelope(r)
	d.Gap(r)
	d.Say("", themes.Plain, "")
	if v := query.FindSub(e.Snap, r.Sub); v != nil {
		d.Say("", themes.Key, e.KeyOf("sub.refresh")+" asks the server again from the saved position, "+e.KeyOf("open")+" shows the place in the stream")
		d.Subscription(v, query.Cursorless(e.Snap, v))
	} else {
		d.Say("", themes.Dim, "The subscription has ended. "+e.KeyOf("open")+" shows the place in the stream.")
	}
}

func (t *gapLedger) Open(id table.RowID) (tea.Cmd, bool) { return t.env.Jump(id.Seq), true }

func (t *gapLedger) EmptyText() []string {
	switch {
	case t.err != nil:
		return []string{"The log cannot be read: " + cells.Sanitize(t.err.Error()).Plain()}
	case !t.done:
		return []string{"Looking back through the log: " + cells.Count(t.from, "record") + " to go."}
	}
	return t.noGaps()
}

// noGaps says that the scope has no gaps, why that may be, and how many there are elsewhere.
func (t *gapLedger) noGaps() []string {
	e := t.env
	of, own := "", "the servers"
	if t.scope.Level() > 0 {
		of, own = " of "+e.Place(t.scope), "its server"
	}
	says := "No gaps" + of + ": everything that " + own + " could replay is stored."
	if !slices.ContainsFunc(e.Snap.Subs, func(v host.SubscriptionView) bool { return t.scope.HoldsSub(v.ID, &v.Key) }) {
		says = "No gaps" + of + ": nothing is subscribed there."
		if of == "" {
			says = "No gaps: nothing is subscribed."
		}
	}
	if n := len(t.gaps) - len(t.rows); n > 0 {
		elsewhere := cells.Number(uint64(n))
		if len(t.gaps) == gapsMax {
			elsewhere += " or more"
		}
		return []string{says, "", elsewhere + " elsewhere: " + e.KeyOf("subscriptions.all") + " shows all."}
	}
	return []string{says}
}

// resumed lists the subscriptions that caught up on events since the start of the host.
type resumed struct {
	env       *Env
	subs      []host.SubscriptionView // that caught up on something
	unchanged int                     // the number of other subscriptions
	version   uint64
	known     bool
}

func (t *resumed) Columns() []table.Column {
	return []table.Column{
		{Title: "SERVER", Width: 10, Grow: 1, Rank: 1},
		{Title: "TYPE", Width: 16, Grow: 2},
		{Title: "MODE", Width: 5, Rank: 3},
		{Title: "REPLAYED", Width: 9, Right: true},
		{Title: "DUPLICATES", Width: 10, Right: true, Rank: 2},
		{Title: "GAPS", Width: 5, Right: true},
		{Title: "STATE", Width: 12, Rank: 4},
	}
}

func (t *resumed) Load() bool {
	e := t.env
	if t.known && t.version == e.Snap.Version {
		return false
	}
	t.subs, t.unchanged, t.version, t.known = t.subs[:0], 0, e.Snap.Version, true
	for i := range e.Snap.Subs {
		if v := &e.Snap.Subs[i]; v.Status.Replayed+v.Dropped+v.Gaps > 0 {
			t.subs = append(t.subs, *v)
		} else {
			t.unchanged++
		}
	}
	return true
}

func (t *resumed) Len() int             { return len(t.subs) }
func (t *resumed) ID(i int) table.RowID { return table.RowID{Sub: t.subs[i].ID} }

func (t *resumed) Find(id table.RowID) int {
	return slices.IndexFunc(t.subs, func(v host.SubscriptionView) bool { return v.ID == id.Sub })
}

func (t *resumed) Cell(i, col int) table.Cell {
	e := t.env
	v := &t.subs[i]
	switch col {
	case 0:
		return table.Say(themes.Server, v.Key.Server)
	case 1:
		return table.Cell{Role: themes.Type, Text: trust.Line(v.Key.Type)}
	case 2:
		return table.Say(themes.Plain, evidence.ModeWord(v.Mode))
	case 3:
		return counted(v.Status.Replayed)
	case 4:
		return counted(v.Dropped)
	case 5:
		if v.Gaps > 0 {
			return table.Say(themes.Gap, cells.Number(v.Gaps))
		}
		return counted(0)
	}
	word := evidence.StateWord(v, e.Clock())
	glyph, role := evidence.Sign(e.Glyphs, word)
	return table.Say(role, glyph+" "+string(word))
}

func (t *resumed) Describe(d *detail.Text, id table.RowID) {
	e := t.env
	r := e.Snap.Resume
	d.Say("", themes.Strong, "Since the start of this run")
	d.Say("replayed  ", themes.Plain, cells.Count(r.Replayed, "event")+" from the servers' histories")
	d.Say("duplicates", themes.Plain, cells.Number(r.Duplicates)+" came again, dropped")
	d.Say("gaps      ", themes.Plain, cells.Number(r.Gaps))
	if t.unchanged > 0 {
		d.Say("others    ", themes.Plain, cells.Count(t.unchanged, "subscription")+" had nothing to report")
	}
	d.Say("", themes.Plain, "")
	if v := query.FindSub(e.Snap, id.Sub); v != nil {
		d.Subscription(v, query.Cursorless(e.Snap, v))
	}
}

func (t *resumed) Open(id table.RowID) (tea.Cmd, bool) { return nil, t.env.JumpToSub(id.Sub) }

func (t *resumed) EmptyText() []string {
	if t.unchanged > 0 {
		return []string{"Nothing replayed, dropped or missed.", cells.Count(t.unchanged, "subscription") + " had nothing to report."}
	}
	return []string{"No subscriptions to resume."}
}
