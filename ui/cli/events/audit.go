package events

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/ui/cli/plain"
)

func (a *commands) auditCommand() *cobra.Command {
	var limit uint64
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Print the audit log, oldest first",
		Long: `audit prints the audit log: what the operator, the host and the servers did to subscriptions,
and what checks found (refused deliveries, answered challenges). The newest 100,000 entries are kept.`,
		Args: plain.ExactArgs(0),
		Run:  a.Run(func(cmd *cobra.Command, _ []string) error { return a.audit(cmd.Context(), limit) }),
	}
	cmd.Flags().Uint64Var(&limit, "limit", 0, "only this number of the newest entries")
	return cmd
}

func (a *commands) audit(ctx context.Context, limit uint64) error {
	return a.Listed(a.Reading(ctx, func(store event.Store) error {
		var entries []event.AuditEntry
		err := store.AuditBefore(0, func(e event.AuditEntry) bool {
			entries = append(entries, e)
			return ctx.Err() == nil && (limit == 0 || uint64(len(entries)) < limit)
		})
		if err != nil {
			return err
		}
		slices.Reverse(entries)
		if len(entries) == 0 {
			a.Say("nothing is in the audit log of %s", store.Info().Path)
		}
		if err := a.printAudit(entries); err != nil {
			return fmt.Errorf("standard output: %w", err)
		}
		return nil
	}))
}

func (a *commands) printAudit(entries []event.AuditEntry) error {
	w := bufio.NewWriter(a.Stdout)
	var line []byte
	for _, e := range entries {
		if a.Flags.JSON {
			line = export.AppendAudit(line[:0], e)
		} else {
			line = appendPlainAudit(line[:0], e)
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return w.Flush()
}

func appendPlainAudit(b []byte, e event.AuditEntry) []byte {
	b = e.At.Local().AppendFormat(b, time.DateTime)
	b = fmt.Appendf(b, "  %-8s  %s", plain.Safe(string(e.Actor)), plain.Safe(e.Action))
	for _, word := range []string{plain.Safe(e.Server), plain.Text(e.Type), string(e.Sub), plain.Safe(e.Result), plain.Text(e.Detail)} {
		if word != "" && word != event.ResultOK {
			b = append(append(b, "  "...), word...)
		}
	}
	return append(b, '\n')
}
