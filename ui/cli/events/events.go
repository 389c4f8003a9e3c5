// Package events has the commands about events and the rest of the log: they subscribe and
// print what arrives, print and export stored records, and search and compare them.
package events

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

// commands is one run of the program, with the commands of this package.
type commands struct{ *program.App }

// Commands returns the commands about arriving and stored records.
func Commands(p *program.App) []*cobra.Command {
	a := &commands{p}
	return []*cobra.Command{
		a.tailCommand(), a.eventsCommand(), a.exportCommand(), a.reportCommand(), a.topCommand(), a.diffCommand(), a.auditCommand(),
	}
}

// eventsFlags are the flags of events.
type eventsFlags struct {
	since  string
	filter string
	limit  uint64
	format formatFlags
	seal   envelopeFlags
}

func (a *commands) eventsCommand() *cobra.Command {
	var f eventsFlags
	cmd := &cobra.Command{
		Use:   "events [SUB]",
		Short: "Print stored records, oldest first",
		Long: `events prints what is stored, of one subscription or of all, in the lines of tail.
--since takes what since: in a filter takes: 10m, 2d, 14:05, 2026-07-28, 2026-07-28T12:00:00Z.`,
		Args: plain.MaximumArgs(1),
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			return a.events(cmd.Context(), args, f)
		}),
	}
	s := cmd.Flags()
	s.StringVar(&f.since, "since", "", "only records received since then")
	s.StringVar(&f.filter, "filter", "", "only records that match this filter, e.g. 'sev:P1 !test'; see docs/filter.md")
	s.Uint64Var(&f.limit, "limit", 0, "only this number of the newest records")
	addFormat(cmd, &f.format)
	s.StringVar(&f.seal.mode, "envelope", "", "print events as they are handed on: json, marked, base64 or fields")
	s.StringArrayVar(&f.seal.fields, "field", nil, "member of the payload for --envelope fields; may be repeated")
	return cmd
}

func (a *commands) events(ctx context.Context, args []string, f eventsFlags) error {
	if err := f.seal.check(len(args)); err != nil {
		return err
	}
	format, err := a.format(f.format)
	if err != nil {
		return err
	}
	seal := &sealer{flags: f.seal}
	if f.seal.mode != "" {
		format = seal.append
	}
	since, err := plain.ParseSince(f.since, a.Now())
	if err != nil {
		return err
	}
	wanted, err := plain.ParseFilter("filter", f.filter, a.Now())
	if err != nil {
		return err
	}
	a.Hint("filter", f.filter)
	pick := func(r event.Record) bool {
		return (len(args) == 0 || r.Sub == event.SubID(args[0])) && !r.ReceivedAt.Before(since) && wanted.Match(&r)
	}
	if f.seal.mode != "" {
		all := pick
		pick = func(r event.Record) bool { return r.Kind == event.KindEvent && all(r) }
	}
	err = a.Reading(ctx, func(store event.Store) error {
		printed, err := a.print(ctx, store, format, pick, f.limit)
		if err = errors.Join(err, seal.err); err != nil || printed > 0 {
			return err
		}
		return program.Absent(store, args)
	})
	if len(args) == 0 {
		return a.Listed(err)
	}
	return err
}

// print writes the records that pick takes, oldest first; with a limit only the newest ones
// (0: all). It returns how many it wrote.
func (a *commands) print(ctx context.Context, store event.Store, format func([]byte, event.Record) []byte, pick func(event.Record) bool, limit uint64) (printed uint64, err error) {
	first, damaged := startOf(store, pick, limit)
	if first == 0 || ctx.Err() != nil || damaged != nil && !errors.Is(damaged, event.ErrDamaged) {
		return 0, damaged
	}
	w := bufio.NewWriterSize(program.Until(ctx, a.Stdout), program.BatchBytes)
	var line []byte
	var failed error
	err = store.Forward(first, func(r event.Record) bool {
		if !pick(r) {
			return ctx.Err() == nil
		}
		line = format(line[:0], r)
		if _, failed = w.Write(line); failed != nil {
			return false
		}
		printed++
		return ctx.Err() == nil && (limit == 0 || printed < limit)
	})
	// Of a damaged store what could be read is printed whole.
	if failed == nil {
		failed = w.Flush()
	}
	if failed != nil {
		return printed, fmt.Errorf("standard output: %w", failed)
	}
	if ctx.Err() != nil && errors.Is(err, event.ErrClosed) {
		return printed, nil // what was read until then is printed
	}
	return printed, cmp.Or(err, damaged)
}

// startOf returns the position of the oldest record to print, 0 if there is none. With
// [event.ErrDamaged] it is that of the oldest record that can be reached from the newest one.
func startOf(store event.Store, pick func(event.Record) bool, limit uint64) (uint64, error) {
	if limit == 0 {
		return min(store.Last(), 1), nil
	}
	first, found := uint64(0), uint64(0)
	err := store.Backward(store.Last(), func(r event.Record) bool {
		if pick(r) {
			first = r.Seq
			found++
		}
		return found < limit
	})
	return first, err
}
