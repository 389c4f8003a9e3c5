// Package notify notifies the operator by the terminal, while that has no focus, of records that
// match the operator's rules.
package notify

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// every is the least time between two notifications. What matches
// meanwhile is counted and told by the next one.
const every = 10 * time.Second

// scanMax bounds the records that one step examines: those that are in
// memory. Older ones of a flood are told by the unread count alone.
const scanMax = 10_000

// Settings are what the operator wants to be told of while looking elsewhere. The
// zero value tells nothing.
type Settings struct {
	On    bool   `json:"on"`
	By    Alert  `json:"by,omitempty"` // "": what the terminal knows
	Rules []Rule `json:"rules,omitempty"`
}

// Rule tells of every record that its filter matches. An empty filter matches all.
type Rule struct {
	Filter string `json:"filter"`
	Off    bool   `json:"off,omitempty"`
}

// Log is what is examined.
type Log interface {
	After(seq uint64, fn func(event.Record) bool) error
}

// Notifier watches the log while the terminal has no focus. It is for the event loop.
type Notifier struct {
	Settings Settings

	env     *cells.Env
	queries []query.Query // of the rules that are on
	detects Alert         // what the terminal knows
	tmux    bool

	focused bool
	seen    uint64 // the log was examined up to here
	busy    bool   // it is being examined
	away    uint64 // newest record when the focus was lost
	hits    int    // matched and not yet told
	newest  event.Record
	told    time.Time
	waiting bool // for the rest of the time between two notifications
}

// New returns a notifier without rules. The environment tells which notifications the terminal
// supports.
func New(env *cells.Env, variable func(string) string) Notifier {
	return Notifier{env: env, detects: AlertFor(variable), tmux: variable("TMUX") != "", focused: true}
}

// Read takes settings as they were kept, "" for none. Settings that cannot be read
// tell nothing.
func (n *Notifier) Read(text string) error {
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &n.Settings); err != nil {
		n.Settings = Settings{}
		return err
	}
	return n.Compile()
}

// Compile makes the queries of the rules that are on, after a change of the settings.
// A rule that cannot be read is left out and named in the error.
func (n *Notifier) Compile() error {
	n.queries = n.queries[:0]
	var wrong []error
	for _, r := range n.Settings.Rules {
		if r.Off {
			continue
		}
		q, err := query.New(query.Node{}, r.Filter, n.env.Clock())
		if err != nil {
			wrong = append(wrong, fmt.Errorf("notification rule %s: %w", r.Filter, err))
			continue
		}
		n.queries = append(n.queries, q)
	}
	return errors.Join(wrong...)
}

// by is the way in which the operator is told.
func (n *Notifier) by() Alert {
	if n.Settings.By != "" {
		return n.Settings.By
	}
	return n.detects
}

// SetFocused notes that the operator looks at the screen, or elsewhere; last is the
// newest record.
func (n *Notifier) SetFocused(on bool, last uint64) {
	n.focused, n.hits = on, 0
	if !on {
		n.seen, n.away = last, last
	}
}

// Unread counts what was stored since the operator looked elsewhere.
func (n *Notifier) Unread(last uint64) uint64 {
	if n.focused || last < n.away {
		return 0
	}
	return last - n.away
}

// Hits are what the rules match of the records up to one.
type Hits struct {
	from, last uint64
	n          int
	newest     event.Record
}

// Due returns what examines the records up to last, nil if there is nothing to do: the
// operator looks at the screen, or nothing is new. It is called in the background,
// and what it returns is for [Notifier.Take].
func (n *Notifier) Due(last uint64) func(Log) (Hits, error) {
	if n.focused || !n.Settings.On || len(n.queries) == 0 || n.busy || n.seen >= last {
		return nil
	}
	n.busy = true
	queries, from := slices.Clone(n.queries), n.seen
	return func(log Log) (Hits, error) {
		h := Hits{from: from, last: last}
		err := log.After(max(from, last-min(last, scanMax)), func(r event.Record) bool {
			if r.Seq > last {
				return false
			}
			for i := range queries {
				if queries[i].Matches(&r) {
					h.n++
					h.newest = r
					break
				}
			}
			return true
		})
		return h, err
	}
}

// Take counts what was found, unless the operator has looked meanwhile.
func (n *Notifier) Take(h Hits) {
	n.busy = false
	if n.focused || n.seen != h.from {
		return
	}
	n.seen = h.last
	if h.n > 0 {
		n.hits, n.newest = n.hits+h.n, h.newest
	}
}

// Notify returns what tells the terminal of what was counted, or how long it is to
// wait for that: [Notifier.Waited] says that it has. Both are zero where there is
// nothing to tell.
func (n *Notifier) Notify() (cmd tea.Cmd, wait time.Duration) {
	if n.focused || n.hits == 0 || n.waiting {
		return nil, 0
	}
	now := n.env.Clock()
	if rest := every - now.Sub(n.told); rest > 0 {
		n.waiting = true
		return nil, rest
	}
	n.told = now
	body := n.words()
	n.hits = 0
	return n.alert(body), 0
}

// Waits tells the operator, who looks elsewhere and wants to be told of something, that
// the program waits for a decision.
func (n *Notifier) Waits(what string) tea.Cmd {
	if n.focused || !n.Settings.On {
		return nil
	}
	n.told = n.env.Clock()
	return n.alert(what)
}

// Waited says that the time is over which [Notifier.Notify] asked for.
func (n *Notifier) Waited() { n.waiting = false }

// words tell what matched: how much, and the newest in one line.
func (n *Notifier) words() string {
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
func (n *Notifier) alert(body string) tea.Cmd {
	return tea.Raw(n.by().Sequence("eventdeck", body, n.tmux, n.env.Glyphs == &cells.ASCIIGlyphs))
}
