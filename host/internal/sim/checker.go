package sim

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"eventdeck/host/event"
)

// Checker compares what the host stores with what happened. A violation is the description
// of a broken promise.
type Checker struct {
	mu         sync.Mutex
	accounts   map[string]*account // by event type
	violations []string
	more       int // violations that are not kept
	tolerance  time.Duration
}

// account is the state of one subscription.
type account struct {
	feed     *Feed
	owed     int     // the host need not have events up to this number
	seen     []uint8 // how often each event was committed, by number
	floor    int     // every event up to this number is stored or gone
	events   int
	rejected int
	gaps     []event.Gap
	causes   map[event.Cause]int
}

const keptViolations = 20

// NewChecker returns a checker for subscriptions to the feeds. A gap's window may miss an
// event by the tolerance: an event may be in transit for that long.
func NewChecker(feeds []*Feed, tolerance time.Duration) *Checker {
	c := &Checker{accounts: map[string]*account{}, tolerance: tolerance}
	for _, f := range feeds {
		c.accounts[f.Name] = &account{feed: f, causes: map[event.Cause]int{}}
	}
	return c
}

// Subscribed records that the host is subscribed: it must store the events from now on.
func (c *Checker) Subscribed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.accounts {
		a.owed = a.feed.Last()
		a.floor = a.owed
	}
}

// violation is Violation with the lock held.
func (c *Checker) violation(format string, args ...any) {
	if len(c.violations) == keptViolations {
		c.more++
		return
	}
	c.violations = append(c.violations, fmt.Sprintf(format, args...))
}

// Violation records a broken promise.
func (c *Checker) Violation(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.violation(format, args...)
}

// Violations returns the broken promises.
func (c *Checker) Violations() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := append([]string(nil), c.violations...)
	if c.more > 0 {
		out = append(out, fmt.Sprintf("and %d more", c.more))
	}
	return out
}

// Stored checks the records of a commit.
func (c *Checker) Stored(records []event.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range records {
		c.record(&records[i])
	}
}

func (c *Checker) record(r *event.Record) {
	a := c.accounts[r.Type.Raw()]
	if a == nil {
		c.violation("a record of the unknown type %v", r.Type)
		return
	}
	switch r.Kind {
	case event.KindGap:
		a.gaps = append(a.gaps, *r.Gap)
		a.causes[r.Gap.Cause]++
	case event.KindRejected:
		a.rejected++
	case event.KindEvent:
		c.event(a, r)
	}
}

func (c *Checker) event(a *account, r *event.Record) {
	text, _ := strings.CutPrefix(r.EventID.Raw(), a.feed.Name+"-")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > a.feed.Last() {
		c.violation("%s: event %v was never sent", a.feed.Name, r.EventID)
		return
	}
	if !bytes.Equal(r.Data, []byte(a.feed.data(n))) {
		c.violation("%s: event %d says %.60s, which was never sent", a.feed.Name, n, r.Data)
	}
	for len(a.seen) <= n {
		a.seen = append(a.seen, 0)
	}
	if a.seen[n]++; a.seen[n] > 1 {
		c.violation("%s: event %d is stored %d times", a.feed.Name, n, a.seen[n])
	}
	a.events++
}

func (a *account) has(n int) bool { return n < len(a.seen) && a.seen[n] > 0 }

// Acked checks a delivery that was acknowledged: it must be stored.
func (c *Checker) Acked(f *Feed, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.accounts[f.Name].has(n) {
		c.violation("%s: event %d was acknowledged and is not stored", f.Name, n)
	}
}

// Position checks the position of a stored subscription: every event before it must be
// stored.
func (c *Checker) Position(sub event.Subscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.position(sub)
}

func (c *Checker) position(sub event.Subscription) {
	a := c.accounts[sub.Key.Type.Raw()]
	opening := sub.Opening()
	if a == nil || a.feed.Cursorless || !opening.Valid {
		return
	}
	_, at := a.feed.parseCursor(opening.Text.Raw())
	for n := a.floor + 1; n <= at; n++ {
		if !a.has(n) && !a.feed.Gone(n) && !a.feed.Skipped(n) {
			c.violation("%s: the stored cursor is %d, event %d is not stored", a.feed.Name, at, n)
			return
		}
		a.floor = n
	}
}

// Reopened compares a reopened store with the commits.
func (c *Checker) Reopened(store event.Store) {
	c.mu.Lock()
	defer c.mu.Unlock()
	have := map[string][]uint8{}
	for name, a := range c.accounts {
		have[name] = make([]uint8, len(a.seen))
	}
	err := store.Forward(1, func(r event.Record) bool {
		a := c.accounts[r.Type.Raw()]
		if r.Kind != event.KindEvent || a == nil {
			return true
		}
		n, _ := strconv.Atoi(strings.TrimPrefix(r.EventID.Raw(), a.feed.Name+"-"))
		if n < 1 || n >= len(a.seen) {
			c.violation("%s: event %v is in the file and was not committed", a.feed.Name, r.EventID)
			return true
		}
		have[a.feed.Name][n]++
		return true
	})
	if err != nil {
		c.violation("the store cannot be read: %v", err)
	}
	for name, a := range c.accounts {
		for n, seen := range a.seen {
			if have[name][n] != seen {
				c.violation("%s: event %d was committed %d times and is in the file %d times", name, n, seen, have[name][n])
			}
		}
	}
	for _, sub := range store.Subscriptions() {
		c.position(sub)
	}
}

// WantNoGap checks that no gap was recorded.
func (c *Checker) WantNoGap() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range sortedKeys(c.accounts) {
		a := c.accounts[name]
		for _, g := range a.gaps {
			c.violation("%s (%v %v): a gap record (%s, %s to %s), and nothing was missing", name, a.feed.modes, a.feed.deviations, g.Cause, g.From.Format(time.TimeOnly+".000"), g.To.Format(time.TimeOnly+".000"))
		}
	}
}

// Missing returns the number of events that the server could replay and that are not
// stored.
func (c *Checker) Missing() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.accounts {
		for i := a.owed + 1; i <= a.feed.Last(); i++ {
			if !a.has(i) && !a.feed.Gone(i) {
				n++
			}
		}
	}
	return n
}

// Finish records events missing at the end as violations, and returns the counts.
func (c *Checker) Finish() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := Counts{Gaps: map[event.Cause]int{}}
	for _, name := range sortedKeys(c.accounts) {
		a := c.accounts[name]
		var missing span
		for n := a.owed + 1; n <= a.feed.Last(); n++ {
			t.Sent++
			skipped := a.feed.Skipped(n)
			if skipped {
				t.Skipped++
			}
			fate := ""
			switch {
			case a.has(n):
				t.Stored++
				if skipped {
					t.Recovered++
				}
				if a.seen[n] > 1 {
					t.Doubled++
				}
			case !a.feed.Gone(n):
				t.Lost++
				fate = "lost"
			case a.covered(a.feed.At(n), c.tolerance):
				t.Gone++
			default:
				t.Silent++
				fate = "gone without a gap record"
			}
			if fate != missing.fate {
				c.missing(a, missing)
				missing = span{fate, n, n}
			}
			missing.to = n
		}
		c.missing(a, missing)
		t.Rejected += a.rejected
		for cause, n := range a.causes {
			t.Gaps[cause] += n
		}
	}
	return t
}

// span is a run of events with the same outcome; "" breaks no promise.
type span struct {
	fate     string
	from, to int
}

// missing records missing events. The lock is held.
func (c *Checker) missing(a *account, s span) {
	if s.fate == "" {
		return
	}
	f, at := a.feed, a.feed.At(s.from)
	c.violation("%s (%v %v): events %d to %d of %v are %s; there are gaps %v",
		f.Name, f.modes, f.deviations, s.from, s.to, at.UTC().Format(time.TimeOnly+".000"), s.fate, a.nearest(at))
}

func (a *account) covered(at time.Time, tolerance time.Duration) bool {
	for _, g := range a.gaps {
		if (g.From.IsZero() || !at.Before(g.From.Add(-tolerance))) && !at.After(g.To.Add(tolerance)) {
			return true
		}
	}
	return false
}

// nearest describes the gaps around a time.
func (a *account) nearest(at time.Time) (text []string) {
	for _, g := range a.gaps {
		if g.To.After(at.Add(-30*time.Second)) && g.From.Before(at.Add(30*time.Second)) {
			text = append(text, fmt.Sprintf("%s %s to %s", g.Cause, g.From.Format(time.TimeOnly+".000"), g.To.Format(time.TimeOnly+".000")))
		}
	}
	return text
}

// Counts count the events that the host had to store, by outcome.
type Counts struct {
	Sent    int `json:"sent"`
	Stored  int `json:"stored"`
	Gone    int `json:"gone"` // could not be replayed; covered by a gap record
	Lost    int `json:"lost"`
	Skipped int `json:"skipped"` // skipped by an opening, or given up
	// Recovered counts the skipped events that are stored.
	Recovered int                 `json:"recovered"`
	Doubled   int                 `json:"doubled"`
	Silent    int                 `json:"silent"` // gone without a gap record
	Rejected  int                 `json:"rejected"`
	Gaps      map[event.Cause]int `json:"gaps"`
}

// Add adds other counts.
func (t *Counts) Add(o Counts) {
	t.Sent, t.Stored, t.Gone, t.Lost = t.Sent+o.Sent, t.Stored+o.Stored, t.Gone+o.Gone, t.Lost+o.Lost
	t.Skipped, t.Recovered = t.Skipped+o.Skipped, t.Recovered+o.Recovered
	t.Doubled, t.Silent, t.Rejected = t.Doubled+o.Doubled, t.Silent+o.Silent, t.Rejected+o.Rejected
	if t.Gaps == nil {
		t.Gaps = map[event.Cause]int{}
	}
	for cause, n := range o.Gaps {
		t.Gaps[cause] += n
	}
}
