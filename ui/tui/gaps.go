package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// gapsMax bounds the gaps that are listed.
const gapsMax = 1_000

// gapLedger lists the places of the log at which events are or may be missing,
// newest first. It reads the log back beside the program.
type gapLedger struct {
	gaps  []event.Record // newest first
	begun bool
	from  uint64 // everything from here …
	seen  uint64 // … to here was examined
	done  bool   // there is nothing before from
	busy  bool
	err   error

	scope query.Node
	rows  []int // into gaps
}

func newGapLedger() *gapLedger { return &gapLedger{} }

func (t *gapLedger) columns() []tableColumn {
	return []tableColumn{
		{title: "SEEN", width: 15},
		{title: "EVENTS ARE", width: 16},
		{title: "CAUSE", width: 15, rank: 1},
		{title: "FROM", width: 9, rank: 3},
		{title: "TO", width: 9, rank: 4},
		{title: "SERVER", width: 10, grow: 1, rank: 5},
		{title: "TYPE", width: 16, grow: 2, rank: 2},
		{title: "SUB", width: 8, rank: 6},
	}
}

func (t *gapLedger) load(a *app) bool {
	log := a.api.Log()
	t.begin(log)
	var came []event.Record
	left := catchUpMax
	err := log.After(t.seen, func(r event.Record) bool {
		t.seen = r.Seq
		if r.Kind == event.KindGap && r.Gap != nil {
			came = append(came, r)
		}
		left--
		return left > 0
	})
	if err != nil {
		t.err = err
	}
	scope := a.stream.query.Node
	if len(came) == 0 && scope == t.scope && t.rows != nil {
		return false
	}
	slices.Reverse(came)
	t.gaps, t.scope = append(came, t.gaps...), scope
	t.sift()
	return true
}

func (t *gapLedger) begin(log *eventlog.Log) {
	if !t.begun {
		t.begun, t.seen = true, log.Last()
		t.from = t.seen + 1
	}
}

func (t *gapLedger) sift() {
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

// work reads a part of the log back.
func (t *gapLedger) work(a *app) tea.Cmd {
	if t.done || t.busy {
		return nil
	}
	t.begin(a.api.Log())
	t.busy = true
	log, from := a.api.Log(), t.from
	return a.Do(func(ctx context.Context) tea.Msg {
		var found []event.Record
		end, left := true, pageScan
		err := log.Before(from, func(r event.Record) bool {
			if left == 0 || ctx.Err() != nil {
				end = false
				return false
			}
			left--
			from = r.Seq
			if r.Kind == event.KindGap && r.Gap != nil {
				found = append(found, r)
			}
			return true
		})
		return widget.Then(func() tea.Cmd {
			t.busy, t.done, t.from, t.err = false, end || err != nil, from, err
			if len(found) > 0 {
				t.gaps = append(t.gaps, found...)
				t.rows = nil
			}
			return nil
		})
	})
}

func (t *gapLedger) len() int       { return len(t.rows) }
func (t *gapLedger) id(i int) rowID { g := &t.gaps[t.rows[i]]; return rowID{sub: g.Sub, seq: g.Seq} }

func (t *gapLedger) find(id rowID) int {
	return slices.IndexFunc(t.rows, func(i int) bool { return t.gaps[i].Seq == id.seq })
}

func (t *gapLedger) cell(a *app, i, col int) cell {
	r := &t.gaps[t.rows[i]]
	switch col {
	case 0:
		return say(themes.Dim, a.When(r.ReceivedAt, t.above(i), cells.StampDay))
	case 1:
		if r.Gap.Certain {
			return say(themes.Bad, "missing")
		}
		return say(themes.Warn, "possibly missing")
	case 2:
		return say(themes.Plain, string(r.Gap.Cause))
	case 3:
		if !r.Gap.From.IsZero() {
			return say(themes.Plain, cells.At(a.Clock(), r.Gap.From))
		}
	case 4:
		if !r.Gap.To.IsZero() {
			return say(themes.Plain, cells.At(a.Clock(), r.Gap.To))
		}
	case 5:
		return say(themes.Server, r.Server)
	case 6:
		return cell{themes.Type, trust.Line(r.Type)}
	case 7:
		return say(themes.Dim, string(r.Sub))
	}
	return cell{}
}

// above is when the gap of the row above was seen, the zero time for the first one.
func (t *gapLedger) above(i int) time.Time {
	if i == 0 {
		return time.Time{}
	}
	return t.gaps[t.rows[i-1]].ReceivedAt
}

func (t *gapLedger) describe(a *app, d *detail, id rowID) {
	r, err := a.api.Log().Get(id.seq)
	if err != nil {
		d.say("", themes.Bad, "cannot be read: "+err.Error())
		return
	}
	d.envelope(&r)
	d.gap(a, &r)
	d.say("", themes.Plain, "")
	if v := a.sub(r.Sub); v != nil {
		d.say("", themes.Key, a.keyOf("sub.refresh")+" asks the server again from the saved position, "+a.keyOf("open")+" shows the place in the stream")
		d.subscription(a, v)
	} else {
		d.say("", themes.Dim, "The subscription has ended. "+a.keyOf("open")+" shows the place in the stream.")
	}
}

func (t *gapLedger) open(a *app, id rowID) bool { return a.jump(id.seq) }

func (t *gapLedger) teach(*app) []string {
	switch {
	case t.err != nil:
		return []string{"The log cannot be read: " + cells.Sanitize(t.err.Error()).Plain()}
	case !t.done:
		return []string{"Looking back through the log: " + cells.Count(t.from, "record") + " to go."}
	case len(t.gaps) > 0:
		return []string{"No gaps in this scope."}
	}
	return []string{"No gaps: everything that the servers could replay is stored."}
}

// resumed is the report about what the host caught up on since it started.
type resumed struct {
	subs    []host.SubscriptionView // that caught up on something
	silent  int                     // those that did not
	version uint64
	known   bool
}

func (t *resumed) columns() []tableColumn {
	return []tableColumn{
		{title: "SERVER", width: 10, grow: 1, rank: 1},
		{title: "TYPE", width: 16, grow: 2},
		{title: "MODE", width: 5, rank: 3},
		{title: "REPLAYED", width: 9, right: true},
		{title: "DUPLICATES", width: 10, right: true, rank: 2},
		{title: "GAPS", width: 5, right: true},
		{title: "STATE", width: 12, rank: 4},
	}
}

func (t *resumed) load(a *app) bool {
	if t.known && t.version == a.snap.Version {
		return false
	}
	t.subs, t.silent, t.version, t.known = t.subs[:0], 0, a.snap.Version, true
	for i := range a.snap.Subs {
		if v := &a.snap.Subs[i]; v.Status.Replayed+v.Dropped+v.Gaps > 0 {
			t.subs = append(t.subs, *v)
		} else {
			t.silent++
		}
	}
	return true
}

func (t *resumed) len() int       { return len(t.subs) }
func (t *resumed) id(i int) rowID { return rowID{sub: t.subs[i].ID} }

func (t *resumed) find(id rowID) int {
	return slices.IndexFunc(t.subs, func(v host.SubscriptionView) bool { return v.ID == id.sub })
}

func (t *resumed) cell(a *app, i, col int) cell {
	v := &t.subs[i]
	switch col {
	case 0:
		return say(themes.Server, v.Key.Server)
	case 1:
		return cell{themes.Type, trust.Line(v.Key.Type)}
	case 2:
		return say(themes.Plain, evidence.ModeWord(v.Mode))
	case 3:
		return counted(v.Status.Replayed)
	case 4:
		return counted(v.Dropped)
	case 5:
		if v.Gaps > 0 {
			return say(themes.Gap, cells.Number(v.Gaps))
		}
		return counted(0)
	}
	word := evidence.StateWord(v, a.Clock())
	glyph, role := evidence.Sign(a.Glyphs, word)
	return say(role, glyph+" "+string(word))
}

func (t *resumed) describe(a *app, d *detail, id rowID) {
	r := a.snap.Resume
	d.say("", themes.Strong, "Since the start of this run")
	d.say("replayed  ", themes.Plain, cells.Count(r.Replayed, "event")+" from the servers' histories")
	d.say("duplicates", themes.Plain, cells.Number(r.Duplicates)+" came again, dropped")
	d.say("gaps      ", themes.Plain, cells.Number(r.Gaps))
	if t.silent > 0 {
		d.say("others    ", themes.Plain, cells.Count(t.silent, "subscription")+" had nothing to report")
	}
	d.say("", themes.Plain, "")
	if v := a.sub(id.sub); v != nil {
		d.subscription(a, v)
	}
}

func (t *resumed) open(a *app, id rowID) bool { return a.jumpToSub(id.sub) }

func (t *resumed) teach(*app) []string {
	if t.silent > 0 {
		return []string{"Nothing replayed, dropped or missed.", cells.Count(t.silent, "subscription") + " had nothing to report."}
	}
	return []string{"No subscriptions to resume."}
}
