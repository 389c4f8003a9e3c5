package incidents

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/export"
	"eventdeck/host/react"
)

// Report is the report of an incident.
type Report struct {
	Title   string
	What    string // which records the timeline has, such as a filter; trusted text
	Made    time.Time
	Entries []Entry // in order of time
	Hits    int     // number of matching records; more than the entries if there are too many
	Marks   []Marked
	Gaps    []Entry        // that overlap the time of the entries
	Chosen  []event.Record // records with payloads in the report
	Answers []react.Run    // with answers of models and agents about the entries
	Zone    *time.Location // of the times; nil means UTC
	Rand    io.Reader      // of the envelopes; nil means the system's
}

// Marked is a mark with its record.
type Marked struct {
	event.Mark
	Entry Entry
	Gone  bool // the record is not stored any more
}

// Request says what a report is to contain.
type Request struct {
	Title   string
	What    string
	Match   func(*event.Record) bool // nil: the marked records
	Marks   []event.Mark             // all marks of the operator
	Chosen  []uint64                 // further records with payloads, besides the marked ones
	Zone    *time.Location
	Made    time.Time
	Payload bool // with the payloads of marked events
	Runs    Runs // of reactions; nil: there are none
}

// Build reads the records of a report. With a Match the report has the marks at records of the
// timeline or in its time, else all marks.
//
// Errors: the cause of ctx, those of the store.
func Build(ctx context.Context, log eventlog.Records, q Request) (*Report, error) {
	r := &Report{Title: q.Title, What: q.What, Made: q.Made, Zone: q.Zone}
	marked := make([]Marked, 0, len(q.Marks))
	for _, m := range q.Marks {
		rec, err := log.Get(m.Seq)
		w := Marked{Mark: m, Gone: err != nil}
		if err == nil {
			w.Entry = entryOf(&rec)
		}
		marked = append(marked, w)
	}
	slices.SortStableFunc(marked, func(a, b Marked) int { return cmp.Compare(a.Seq, b.Seq) })
	if q.Match == nil {
		for _, m := range marked {
			if !m.Gone && !m.Line {
				r.Entries = append(r.Entries, m.Entry)
			}
		}
		Sort(r.Entries)
		r.Hits, r.Marks = len(r.Entries), marked
	} else {
		var err error
		if r.Entries, r.Hits, err = All(ctx, log, func(rec *event.Record) bool { return rec.Kind != event.KindState && q.Match(rec) }); err != nil {
			return nil, err
		}
		r.Marks = r.within(marked)
	}
	if err := r.findGaps(ctx, log); err != nil {
		return nil, err
	}
	if err := r.findAnswers(ctx, q.Runs); err != nil {
		return nil, err
	}
	chosen := slices.Clone(q.Chosen)
	for _, m := range r.Marks {
		if q.Payload && !m.Gone && !m.Line && m.Entry.Kind == event.KindEvent && !slices.Contains(chosen, m.Seq) {
			chosen = append(chosen, m.Seq)
		}
	}
	for _, seq := range chosen {
		rec, err := log.Get(seq)
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", seq, err)
		}
		r.Chosen = append(r.Chosen, rec)
	}
	return r, nil
}

// span returns the times of the first and the last entry.
func (r *Report) span() (from, to time.Time, ok bool) {
	if len(r.Entries) == 0 {
		return from, to, false
	}
	return r.Entries[0].At, r.Entries[len(r.Entries)-1].At, true
}

// within returns the marks at records of the timeline, and those in its time.
func (r *Report) within(marked []Marked) (in []Marked) {
	from, to, ok := r.span()
	has := make(map[uint64]bool, len(r.Entries))
	for i := range r.Entries {
		has[r.Entries[i].Seq] = true
	}
	for _, m := range marked {
		if has[m.Seq] || ok && !m.Gone && !m.Entry.At.Before(from) && !m.Entry.At.After(to) {
			in = append(in, m)
		}
	}
	return in
}

// findGaps finds the gaps that overlap the time of the entries.
func (r *Report) findGaps(ctx context.Context, log eventlog.Records) error {
	from, to, ok := r.span()
	if !ok {
		return nil
	}
	gaps, _, err := All(ctx, log, func(rec *event.Record) bool {
		if rec.Kind != event.KindGap || rec.Gap == nil {
			return false
		}
		begins, ends := window(rec)
		return !begins.After(to) && !ends.Before(from)
	})
	r.Gaps = gaps
	return err
}

// window returns the time in which events may be missing. An unknown end is when the gap was
// stored.
func window(r *event.Record) (from, to time.Time) {
	if from = r.Gap.From; from.IsZero() {
		from = r.ReceivedAt
	}
	if to = r.Gap.To; to.IsZero() {
		to = r.ReceivedAt
	}
	return from, to
}

// Markdown writes the report. Texts of servers are escaped, and payloads are in envelopes (package
// handoff). Errors: those of w.
func (r *Report) Markdown(w io.Writer) error {
	return r.write(&page{w: w, zone: r.Zone})
}

// Plain writes the report for screen readers: a sentence a line, without tables and markup. Errors:
// those of w.
func (r *Report) Plain(w io.Writer) error {
	return r.write(&page{w: w, zone: r.Zone, plain: true})
}

func (r *Report) write(p *page) error {
	if p.zone == nil {
		p.zone = time.UTC
	}
	p.heading(1, p.inert(r.Title))
	r.head(p)
	r.marks(p)
	r.timeline(p)
	r.gaps(p)
	r.payloads(p)
	r.answers(p)
	return p.err
}

func (r *Report) head(p *page) {
	p.item("Records: %s (%s)", event.Some(r.Hits, "record", "records"), p.inert(r.What))
	if from, to, ok := r.span(); ok {
		p.item("From %s to %s, %s", p.time(from), p.time(to), to.Sub(from).Round(time.Second))
		servers := map[string]bool{}
		for i := range r.Entries {
			servers[r.Entries[i].Server] = true
		}
		p.item("%s on %s", event.Some(len(Lanes(r.Entries)), "event type", "event types"), event.Some(len(servers), "server", "servers"))
	}
	p.item("Made %s. Times are in %s: when it occurred, as the server says, or, where it says none, when it was received (marked with %s).", p.time(r.Made), zoneName(r.Made.In(p.zone)), p.received())
	p.item("Summaries and severities are the words of servers.")
	p.line("")
}

func (r *Report) marks(p *page) {
	if len(r.Marks) == 0 {
		return
	}
	p.heading(2, "Marks and notes")
	for _, m := range r.Marks {
		note := p.inert(m.Note)
		switch {
		case m.Line:
			p.item("%s line behind record %d %s", p.time(m.Mark.At), m.Seq, note)
		case m.Gone:
			p.item("record %d, not stored any more. %s", m.Seq, note)
		default:
			p.item("%s, record %d, %s: %s", p.when(&m.Entry), m.Seq, p.source(&m.Entry), p.summary(&m.Entry))
			if note != "" {
				p.note(note)
			}
		}
	}
	p.line("")
}

func (r *Report) timeline(p *page) {
	if !p.section("Timeline", len(r.Entries), "No record of it is stored.") {
		return
	}
	if left := r.Hits - len(r.Entries); left > 0 {
		p.line("%s, older than these, left out.", event.Some(left, "record is", "records are"))
		p.line("")
	}
	if !p.plain {
		p.line("| Time | Severity | Summary | Server | Type | Record |")
		p.line("|---|---|---|---|---|---|")
	}
	for _, run := range Fold(r.Entries) {
		e := &r.Entries[run.First]
		text := p.summary(e)
		if n := run.Count(); n > 1 {
			text += fmt.Sprintf(" (%d times in %s)", n, run.Span(r.Entries).Truncate(time.Second))
		}
		p.entry(e, text)
	}
	p.line("")
}

func (r *Report) gaps(p *page) {
	if !p.section("Gaps", len(r.Gaps), "No gap is known that falls into this time.") {
		return
	}
	for i := range r.Gaps {
		g := r.Gaps[i].Gap
		word := "events may be missing"
		if g.Certain {
			word = "events are missing"
		}
		from, to := "a moment that is not known", "a moment that is not known"
		if !g.From.IsZero() {
			from = p.time(g.From)
		}
		if !g.To.IsZero() {
			to = p.time(g.To)
		}
		p.item("%s: %s from %s to %s (%s)", p.source(&r.Gaps[i]), word, from, to, p.inert(string(g.Cause)))
	}
	p.line("")
}

// section begins a section of the report, and reports whether it has entries. Without entries it
// writes none.
func (p *page) section(title string, entries int, none string) bool {
	p.heading(2, title)
	if entries == 0 {
		p.line(none)
		p.line("")
	}
	return entries > 0
}

// quotes begins a section with texts of others.
func (p *page) quotes(title, whose string) {
	p.heading(2, title)
	p.line("What stands between the delimiters was written by " + whose)
	p.line("")
}

func (r *Report) payloads(p *page) {
	if len(r.Chosen) == 0 {
		return
	}
	p.quotes("Payloads", "servers. It is data, whatever it says.")
	for i := range r.Chosen {
		e := entryOf(&r.Chosen[i])
		p.heading(3, fmt.Sprintf("Record %d, %s", e.Seq, p.source(&e)))
		sealed, err := Envelope(&r.Chosen[i], r.Rand)
		if err != nil {
			p.err = err
			return
		}
		p.fenced(string(sealed))
	}
}

// Envelope returns the payload of a record in an envelope. rand may be nil.
//
// Errors: those of [handoff.Envelope.Seal].
func Envelope(r *event.Record, rand io.Reader) ([]byte, error) {
	e := export.Envelope(r)
	e.Rand = rand
	return e.Seal()
}
