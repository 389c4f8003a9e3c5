package board

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/widget"
)

// remotes lists the subscriptions that servers hold for this host. Those that belong to no
// subscription here come first: they only cost work.
type remotes struct {
	env   *Env
	rows  []remoteRow
	state map[string]string // a description of the answer, by server
	asked map[string]bool   // the servers that were asked
	gen   int
	drawn int
}

type remoteRow struct {
	server string
	sub    host.RemoteSubscription
}

// remoteWithin bounds the time for the answer of a server.
const remoteWithin = 10 * time.Second

func newRemotes(e *Env) *remotes {
	return &remotes{env: e, state: map[string]string{}, asked: map[string]bool{}}
}

func (t *remotes) Columns() []table.Column {
	return []table.Column{
		{Title: "WHAT", Width: 11},
		{Title: "SERVER", Width: 10, Grow: 1, Rank: 1},
		{Title: "TYPE", Width: 16, Grow: 2},
		{Title: "ID THERE", Width: 12, Grow: 1, Rank: 2},
		{Title: "HERE", Width: 8, Rank: 4},
		{Title: "DETAIL", Width: 20, Grow: 3, Rank: 3},
	}
}

func (t *remotes) Load() bool {
	changed := t.gen != t.drawn
	t.drawn = t.gen
	return changed
}

// Work asks the servers that were not asked yet.
func (t *remotes) Work() tea.Cmd {
	e := t.env
	var cmds []tea.Cmd
	for i := range e.Snap.Servers {
		s := &e.Snap.Servers[i]
		if t.asked[s.Name] || s.Reach != host.ReachReady {
			continue
		}
		t.asked[s.Name] = true
		t.state[s.Name] = "asked"
		name := s.Name
		cmds = append(cmds, e.Do(func(ctx context.Context) tea.Msg {
			ctx, cancel := context.WithTimeout(ctx, remoteWithin)
			defer cancel()
			held, err := e.Host.Remote(ctx, name)
			return widget.Then(func() tea.Cmd { t.take(name, held, err); return nil })
		}))
	}
	return tea.Batch(cmds...)
}

func (t *remotes) take(server string, held []host.RemoteSubscription, err error) {
	t.gen++
	t.rows = slices.DeleteFunc(t.rows, func(r remoteRow) bool { return r.server == server })
	t.state[server] = "holds " + cells.Count(len(held), "subscription") + " for us"
	if err != nil {
		t.state[server] = "cannot tell: " + err.Error()
	}
	for _, s := range held {
		t.rows = append(t.rows, remoteRow{server, s})
	}
	slices.SortStableFunc(t.rows, func(x, y remoteRow) int { return x.rank() - y.rank() })
}

// rank returns the rank in the list: what should not be there comes first.
func (r *remoteRow) rank() int {
	switch {
	case r.sub.Orphan || r.sub.Mine == "":
		return 0
	case r.sub.Duplicate:
		return 1
	}
	return 2
}

func (r *remoteRow) word() (themes.Role, string) {
	switch r.rank() {
	case 0:
		return themes.Bad, "! orphan"
	case 1:
		return themes.Warn, "~ duplicate"
	}
	return themes.Good, "  ours"
}

func (r *remoteRow) id() table.RowID {
	return table.RowID{Sub: r.sub.Mine, Name: r.server + "\x00" + r.sub.ServerID.Raw()}
}

func (t *remotes) Len() int             { return len(t.rows) }
func (t *remotes) ID(i int) table.RowID { return t.rows[i].id() }

func (t *remotes) Find(id table.RowID) int {
	return slices.IndexFunc(t.rows, func(r remoteRow) bool { return r.id() == id })
}

func (t *remotes) Cell(i, col int) table.Cell {
	r := &t.rows[i]
	switch col {
	case 0:
		return table.Say(r.word())
	case 1:
		return table.Say(themes.Server, r.server)
	case 2:
		return table.Cell{Role: themes.Type, Text: trust.Line(r.sub.Type)}
	case 3:
		return table.Cell{Role: themes.Dim, Text: trust.Line(r.sub.ServerID)}
	case 4:
		return table.Say(themes.Dim, string(r.sub.Mine))
	}
	return table.Cell{Role: themes.Dim, Text: trust.Line(r.sub.Detail)}
}

func (t *remotes) Describe(d *detail.Text, id table.RowID) {
	e := t.env
	i := t.Find(id)
	if i < 0 {
		for _, s := range t.words() {
			d.Say("", themes.Plain, s)
		}
		return
	}
	r := &t.rows[i]
	_, word := r.word()
	switch r.rank() {
	case 0:
		d.Say("", themes.Strong, "An orphan: the server holds it for us, and no subscription here knows it.")
	case 1:
		d.Say("", themes.Strong, "A duplicate: the server delivers the same events twice.")
	default:
		d.Say("", themes.Strong, "The server's side of "+string(r.sub.Mine))
	}
	d.Say("what    ", themes.Plain, strings.TrimSpace(word))
	d.Say("server  ", themes.Plain, r.server)
	d.Quote(r.server, []trust.Rendered{cells.Join(trust.Line(r.sub.Type), cells.Sanitize(" "), trust.Line(r.sub.ServerID)), trust.Line(r.sub.Detail)})
	if r.rank() < 2 {
		d.Say("", themes.Key, e.KeyOf("remote.end")+" ends it at the server")
	}
	for _, s := range t.words() {
		d.Say("", themes.Dim, s)
	}
}

// words describes the answers of all servers.
func (t *remotes) words() []string {
	var out []string
	for i := range t.env.Snap.Servers {
		name := t.env.Snap.Servers[i].Name
		state := t.state[name]
		if state == "" {
			state = "is not connected"
		}
		out = append(out, name+" "+state)
	}
	return out
}

func (t *remotes) EmptyText() []string {
	return append([]string{"Servers list here what they hold for us.", ""}, t.words()...)
}

// AskEnd asks before it ends the chosen subscription of the table At servers at its server. It does
// nothing for any other table.
func AskEnd(t *table.Table) {
	src, ok := t.Src.(*remotes)
	if !ok {
		return
	}
	e := src.env
	i := src.Find(t.At)
	if i < 0 {
		return
	}
	r := src.rows[i]
	text := []string{"Nothing here knows it; its events go nowhere."}
	if r.sub.Mine != "" {
		text = []string{"The subscription " + string(r.sub.Mine) + " here may have to subscribe again."}
	}
	text = append(text, "This cannot be undone.")
	e.Show(&widget.Confirm{Screen: e,
		Head:  "End at " + r.server,
		Lines: append([]string{trust.Line(r.sub.Type).Plain() + " " + trust.Line(r.sub.ServerID).Plain()}, text...),
		Choices: []widget.Choice{{Key: "y", Title: "end it at the server", Run: func() tea.Cmd {
			return e.Do(func(ctx context.Context) tea.Msg {
				err := e.Host.EndRemote(ctx, r.server, r.sub.ServerID)
				return widget.Then(func() tea.Cmd {
					delete(src.asked, r.server)
					if err != nil {
						e.Fail("cannot end it at "+r.server, err)
						return nil
					}
					e.Tell("ended at " + r.server)
					return nil
				})
			})
		}}},
	})
}

// Remotes reports whether a table is the table At servers.
func Remotes(t *table.Table) bool {
	if t == nil {
		return false
	}
	_, ok := t.Src.(*remotes)
	return ok
}

// AskAgain makes the table At servers ask all servers again. It says so, and does nothing for any other table.
func AskAgain(t *table.Table) {
	if src, ok := t.Src.(*remotes); ok {
		clear(src.asked)
		src.env.Tell("asking the servers which subscriptions they hold " + src.env.Glyphs.More)
	}
}
