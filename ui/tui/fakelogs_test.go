package tui

import (
	"log/slog"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
)

// logs are the logs of the stand-in.
type logs struct {
	audit    []event.AuditEntry
	wire     *eventlog.Ring[host.WireFrame]
	lines    *eventlog.Ring[host.LogLine]
	refusals []event.Refusal
}

func newLogs() logs {
	return logs{wire: eventlog.NewRing[host.WireFrame](100, 1<<20), lines: eventlog.NewRing[host.LogLine](100, 1<<20)}
}

func (s *fakeStore) AuditLast() uint64 { offEventLoop(); return uint64(len(s.audit)) }

func (s *fakeStore) AuditBefore(seq uint64, fn func(event.AuditEntry) bool) error {
	offEventLoop()
	for i := len(s.audit) - 1; i >= 0; i-- {
		if (seq == 0 || s.audit[i].Seq < seq) && !fn(s.audit[i]) {
			return nil
		}
	}
	return nil
}

func (h *fakeHost) Audit() *eventlog.Audit               { return eventlog.NewAudit(h.store) }
func (h *fakeHost) Wire() *eventlog.Ring[host.WireFrame] { return h.store.wire }
func (h *fakeHost) AppLog() *eventlog.Ring[host.LogLine] { return h.store.lines }
func (h *fakeHost) Refusals() []event.Refusal            { offEventLoop(); return h.store.refusals }
func (h *fakeHost) act(e event.AuditEntry)               { h.store.act(e) }

func (s *fakeStore) act(e event.AuditEntry) {
	e.Seq = uint64(len(s.audit)) + 1
	if e.At.IsZero() {
		e.At = start.Add(time.Duration(e.Seq) * time.Second)
	}
	s.audit = append(s.audit, e)
}

// history fills the logs of a stand-in.
func (h *fakeHost) history() {
	sub := h.snap.Subs[0]
	h.act(event.AuditEntry{Actor: event.ActorOperator, Action: "subscribe", Server: "pager", Type: sub.Key.Type, Sub: sub.ID, Result: event.ResultOK})
	h.act(event.AuditEntry{Actor: event.ActorServer, Action: "gap", Server: "chat", Type: trust.Untrusted("message.posted"), Record: 4, Result: event.ResultOK, Detail: trust.Untrusted("truncated")})
	h.act(event.AuditEntry{Actor: event.ActorSecurity, Action: "delivery refused", Result: "failed", Detail: trust.Untrusted("signature wrong")})
	frame := func(sent bool, s string) {
		h.store.wire.Add(host.WireFrame{At: start, Server: "pager", Sent: sent, Frame: trust.Untrusted(s), Bytes: len(s)}, len(s))
	}
	frame(true, `{"jsonrpc":"2.0","id":7,"method":"events/subscribe","params":{"name":"incident.created","delivery":{"mode":"webhook","secret":"whsec_***"}}}`)
	frame(false, `{"jsonrpc":"2.0","id":7,"result":{"id":"sub_9","note":"\u001b[31mred"}}`)
	h.store.lines.Add(host.LogLine{At: start.Add(-2 * time.Minute), Level: slog.LevelWarn, Text: "the stream ended, it is opened again", Server: "pager"}, 40)
	h.store.lines.Add(host.LogLine{At: start.Add(-2 * time.Minute), Level: slog.LevelError, Text: "cannot refresh the lease", Server: "chat"}, 40)
	h.store.refusals = []event.Refusal{{At: start, Sub: h.snap.Subs[1].ID, Reason: "signature wrong", Status: 401, Bytes: 812}, {At: start.Add(-time.Hour), Reason: "unknown path", Status: 404}}
	rate := host.Rate{}
	for i := range rate.Seconds {
		rate.Seconds[i] = uint32(i * i / 90)
	}
	h.stats.BySub = map[event.SubID]host.Rate{sub.ID: rate}
}
