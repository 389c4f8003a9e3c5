package tui

import (
	"context"
	"errors"
	"slices"
	"strings"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/redact"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/stream"
)

// presented is the host as it is shown to others: what is personal or secret is
// masked before the screen gets it, so that no pane, copy or export has it. See
// [redact.Audience] for what that is. The host itself keeps everything.
type presented struct {
	host.API
	log *eventlog.Log
	set *redact.Set
}

// errMasked: a request was made from what is masked.
var errMasked = errors.New("the arguments are masked on this screen (--present); subscribe without it")

func present(api host.API) *presented {
	p := &presented{API: api, set: redact.Audience()}
	p.log = api.Log().Mapped(p.record)
	return p
}

func (p *presented) record(r event.Record) event.Record {
	r.Raw, r.Data = p.set.JSON(r.Raw), p.set.JSON(r.Data)
	r.Reason = p.set.Text(r.Reason)
	if r.State != nil {
		s := *r.State
		s.Evidence, s.Error = p.set.String(s.Evidence), p.set.Text(s.Error)
		r.State = &s
	}
	return r
}

// Log implements [host.API].
func (p *presented) Log() *eventlog.Log { return p.log }

// Wire implements [host.API].
func (p *presented) Wire() *eventlog.Ring[host.WireFrame] {
	return p.API.Wire().Mapped(func(f host.WireFrame) host.WireFrame {
		f.Frame = p.set.Text(f.Frame)
		return f
	})
}

// AppLog implements [host.API].
func (p *presented) AppLog() *eventlog.Ring[host.LogLine] {
	return p.API.AppLog().Mapped(func(l host.LogLine) host.LogLine {
		l.Text = p.set.String(l.Text)
		return l
	})
}

// Audit implements [host.API].
func (p *presented) Audit() *eventlog.Audit {
	return p.API.Audit().Mapped(func(e event.AuditEntry) event.AuditEntry {
		e.Detail = p.set.Text(e.Detail)
		return e
	})
}

// Snapshot implements [host.API].
func (p *presented) Snapshot() host.Snapshot {
	s := p.API.Snapshot()
	servers, subs := make([]host.ServerView, len(s.Servers)), make([]host.SubscriptionView, len(s.Subs))
	for i, v := range s.Servers {
		v.Address, v.Err, v.TypesErr = p.set.String(v.Address), p.set.String(v.Err), p.set.String(v.TypesErr)
		v.BadWhy = slices.Clone(v.BadWhy)
		for j, why := range v.BadWhy {
			v.BadWhy[j] = p.set.String(why)
		}
		servers[i] = v
	}
	for i, v := range s.Subs {
		v.Key.Args, v.Shown = p.set.JSON(v.Key.Args), p.set.JSON(v.Shown)
		v.Status.Error = p.set.Text(v.Status.Error)
		subs[i] = v
	}
	s.Servers, s.Subs = servers, subs
	return s
}

// Check implements [host.API].
func (p *presented) Check(ctx context.Context, r host.Request) (event.Mode, error) {
	if strings.Contains(string(r.Args), redact.Shown) {
		return "", errMasked
	}
	return p.API.Check(ctx, r)
}

// Subscribe implements [host.API].
func (p *presented) Subscribe(ctx context.Context, r host.Request) (event.Subscription, error) {
	if strings.Contains(string(r.Args), redact.Shown) {
		return event.Subscription{}, errMasked
	}
	sub, err := p.API.Subscribe(ctx, r)
	sub.Key.Args, sub.Shown = p.set.JSON(sub.Key.Args), p.set.JSON(sub.Shown)
	return sub, err
}

// presenter tells an audience what happens, in lines below the screen.
type presenter struct {
	on       bool
	rows     int    // of the terminal, for captions
	key      string // pressed last
	did      string // what that does
	happened string // told or arrived last
	seen     uint64 // the log was looked at up to here
	lines    cells.Canvas
}

// captionRows is how many rows the captions take on a terminal of h rows.
func (p *presenter) captionRows(h int) int {
	switch {
	case !p.on || h < layout.LeastHeight+2:
		return 0
	case h < 24:
		return 1
	}
	return 3
}

// fit returns how many of h rows are left to the screen.
func (p *presenter) fit(h int) int {
	p.rows = p.captionRows(h)
	return h - p.rows
}

// pressed notes a key and what it does.
func (p *presenter) pressed(key, does string) {
	p.key, p.did, p.happened = strings.ReplaceAll(key, "+", " + "), does, ""
}

// typed notes a key that a dialog or the filter has got. Letters are not told:
// they may spell a secret.
func (p *presenter) typed(key, where string) {
	if len([]rune(key)) > 1 {
		p.pressed(key, where)
	}
}

// watch takes what is to be told: the newest gap, refusal or change of state, and
// what the screen says itself.
func (a *app) watch() {
	p := &a.audience
	if !p.on {
		return
	}
	if a.note.text != "" {
		p.happened = a.note.text
	}
	last := a.snap.Last
	if p.seen == 0 || last < p.seen || last-p.seen > stream.CatchUpMax {
		p.seen = last
	}
	err := a.api.Log().After(p.seen, func(r event.Record) bool {
		if r.Seq <= last && r.Kind != event.KindEvent {
			row := stream.Row(r, stream.TypePick{}, &stream.Plan{})
			p.happened = cells.Sanitize(r.Server).Plain() + " " + trust.Line(r.Type).Plain() + ": " + row.Text.Plain()
		}
		return r.Seq < last
	})
	p.seen = last
	if err != nil {
		a.Fail("cannot read the log", err)
	}
}

// captions are the lines below the screen: the key that was pressed and what it
// does, then what came of it.
func (a *app) captions(rows int) string {
	c := &a.audience.lines
	c.Begin(&a.Theme, a.w)
	p := &a.audience
	first := func() {
		if p.key != "" {
			c.Put(themes.Cursor, " "+p.key+" ")
			c.Put(themes.Strong, "  "+p.did)
		}
	}
	if rows == 1 {
		first()
		if p.happened != "" && c.Room > 20 {
			c.Put(themes.Plain, "   ")
			c.Safe(themes.Plain, cells.Sanitize(p.happened).Clip(c.Room))
		}
		c.End()
		return c.Top()
	}
	c.Rule(themes.RuleOn, a.Glyphs.RuleOn)
	c.End()
	c.Fill(max(0, a.w/6))
	first()
	c.End()
	c.Fill(max(0, a.w/6))
	c.Safe(themes.Plain, cells.Sanitize(p.happened).Clip(c.Room))
	c.End()
	return strings.Join(c.Rows(rows, nil), "\n")
}

// airy draws rows with a blank one between them while the screen is presented.
func (a *app) airy(w, h int, draw func(h int) []string) []string {
	if !a.audience.on || h < 8 {
		return draw(h)
	}
	blank := themes.Reset + strings.Repeat(" ", w)
	out := make([]string, 0, h)
	for _, row := range draw((h + 1) / 2) {
		out = append(out, row, blank)
	}
	return out[:h]
}

// stride is how many rows of the screen a row of a pane takes.
func (a *app) stride(paneRows int) int {
	if !a.audience.on || paneRows < 8 {
		return 1
	}
	return 2
}
