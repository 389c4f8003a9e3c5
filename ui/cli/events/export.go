package events

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/spf13/cobra"

	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

// exportFlags are the flags of export.
type exportFlags struct {
	format  string
	filter  string
	output  string
	columns []string
	raw     bool
}

func (a *commands) exportCommand() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export [SUB]",
		Short: "Write stored records for other programs",
		Long: `export writes what is stored, of one subscription or of all, oldest first: as lines of JSON (ndjson, the
lines of tail), as a table (csv) or as CloudEvents 1.0. Text of servers is escaped; in a table a cell that
a spreadsheet would calculate gets a quote mark in front. With --raw, import gives back the same records.`,
		Example: "eventdeck export --filter 'since:1d sev:P1' --format csv --columns receivedAt,type,.severity,.title --output day.csv\neventdeck export --raw | gzip > kept.ndjson.gz",
		Args:    plain.MaximumArgs(1),
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			return a.export(cmd.Context(), args, f)
		}),
	}
	s := cmd.Flags()
	s.StringVar(&f.format, "format", string(export.NDJSON), "write ndjson, csv or cloudevents")
	s.StringVar(&f.filter, "filter", "", "only records that match this filter; see docs/filter.md")
	s.StringVar(&f.output, "output", "", "file to write, which must not exist yet (default standard output)")
	s.StringSliceVar(&f.columns, "columns", nil, "columns of csv: seq, type, eventId and so on, and paths like .severity")
	s.BoolVar(&f.raw, "raw", false, "add the exact bytes as base64 (ndjson only)")
	plain.CompleteValues(cmd, "format", string(export.NDJSON), string(export.CSV), string(export.CloudEvents))
	return cmd
}

func (a *commands) export(ctx context.Context, args []string, f exportFlags) error {
	o := export.Options{Format: export.Format(f.format), Raw: f.raw, Columns: f.columns}
	if _, err := export.NewWriter(io.Discard, o); err != nil {
		return plain.UsageErrorf("%w", err)
	}
	wanted, err := plain.ParseFilter("filter", f.filter, a.Now())
	if err != nil {
		return err
	}
	a.Hint("filter", f.filter)
	err = a.Reading(ctx, func(store event.Store) error {
		var read atomic.Uint64
		if f.output != "" || !a.StdoutTerminal { // there the lines show how far it is
			defer a.Working("exporting", func() (uint64, uint64) { return read.Load(), store.Info().Records })()
		}
		var n uint64
		err := a.WriteTo(ctx, f.output, func(out io.Writer) (err error) {
			n, err = writeAll(ctx, store, out, o, func(r *event.Record) bool {
				read.Add(1)
				return (len(args) == 0 || r.Sub == event.SubID(args[0])) && wanted.Match(r)
			})
			return err
		})
		if err != nil {
			return err
		}
		if n == 0 {
			if err := program.Absent(store, args); err != nil {
				return err
			}
		}
		if f.output != "" {
			a.Say("%s in %s", event.Some(n, "record is", "records are"), f.output)
		}
		return nil
	})
	if len(args) == 0 {
		return a.Listed(err)
	}
	return err
}

// writeAll writes the records that pick takes, oldest first, and returns how many.
func writeAll(ctx context.Context, store event.Store, out io.Writer, o export.Options, pick func(*event.Record) bool) (n uint64, err error) {
	w, err := export.NewWriter(out, o)
	if err != nil {
		return 0, err
	}
	var failed error
	err = store.Forward(1, func(r event.Record) bool {
		if pick(&r) {
			n++
			failed = w.Write(&r)
		}
		return failed == nil && ctx.Err() == nil
	})
	if err == nil && ctx.Err() != nil {
		err = program.ErrStopped
	}
	if failed == nil { // of a damaged store what could be read is written whole
		failed = w.Flush()
	}
	return n, errors.Join(err, failed)
}
