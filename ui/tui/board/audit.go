package board

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/widget"
)

// auditLog lists the entries of the audit log.
type auditLog struct {
	env *Env
	seqs
	seen    uint64 // entries up to this one were read
	entries map[uint64]event.AuditEntry
	text    string
	asked   hostVersion // when entries were read last
	busy    bool
	changed bool // since the rows were loaded
}

func newAuditLog(e *Env) *auditLog {
	return &auditLog{env: e, entries: map[uint64]event.AuditEntry{}}
}

func (t *auditLog) Columns() []table.Column {
	return []table.Column{
		{Title: "AT", Width: 15},
		{Title: "WHO", Width: 8},
		{Title: "DID", Width: 18},
		{Title: "RESULT", Width: 8, Rank: 1},
		{Title: "SERVER", Width: 10, Rank: 3},
		{Title: "TYPE", Width: 12, Grow: 1, Rank: 4},
		{Title: "SUB", Width: 8, Rank: 5},
		{Title: "DETAIL", Width: 12, Grow: 2, Rank: 2},
	}
}

func (t *auditLog) Load() (changed bool) {
	changed, t.changed = t.changed, false
	return changed
}

// Work reads new entries. There are few, because the audit log grows with actions and not with events.
func (t *auditLog) Work() tea.Cmd {
	now := hostVersionOf(t.env)
	audit := t.env.Host.Audit()
	if t.busy || now == t.asked || audit == nil {
		return nil
	}
	t.busy, t.asked = true, now
	seen, text := t.seen, t.text
	return t.env.Do(func(ctx context.Context) tea.Msg {
		var came []event.AuditEntry
		newest := seen
		err := audit.Before(0, func(e event.AuditEntry) bool {
			if e.Seq <= seen || len(came) >= logRows || ctx.Err() != nil {
				return false
			}
			newest = max(newest, e.Seq)
			if entryHolds(&e, text) {
				came = append(came, e)
			}
			return true
		})
		return widget.Then(func() tea.Cmd {
			if t.busy = false; err != nil {
				t.env.Fail("cannot read the audit log", err)
			} else if text == t.text && seen == t.seen {
				t.append(came, newest)
			} else {
				t.asked = hostVersion{}
			}
			return nil
		})
	})
}

// append adds entries, of which the newest is the first.
func (t *auditLog) append(came []event.AuditEntry, newest uint64) {
	t.seen = newest
	if len(came) == 0 {
		return
	}
	t.changed = true
	for _, e := range slices.Backward(came) {
		t.seqs = append(t.seqs, e.Seq)
		t.entries[e.Seq] = e
	}
	if over := len(t.seqs) - logRows; over > 0 {
		for _, seq := range t.seqs[:over] {
			delete(t.entries, seq)
		}
		t.seqs = slices.Clone(t.seqs[over:])
	}
}

// entryHolds reports whether an entry contains a text, which is in lower case.
func entryHolds(e *event.AuditEntry, text string) bool {
	if text == "" {
		return true
	}
	for _, s := range []string{string(e.Actor), e.Action, e.Server, e.Type.Raw(), string(e.Sub), e.Result, e.Detail.Raw()} {
		if cells.HasText(s, text) {
			return true
		}
	}
	return false
}

func (t *auditLog) Filter(text string) {
	*t = auditLog{env: t.env, entries: map[uint64]event.AuditEntry{}, text: strings.ToLower(text), busy: t.busy, changed: true}
}

func (t *auditLog) Cell(i, col int) table.Cell {
	e := t.entries[t.seqs[i]]
	switch col {
	case 0:
		return t.env.when(i, func(i int) time.Time { return t.entries[t.seqs[i]].At }, cells.StampDay)
	case 1:
		return table.Say(actorRole(e.Actor), string(e.Actor))
	case 2:
		return table.Say(themes.Plain, e.Action)
	case 3:
		if e.Result != event.ResultOK {
			return table.Say(themes.Bad, e.Result)
		}
		return table.Say(themes.Dim, e.Result)
	case 4, 5, 6:
		return origin(col-4, e.Server, e.Type, e.Sub)
	}
	return table.Cell{Role: themes.Dim, Text: trust.Line(e.Detail)}
}

// origin returns the cell for the server (0), the type (1) or the subscription (2).
func origin(i int, server string, typ trust.Text, sub event.SubID) table.Cell {
	return [...]table.Cell{
		table.Say(themes.Server, server), {Role: themes.Type, Text: trust.Line(typ)}, table.Say(themes.Dim, string(sub)),
	}[i]
}

func actorRole(who event.Actor) themes.Role {
	switch who {
	case event.ActorSecurity:
		return themes.Warn
	case event.ActorOperator:
		return themes.Strong
	}
	return themes.Plain
}

func (t *auditLog) Describe(d *detail.Text, id table.RowID) {
	e, ok := t.entries[id.Seq]
	if !ok {
		return
	}
	d.Say("", themes.Strong, e.Action)
	d.Say("number  ", themes.Plain, cells.Number(e.Seq))
	d.Say("at      ", themes.Plain, cells.TimeText(e.At, d.Zone(), cells.StampFull))
	d.Say("who     ", actorRole(e.Actor), string(e.Actor))
	d.Say("result  ", themes.Plain, e.Result)
	d.Say("server  ", themes.Plain, e.Server)
	if !e.Type.IsZero() {
		d.Lines = append(d.Lines, detail.Line{Label: "type    ", Text: trust.Line(e.Type)})
	}
	d.Say("sub     ", themes.Plain, string(e.Sub))
	if e.Record > 0 {
		d.Say("record  ", themes.Plain, cells.Number(e.Record))
	}
	for _, line := range trust.Block(e.Detail, max(d.Width-1, 1)) {
		d.Lines = append(d.Lines, detail.Line{Gutter: true, Text: line})
	}
}

func (t *auditLog) Open(id table.RowID) (tea.Cmd, bool) {
	e := t.entries[id.Seq]
	switch {
	case e.Record > 0:
		return t.env.Jump(e.Record), true
	case e.Sub != "":
		return nil, t.env.JumpToSub(e.Sub)
	}
	return nil, false
}

func (t *auditLog) EmptyText() []string {
	if t.text != "" {
		return []string{"No act holds these words.", "", "esc takes them away."}
	}
	return []string{"Nothing was done yet. Acts of yours, of the host and of servers stand here,", "and the outcome of security checks."}
}
