package export

import (
	"encoding/base64"
	"strconv"

	"eventdeck/host/event"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
)

// AppendLine appends the record as one line of JSON, as tail, events and export print it.
// Every line has the same first members, null if they do not apply, and then those of its
// kind: of events also what was read from them. With raw it ends with the exact bytes as base64. The line is safe for terminals.
func AppendLine(b []byte, r *event.Record, raw bool) []byte {
	b = append(b, `{"seq":`...)
	b = strconv.AppendUint(b, r.Seq, 10)
	b = AppendString(b, "kind", string(r.Kind))
	b = AppendString(b, "server", r.Server)
	b = AppendText(b, "type", r.Name())
	b = AppendString(b, "subscription", string(r.Sub))
	b = AppendString(b, "mode", string(r.Mode))
	b = AppendText(b, "eventId", r.EventID)
	b = AppendText(b, "timestamp", r.Timestamp)
	b = AppendTime(b, "receivedAt", r.ReceivedAt)
	b = AppendName(b, "cursor")
	b = r.Cursor.AppendJSON(b)
	b = AppendName(b, "data")
	if len(r.Data) > 0 {
		b = trust.AppendCompactJSON(b, r.Data)
	} else {
		b = append(b, "null"...)
	}
	b = appendKind(b, r)
	b = AppendList(b, "flags", r.Flags, func(flag string) string { return flag })
	if raw && r.Raw != nil {
		b = AppendName(b, "raw")
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, r.Raw)
		b = append(b, '"')
	}
	return append(b, '}', '\n')
}

// appendKind appends the members of the record's kind.
func appendKind(b []byte, r *event.Record) []byte {
	switch {
	case r.Kind == event.KindGap && r.Gap != nil:
		b = AppendString(b, "cause", string(r.Gap.Cause))
		b = AppendTime(b, "from", r.Gap.From)
		b = AppendTime(b, "to", r.Gap.To)
		b = AppendName(b, "certain")
		b = strconv.AppendBool(b, r.Gap.Certain)
	case r.Kind == event.KindState && r.State != nil:
		b = AppendString(b, "state", string(r.State.State))
		b = AppendString(b, "evidence", r.State.Evidence)
		b = AppendText(b, "error", r.State.Error)
	case r.Kind == event.KindEvent:
		said := reading.Read(r)
		b = said.AppendJSON(append(AppendLabels(b, r), ','))
	case r.Kind == event.KindRejected:
		b = AppendText(b, "reason", r.Reason)
	}
	return appendArrival(b, r)
}

// appendArrival appends how an event or a rejected payload arrived, without members that do
// not apply.
func appendArrival(b []byte, r *event.Record) []byte {
	b = AppendPresent(b, "webhookId", r.WebhookID)
	if r.Replayed {
		b = strconv.AppendBool(AppendName(b, "replayed"), true)
	}
	return b
}

// AppendAudit appends an entry of the audit log as one line of JSON, safe like
// [AppendLine].
func AppendAudit(b []byte, e event.AuditEntry) []byte {
	b = append(b, `{"seq":`...)
	b = strconv.AppendUint(b, e.Seq, 10)
	b = AppendTime(b, "at", e.At)
	b = AppendString(b, "actor", string(e.Actor))
	b = AppendString(b, "action", e.Action)
	b = AppendString(b, "server", e.Server)
	b = AppendText(b, "type", e.Type)
	b = AppendString(b, "subscription", string(e.Sub))
	if e.Record != 0 {
		b = strconv.AppendUint(AppendName(b, "record"), e.Record, 10)
	}
	b = AppendString(b, "result", e.Result)
	b = AppendText(b, "detail", e.Detail)
	return append(b, '}', '\n')
}

// AppendLabels appends what the server says of an event beside its data, without absent members.
func AppendLabels(b []byte, r *event.Record) []byte {
	b = AppendPresent(b, "subscribed", r.Subscribed())
	if l := r.Labels; l != nil {
		b = AppendPresent(AppendPresent(b, "priority", l.Priority), "batch", l.Batch)
		b = AppendList(b, "tags", l.Tags, trust.Text.Raw)
	}
	if len(r.Meta) > 0 {
		b = trust.AppendCompactJSON(AppendName(b, "_meta"), r.Meta)
	}
	return b
}
