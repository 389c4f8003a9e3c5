package events

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/filter"
	"eventdeck/host/trust"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/incidents"
)

// reportFlags are the flags of report.
type reportFlags struct {
	filter   string
	title    string
	output   string
	plain    bool
	payloads []uint64
}

func (a *commands) reportCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report [ID]",
		Short: "Write the report of an incident as Markdown",
		Long: `report writes what is kept of an incident: the timeline of all records that share ID, whatever servers call
it, or that match --filter; the marks and notes in that time; the gaps that fall into it; and the payloads of
marked events and of --payload, in envelopes. Without ID and --filter it has the marked records.
Times are UTC: when an event occurred, as its server says, else when it was received, which is marked.
It ends with 1 when no record has ID.`,
		Example:           "eventdeck report INC-4201 --output incident.md\neventdeck report INC-4201 --plain\neventdeck report --filter 'since:2h sev:critical' --title 'Checkout' --payload 118",
		Args:              plain.MaximumArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			return a.report(cmd.Context(), strings.Join(args, ""), f)
		}),
	}
	s := cmd.Flags()
	s.StringVar(&f.filter, "filter", "", "the records of the timeline; see docs/filter.md")
	s.StringVar(&f.title, "title", "", "the heading (default the ID)")
	s.StringVar(&f.output, "output", "", "file to write, which must not exist yet (default standard output)")
	s.BoolVar(&f.plain, "plain", false, "a sentence a line without signs and tables, for screen readers")
	s.Func("payload", "sequence number of a record whose payload is handed on; may be repeated", func(text string) error {
		seq, err := parseSeq(text)
		f.payloads = append(f.payloads, seq)
		return err
	})
	plain.CompleteValues(cmd, "payload")
	return cmd
}

func (a *commands) report(ctx context.Context, id string, f reportFlags) error {
	q := incidents.Request{Title: f.title, What: "what is marked", Chosen: f.payloads, Made: a.Now(), Payload: true}
	text := f.filter
	if id != "" {
		text = filter.With(text, filter.ValueTerm(trust.Untrusted(id)), false)
	}
	if text != "" {
		wanted, err := plain.ParseFilter("filter", text, a.Now())
		if err != nil {
			return err
		}
		a.Hint("filter", f.filter)
		q.What, q.Match = "filter "+text, wanted.Match
	}
	switch {
	case q.Title != "":
	case id != "":
		q.Title = "Incident " + id
	default:
		q.Title = "Incident report"
	}
	runs, done := a.runsThere(ctx)
	defer done()
	return a.Reading(ctx, func(store event.Store) error {
		q.Marks, q.Runs = store.Marks(), runs
		r, err := incidents.Build(ctx, eventlog.New(store), q)
		if err != nil {
			return err
		}
		if id != "" && len(r.Entries) == 0 {
			return fmt.Errorf("no stored record has the value %q; eventdeck events --filter looks for something else", id)
		}
		write := r.Markdown
		if f.plain {
			write = r.Plain
		}
		if err := a.WriteTo(ctx, f.output, write); err != nil {
			return err
		}
		if f.output != "" {
			a.Say("%s in %s", event.Some(len(r.Entries), "record is", "records are"), f.output)
		}
		return nil
	})
}

// runsThere returns the runs of reactions of the process that runs them, nil if none can be
// asked, and a function to call when they were read.
func (a *commands) runsThere(ctx context.Context) (incidents.Runs, func()) {
	nothing := func() {}
	o, err := a.Kept()
	if err != nil {
		return nil, nothing
	}
	c, err := a.Attached(ctx, o)
	if err != nil || c == nil {
		return nil, nothing
	}
	return c.Control(), func() { _ = c.Close() } // it was only read
}

func (a *commands) topCommand() *cobra.Command {
	var text string
	var most int
	cmd := &cobra.Command{
		Use:               "top PATH",
		Short:             "Count the values of a field, the most frequent first",
		Long:              "top counts the values at a path of the payloads, as in filters, over everything that is kept.",
		Example:           "eventdeck top .service\neventdeck top .severity --filter 'since:1h server:pager' --limit 5",
		Args:              plain.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			return a.top(cmd.Context(), args[0], text, most)
		}),
	}
	cmd.Flags().StringVar(&text, "filter", "", "only events that match this filter; see docs/filter.md")
	cmd.Flags().IntVar(&most, "limit", 20, "list at most this number of values")
	return cmd
}

func (a *commands) top(ctx context.Context, path, text string, most int) error {
	if !strings.HasPrefix(path, ".") {
		return plain.UsageErrorf("top: a path begins with a dot, such as .%s", path)
	}
	p, err := filter.ParsePath(path)
	if err != nil {
		return plain.UsageErrorf("%w", err)
	}
	wanted, err := plain.ParseFilter("filter", text, a.Now())
	if err != nil {
		return err
	}
	a.Hint("filter", text)
	return a.Listed(a.Reading(ctx, func(store event.Store) error {
		t, err := incidents.Count(ctx, eventlog.New(store), wanted.Match, p, nil)
		if err != nil {
			return err
		}
		top, distinct := t.Top(most)
		var b []byte
		for _, v := range top {
			if a.Flags.JSON {
				b = append(b, `{"value":`...)
				b = trust.AppendJSONString(b, v.Text.Raw())
				b = fmt.Appendf(b, `,"count":%d}`+"\n", v.Count)
			} else {
				b = fmt.Appendf(b, "%8d  %s\n", v.Count, plain.Text(v.Text))
			}
		}
		if err := a.Print(b); err != nil {
			return err
		}
		if !a.Flags.JSON {
			a.Say("%s, %s without it", event.Some(distinct, "value", "values"), event.Some(t.Without, "event", "events"))
		}
		return nil
	}))
}

func (a *commands) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "diff SEQ SEQ",
		Short:             "Show what differs between two records",
		Long:              "diff compares two records by their sequence numbers: kind, server, type and time, and each value of the payloads.",
		Example:           "eventdeck diff 118 240",
		Args:              plain.ExactArgs(2),
		ValidArgsFunction: cobra.NoFileCompletions,
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			return a.diff(cmd.Context(), args)
		}),
	}
}

func (a *commands) diff(ctx context.Context, args []string) error {
	var seqs [2]uint64
	for i, text := range args {
		seq, err := parseSeq(text)
		if err != nil || seq == 0 {
			return plain.UsageErrorf("diff: %q is no sequence number; `eventdeck events --json` prints them", text)
		}
		seqs[i] = seq
	}
	return a.Reading(ctx, func(store event.Store) error {
		var both [2]event.Record
		for i, seq := range seqs {
			r, err := store.Get(seq)
			if err != nil {
				return err
			}
			both[i] = r
		}
		differs, alike := incidents.Compare(&both[0], &both[1])
		var b []byte
		for _, d := range differs {
			if a.Flags.JSON {
				b = appendDifference(b, d)
				continue
			}
			b = fmt.Appendf(b, "%s: %s -> %s\n", plain.Text(d.Path), side(d.A, d.HasA), side(d.B, d.HasB))
		}
		if err := a.Print(b); err != nil {
			return err
		}
		if !a.Flags.JSON {
			a.Say("%s, %s alike", event.Some(len(differs), "difference", "differences"), event.Some(alike, "value", "values"))
		}
		return nil
	})
}

// parseSeq reads a sequence number, as the screen and the commands print it.
func parseSeq(text string) (uint64, error) {
	return strconv.ParseUint(strings.TrimPrefix(text, "#"), 10, 64)
}

// side is one of two values that differ.
func side(t trust.Text, has bool) string {
	if !has {
		return "(absent)"
	}
	return plain.Text(t)
}

func appendDifference(b []byte, d incidents.Difference) []byte {
	value := func(t trust.Text, has bool) {
		if !has {
			b = append(b, "null"...)
			return
		}
		b = trust.AppendJSONString(b, t.Raw())
	}
	b = append(b, `{"path":`...)
	b = trust.AppendJSONString(b, d.Path.Raw())
	b = append(b, `,"a":`...)
	value(d.A, d.HasA)
	b = append(b, `,"b":`...)
	value(d.B, d.HasB)
	return append(b, "}\n"...)
}
