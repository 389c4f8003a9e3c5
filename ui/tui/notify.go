package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
)

// notifyEvery is the least time between two notifications. What matches
// meanwhile is counted and told by the next one.
const notifyEvery = 10 * time.Second

// notifyScan bounds the records that one step examines: those that are in
// memory. Older ones of a flood are told by the unread count alone.
const notifyScan = 10_000

// notifySettings are what the operator wants to be told of while looking
// elsewhere. The zero value tells nothing.
type notifySettings struct {
	On    bool         `json:"on"`
	By    alert        `json:"by,omitempty"` // "": what the terminal knows
	Rules []notifyRule `json:"rules,omitempty"`
}

// notifyRule tells of every record that its filter matches. An empty filter
// matches all.
type notifyRule struct {
	Filter string `json:"filter"`
	Off    bool   `json:"off,omitempty"`
}

// notifier watches the log while nobody looks at the screen.
type notifier struct {
	set     notifySettings
	queries []query.Query // of the rules that are on
	detects alert         // what the terminal knows
	tmux    bool

	seen    uint64 // the log was examined up to here
	away    uint64 // newest record when the focus was lost
	hits    int    // matched and not yet told
	newest  event.Record
	told    time.Time
	waiting bool // for the rest of notifyEvery
}

// notifyMsg: there was quiet for long enough.
type notifyMsg struct{}

func (a *app) initNotify(env func(string) string) {
	n := &a.notify
	n.detects, n.tmux = alertFor(env), env("TMUX") != ""
	if text := a.kept(keptNotify); text != "" {
		if err := json.Unmarshal([]byte(text), &n.set); err != nil {
			a.Fail("notification rules are not read", err)
			n.set = notifySettings{}
		}
	}
	a.compileNotify()
}

// compileNotify makes the queries of the rules that are on. A rule that cannot be
// read is left out and named.
func (a *app) compileNotify() {
	n := &a.notify
	n.queries = n.queries[:0]
	for _, r := range n.set.Rules {
		if r.Off {
			continue
		}
		q, err := query.New(query.Node{}, r.Filter, a.Clock())
		if err != nil {
			a.Fail("notification rule "+r.Filter, err)
			continue
		}
		n.queries = append(n.queries, q)
	}
}

// by is the way in which the operator is told.
func (n *notifier) by() alert {
	if n.set.By != "" {
		return n.set.By
	}
	return n.detects
}

// looksAt takes that the operator looks at the screen, or elsewhere.
func (a *app) looksAt(on bool) {
	a.focused = on
	n := &a.notify
	n.hits = 0
	if !on {
		n.seen, n.away = a.snap.Last, a.snap.Last
	}
}

// unread counts what was stored since the operator looked elsewhere.
func (a *app) unread() uint64 {
	if a.focused || a.snap.Last < a.notify.away {
		return 0
	}
	return a.snap.Last - a.notify.away
}

// notice tells the operator, who looks elsewhere, of what a rule matches.
func (a *app) notice() tea.Cmd {
	n := &a.notify
	if a.focused || !n.set.On || len(n.queries) == 0 {
		return nil
	}
	if n.seen < a.snap.Last {
		a.examine(n)
	}
	if n.hits == 0 || n.waiting {
		return nil
	}
	if rest := notifyEvery - a.Clock().Sub(n.told); rest > 0 {
		n.waiting = true
		return a.after(rest, notifyMsg{})
	}
	n.told = a.Clock()
	body := n.words()
	n.hits = 0
	return a.alert(body)
}

// examine counts the records after seen that a rule matches.
func (a *app) examine(n *notifier) {
	last := a.snap.Last
	err := a.api.Log().After(max(n.seen, last-min(last, notifyScan)), func(r event.Record) bool {
		if r.Seq > last {
			return false
		}
		for i := range n.queries {
			if n.queries[i].Matches(&r) {
				n.hits++
				n.newest = r
				break
			}
		}
		return true
	})
	n.seen = last
	if err != nil {
		a.Fail("cannot read the log", err)
	}
}

// words tell what matched: how much, and the newest in one line.
func (n *notifier) words() string {
	r := n.newest
	what := cells.Sanitize(r.Server).Plain() + " " + trust.Line(r.Type).Plain()
	switch {
	case r.Kind == event.KindGap && r.Gap != nil:
		what += ": " + evidence.GapWords(*r.Gap, cells.TimeLocal)
	case r.Kind == event.KindState && r.State != nil:
		what += ": " + string(r.State.State)
	case r.Kind == event.KindRejected:
		what += ": payload refused"
	default:
		what += ": " + trust.Line(host.Headline(r)).Plain()
	}
	if n.hits > 1 {
		return strconv.Itoa(n.hits) + " new, newest " + what
	}
	return what
}

// alert writes a notification to the terminal.
func (a *app) alert(body string) tea.Cmd {
	n := &a.notify
	return tea.Raw(n.by().sequence("eventdeck", body, n.tmux, a.Glyphs == &cells.ASCIIGlyphs))
}

// keepNotify keeps the rules after a change.
func (a *app) keepNotify() tea.Cmd {
	a.compileNotify()
	text, err := json.Marshal(a.notify.set)
	if err != nil {
		a.Fail("notification rules are not kept", err)
		return nil
	}
	return a.keep(keptNotify, string(text), "")
}

// after sends a message when a time is over, unless the program ends before.
func (a *app) after(d time.Duration, msg tea.Msg) tea.Cmd {
	return a.Do(func(ctx context.Context) tea.Msg {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			return msg
		}
	})
}

// windowTitle tells the terminal which session this is and how much is unread.
// It holds no word of a server.
func (a *app) windowTitle() string {
	title := "eventdeck"
	if a.session != "" {
		title += ": " + alertText(a.session, alertTitleMax, false)
	}
	switch n := a.unread(); {
	case n > 999:
		return "(999+) " + title
	case n > 0:
		return fmt.Sprintf("(%d) %s", n, title)
	}
	return title
}
