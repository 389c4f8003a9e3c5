// Package notify notifies the operator through the terminal of records that match the operator's rules,
// while the terminal has no focus.
package notify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
)

// every is the least time between two notifications. The next one has the number of matches in
// between.
const every = 10 * time.Second

// scanMax bounds the records that one step examines: the ones in memory. Older ones of a flood are
// only in the unread count.
const scanMax = 10_000

// Settings are the notifications that the operator wants. The zero value is none.
type Settings struct {
	On    bool   `json:"on"`
	By    Alert  `json:"by"` // "": the one that the terminal suggests
	Rules []Rule `json:"rules"`
}

// Rule notifies of every record that its filter matches. An empty filter matches all.
type Rule struct {
	Filter string `json:"filter"`
	Off    bool   `json:"off,omitempty"`
}

// Notifier watches the log while the terminal has no focus. It is for the event loop.
type Notifier struct {
	Settings Settings

	env     *cells.Env
	refused string        // the text that Read refused last, "" after a good one
	queries []query.Query // of the rules that are on
	detects Alert         // that the terminal suggests
	tmux    bool

	focused bool
	seen    uint64 // the log was examined up to this record
	busy    bool   // the log is being examined
	away    uint64 // newest record when the focus was lost
	hits    int    // matches since the last notification
	newest  event.Record
	told    time.Time // of the last notification
	waiting bool      // for the rest of the interval between two notifications
}

// New returns a notifier without rules. The environment tells which notifications the terminal
// supports.
func New(env *cells.Env, variable func(string) string) Notifier {
	return Notifier{env: env, detects: AlertFor(variable), tmux: variable("TMUX") != "", focused: true}
}

// Read takes settings as text, "" for none. After an error the earlier settings stay.
func (n *Notifier) Read(text string) error {
	s, queries, err := n.parse(text)
	if err != nil {
		n.refused = text
		return err
	}
	n.Settings, n.queries, n.refused = s, queries, ""
	return nil
}

// parse parses settings, and makes the queries of the rules that are on.
func (n *Notifier) parse(text string) (s Settings, queries []query.Query, err error) {
	if strings.TrimSpace(text) == "" {
		return s, nil, nil
	}
	in := json.NewDecoder(strings.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&s); err != nil {
		return s, nil, err
	}
	if s.By != "" && !slices.Contains(Alerts, s.By) {
		return s, nil, fmt.Errorf(`"by" is empty or one of %q, not %q`, Alerts, s.By)
	}
	for _, r := range s.Rules {
		q, err := query.New(query.Node{}, r.Filter, n.env.Clock())
		if err != nil {
			return s, nil, fmt.Errorf("notification rule %s: %w", r.Filter, err)
		}
		if !r.Off {
			queries = append(queries, q)
		}
	}
	return s, queries, nil
}

// by returns the alert that is used.
func (n *Notifier) by() Alert {
	if n.Settings.By != "" {
		return n.Settings.By
	}
	return n.detects
}

// SetFocused notes that the terminal has got or lost the focus; last is the newest record.
func (n *Notifier) SetFocused(on bool, last uint64) {
	n.focused, n.hits = on, 0
	if !on {
		n.seen, n.away = last, last
	}
}

// Unread returns the number of records that were stored since the focus was lost.
func (n *Notifier) Unread(last uint64) uint64 {
	if n.focused || last < n.away {
		return 0
	}
	return last - n.away
}

// Hits are the matches of the rules in a part of the log.
type Hits struct {
	from, last uint64
	n          int
	newest     event.Record
}

// Due returns a function that examines the records up to last, nil if nothing is to be examined.
// The function runs in the background; its result is for [Notifier.Take].
func (n *Notifier) Due(last uint64) func(eventlog.Records) (Hits, error) {
	if n.focused || !n.Settings.On || len(n.queries) == 0 || n.busy || n.seen >= last {
		return nil
	}
	n.busy = true
	queries, from := slices.Clone(n.queries), n.seen
	return func(log eventlog.Records) (Hits, error) {
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

// Take counts matches, unless the terminal has got the focus meanwhile.
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

// Notify returns a command that notifies of the counted matches, or how long to wait before the
// next notification; [Notifier.Waited] ends the wait. Both are zero if there is nothing to notify of.
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

// Waits returns a command that notifies that the program waits for a decision, nil if the terminal
// has the focus or notifications are off.
func (n *Notifier) Waits(what string) tea.Cmd {
	if n.focused || !n.Settings.On {
		return nil
	}
	n.told = n.env.Clock()
	return n.alert(what)
}

// Waited ends the wait that [Notifier.Notify] returned.
func (n *Notifier) Waited() { n.waiting = false }

// words returns the text of a notification: the number of matches and the newest one.
func (n *Notifier) words() string {
	r := n.newest
	what := cells.Sanitize(r.Server).Plain() + " " + trust.Line(r.Name()).Plain()
	switch {
	case r.Kind == event.KindGap && r.Gap != nil:
		what += ": " + evidence.GapWords(*r.Gap, n.env.Times)
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

// alert returns a command that writes a notification to the terminal.
func (n *Notifier) alert(body string) tea.Cmd {
	return tea.Raw(n.by().Sequence("eventdeck", body, n.tmux, n.env.Glyphs == &cells.ASCIIGlyphs))
}
