package tui

import (
	"log/slog"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/persist"
)

// TestHostileTables shows every case in every table and log, on a terminal.
func TestHostileTables(t *testing.T) {
	for _, c := range hostileCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			raw := c.raw()
			words := trust.Untrusted(string(raw[:min(len(raw), 400)]))
			h := incident()
			sub := &h.snap.Subs[0]
			sub.Key.Type, sub.Status.Error = words, words
			sub.Lease.Status = &event.DeliveryStatus{LastError: words, FailedSince: words, LastDeliveryAt: words}
			sub.Status.State = event.StateSuspended
			h.act(event.AuditEntry{Actor: event.ActorServer, Action: "ended", Server: "pager", Type: words, Detail: words, Result: event.ResultOK})
			h.store.wire.Add(host.WireFrame{At: start, Server: "pager", Frame: trust.Untrusted(string(raw[:min(len(raw), 4096)])), Bytes: len(raw)}, 400)
			h.store.lines.Add(host.LogLine{At: start, Level: slog.LevelError, Text: words.Raw(), Server: "chat"}, 400)
			h.held = []host.RemoteSubscription{{ServerID: words, Type: words, Detail: words, Orphan: true}}
			h.marks = []event.Mark{{Seq: 1, At: start, Note: words.Raw()}}
			h.settings = map[string]string{persist.Views: `{"errors":{"node":{},"filter":"sev:error"}}`}
			h.add(event.Record{Kind: event.KindGap, Server: "pager", Type: words, Gap: &event.Gap{Cause: event.CauseTruncated}})
			h.add(c.record())
			a := open(t, h, 120, 40)
			onTerminal(t, a, "start, with an error on the status line")
			for _, place := range []struct {
				see  string
				keys []string
			}{
				{"[Subscriptions]", []string{"4"}}, {"[Subscriptions]", []string{"l", "l", "l", "l"}}, {"[Gaps]", []string{"]", "G"}}, {"[At servers]", []string{"]", "g"}},
				{"End at pager", []string{"X"}}, {"[Refused]", []string{"esc", "]"}}, {"[Resumed]", []string{"]"}},
				{"[Audit]", []string{"5", "[", "[", "G"}}, {"[Wire]", []string{"]", "G"}}, {"received from pager", []string{"enter", "z"}}, {"[App]", []string{"esc", "esc", "]", "G"}},
				{"[Raw]", []string{"2", "G", "enter", "]"}}, {"[Schema]", []string{"]"}}, {"[Delivery]", []string{"]"}}, {"[Same]", []string{"]"}},
				{"Columns of", []string{"c"}}, {"[Same]", []string{"G", "space", "enter"}}, {"3 Detail", []string{"1", "G"}}, {"Why is it quiet?", []string{"4", "]", "g", "i"}},
			} {
				press(t, a, place.keys...)
				if s := onTerminal(t, a, place.see); !strings.Contains(s, place.see) {
					t.Fatalf("%q is not reached:\n%s", place.see, s)
				}
			}
		})
	}
}
