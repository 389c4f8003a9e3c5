package reactions

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/host/react"
	"eventdeck/host/react/engine"
	"eventdeck/host/trust"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

var (
	// ErrNoMatch: no rule takes any of the records.
	ErrNoMatch = errors.New("no record matched")
	// errUnexpected: the results differ from those of --expect.
	errUnexpected = errors.New("not as expected")
)

// rulesTestFlags are the flags of rules test.
type rulesTestFlags struct {
	since, events, expect string
}

func (a *commands) rulesTestCommand() *cobra.Command {
	var f rulesTestFlags
	cmd := &cobra.Command{
		Use:   "test [NAME]",
		Short: "Tell what the rules would have done about what is kept",
		Long: `test holds all rules, or the one of NAME, against the records that are kept, or those of a file, and prints what
each run would have become: decision, rule, group, members, reason, worst cost. It touches nothing and starts nothing.
Rules count as armed, nothing waits for you, and each act is over at once.
It ends with 3 if no record matched. --expect compares with what test --json printed before, and ends with 1 if it differs.`,
		Example:           "eventdeck rules test --since 24h\neventdeck rules test page-p1 --events day.ndjson --json > expected.ndjson\neventdeck rules test page-p1 --events day.ndjson --expect expected.ndjson",
		Args:              plain.MaximumArgs(1),
		ValidArgsFunction: a.completeFromFile(namesOfRules),
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			return a.testRules(cmd.Context(), args, f)
		}),
	}
	s := cmd.Flags()
	s.StringVar(&f.since, "since", "", "only records received since then: a duration before now (24h), or a time")
	s.StringVar(&f.events, "events", "", "file with the lines of `events --json`, in place of what is kept; - is standard input")
	s.StringVar(&f.expect, "expect", "", "file with the expected lines of `rules test --json`")
	return cmd
}

func (a *commands) testRules(ctx context.Context, args []string, f rulesTestFlags) error {
	file, err := a.rulesToTest(args)
	if err != nil {
		return err
	}
	now := a.Now()
	since, err := plain.ParseSince(f.since, now)
	if err != nil {
		return err
	}
	var expected []byte
	if f.expect != "" {
		if expected, err = os.ReadFile(f.expect); err != nil {
			return fmt.Errorf("--expect: %w", err)
		}
	}
	set, err := react.Compile(file, now)
	if err != nil {
		return err
	}
	out := &trialPrinter{w: bufio.NewWriterSize(a.Stdout, program.BatchBytes), json: a.Flags.JSON, keep: f.expect != "", path: file.Path}
	t := engine.New(set, out.take)
	records, err := a.tryRecords(ctx, f.events, since, t)
	if err != nil {
		return errors.Join(err, out.flush())
	}
	t.End()
	if err := out.flush(); err != nil {
		return err
	}
	switch {
	case f.expect != "":
		return compareLines(f.expect, expected, out.lines)
	case out.told == 0:
		return fmt.Errorf("%w: %s, %s", ErrNoMatch, event.Some(len(file.Rules), "rule", "rules"), event.Some(int(records), "record", "records"))
	}
	return nil
}

// rulesToTest reads the rules and returns the named ones, or all.
func (a *commands) rulesToTest(args []string) (react.File, error) {
	file, err := a.loadRules()
	if err != nil {
		return file, err
	}
	if len(args) == 0 {
		return file, nil
	}
	names := namesOfRules(file)
	at := slices.Index(names, args[0])
	if at < 0 {
		hint := ""
		if near := config.Nearest(args[0], names); near != "" {
			hint = fmt.Sprintf(", did you mean %q?", near)
		}
		return file, plain.UsageErrorf("there is no rule %q in %s%s", args[0], file.Path, hint)
	}
	file.Rules = file.Rules[at : at+1]
	return file, nil
}

// tryRecords passes the stored records, or those of a file, to a trial. It returns how many
// there were.
func (a *commands) tryRecords(ctx context.Context, from string, since time.Time, t *engine.Trial) (n uint64, err error) {
	add := func(r *event.Record) bool {
		if r.ReceivedAt.Before(since) && n == 0 {
			t.Earlier(r)
		} else if !r.ReceivedAt.Before(since) {
			t.Add(r)
			n++
		}
		return ctx.Err() == nil
	}
	if from == "" {
		err = a.Reading(ctx, func(store event.Store) error {
			var at atomic.Uint64
			last := store.Last()
			defer a.Working("trying", func() (uint64, uint64) { return at.Load(), last })()
			err := store.Scan(1, last, func(r *event.Record) bool {
				at.Store(r.Seq)
				return add(r)
			})
			return errors.Join(err, ctx.Err())
		})
		return n, a.Listed(err)
	}
	in, size := a.Stdin, uint64(0)
	if from != "-" {
		file, openErr := os.Open(from)
		if openErr != nil {
			return 0, fmt.Errorf("--events: %w", openErr)
		}
		defer file.Close() // read only
		if info, statErr := file.Stat(); statErr == nil && info.Mode().IsRegular() {
			size = uint64(info.Size())
		}
		in = file
	}
	counted := &program.CountedReader{In: in}
	defer a.Working("trying", func() (uint64, uint64) { return counted.Count.Load(), size })()
	if err := export.Read(counted, func(r *event.Record) error { add(r); return ctx.Err() }); err != nil {
		return n, fmt.Errorf("--events %s: %w", from, err)
	}
	return n, nil
}

// trialPrinter writes results, or keeps their lines.
type trialPrinter struct {
	w     *bufio.Writer
	json  bool
	keep  bool // for --expect
	lines []byte
	path  string // of the rules, of which results name the file alone: they are compared elsewhere
	told  int
	err   error
	line  []byte
}

func (p *trialPrinter) take(r engine.Result) {
	p.told++
	if place, ok := strings.CutPrefix(r.Line, p.path); ok {
		r.Line = filepath.Base(p.path) + place
	}
	switch {
	case p.keep:
		p.lines = appendResult(p.lines, r)
		return
	case p.json:
		p.line = appendResult(p.line[:0], r)
	default:
		p.line = appendResultPlain(p.line[:0], r)
	}
	if p.err == nil {
		_, p.err = p.w.Write(p.line)
	}
}

func (p *trialPrinter) flush() error {
	if p.err == nil {
		p.err = p.w.Flush()
	}
	if p.err != nil {
		return fmt.Errorf("standard output: %w", p.err)
	}
	return nil
}

// appendResult appends a result as one line of JSON.
func appendResult(b []byte, r engine.Result) []byte {
	b = append(b, `{"rule":`...)
	b = trust.AppendJSONString(b, r.Rule)
	b = export.AppendString(b, "decision", string(r.State))
	b = export.AppendString(b, "cause", string(r.Cause))
	b = export.AppendString(b, "why", r.Why)
	b = export.AppendString(b, "line", r.Line)
	b = export.AppendString(b, "key", string(r.Key))
	b = fmt.Appendf(b, `,"members":%d,"first":%d,"last":%d`, r.Members, r.First, r.Last)
	b = export.AppendTime(b, "from", r.From)
	b = export.AppendTime(b, "to", r.To)
	if r.Waited > 0 {
		b = export.AppendString(b, "waited", react.FormatDuration(r.Waited))
	}
	b = export.AppendString(b, "cost", react.Money(r.Cost))
	return append(b, '}', '\n')
}

// appendResultPlain appends a result as one line for a person.
func appendResultPlain(b []byte, r engine.Result) []byte {
	b = r.From.Local().AppendFormat(b, time.DateTime)
	of := "of nothing"
	switch {
	case r.Members == 1:
		of = fmt.Sprintf("record %d", r.First)
	case r.Members > 1:
		of = fmt.Sprintf("%d records, %d to %d", r.Members, r.First, r.Last)
	}
	b = plain.AppendWords(b, fmt.Sprintf("%-10s", r.State), r.Rule)
	if r.Key != "" {
		b = plain.AppendWords(b, plain.Text(trust.Untrusted(string(r.Key))))
	}
	b = plain.AppendWords(b, of, r.Why)
	if r.Waited > 0 {
		b = plain.AppendWords(b, "after "+react.FormatDuration(r.Waited.Round(time.Second)))
	}
	if r.Line != "" {
		b = plain.AppendWords(b, "("+plain.Safe(r.Line)+")")
	}
	return append(plain.AppendWords(b, "$"+react.Money(r.Cost)), '\n')
}

// compareLines returns an error that names the first line at which results differ from the
// expected ones.
func compareLines(name string, want, got []byte) error {
	wants, gots := bytes.Split(bytes.TrimSpace(want), []byte("\n")), bytes.Split(bytes.TrimSpace(got), []byte("\n"))
	for i := range max(len(wants), len(gots)) {
		switch {
		case i >= len(gots):
			return fmt.Errorf("%w: %s:%d: this did not come: %s", errUnexpected, name, i+1, wants[i])
		case i >= len(wants):
			return fmt.Errorf("%w: behind %s:%d there came %s", errUnexpected, name, i, gots[i])
		case !bytes.Equal(bytes.TrimSpace(wants[i]), gots[i]):
			return fmt.Errorf("%w: %s:%d: %s, and there came %s", errUnexpected, name, i+1, wants[i], gots[i])
		}
	}
	return nil
}
