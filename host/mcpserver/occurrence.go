package mcpserver

import (
	"strconv"

	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// maxData bounds the payload of an event, in bytes: with its other members it fits into a webhook
// delivery (256 KiB).
const maxData = 160 << 10

// metaRecord is the member of _meta about the stored record.
const metaRecord = "eventdeck/record"

// appendOccurrence appends the record as an occurrence, without its closing brace. name is the type
// it is delivered as, meta has further members of its _meta. Ids are those of this store, since two
// subscriptions may have received the same event.
func (s *Server) appendOccurrence(b []byte, in event.Generations, name, meta string, r *event.Record) []byte {
	b = append(b, `{"eventId":"`...)
	b = append(b, eventID(in, r.Seq)...)
	b = append(b, '"')
	b = export.AppendString(b, "name", name)
	b = export.AppendTime(b, "timestamp", r.Occurred())
	b = export.AppendName(b, "data")
	b = s.appendData(b, r)
	b = append(b, `,"_meta":{"`+metaRecord+`":{"seq":`...)
	b = strconv.AppendUint(b, r.Seq, 10)
	b = export.AppendString(b, "server", r.Server)
	b = export.AppendText(b, "type", wire.Clip(r.Name()))
	b = export.AppendString(b, "subscription", string(r.Sub))
	b = export.AppendString(b, "mode", string(r.Mode))
	b = export.AppendText(b, "eventId", wire.Clip(r.EventID))
	b = export.AppendTime(b, "receivedAt", r.ReceivedAt)
	b = export.AppendPresent(b, "subscribed", wire.Clip(r.Subscribed()))
	b = export.AppendPresent(b, "priority", wire.Clip(r.Priority()))
	b = export.AppendList(b, "tags", clipped(r.Tags()), trust.Text.Raw)
	b = export.AppendList(b, "flags", r.Flags, func(flag string) string { return flag })
	return append(append(append(b, '}'), meta...), '}')
}

// appendCursor appends the cursor of a place.
func (p place) appendCursor(b []byte) []byte {
	b = append(b, `,"cursor":"`...)
	return append(append(b, p.cursor()...), '"')
}

// appendData appends the data of an occurrence, which is always an object.
func (s *Server) appendData(b []byte, r *event.Record) []byte {
	switch {
	case r.Kind == event.KindGap && r.Gap != nil:
		b = append(b, `{"certain":`...)
		b = strconv.AppendBool(b, r.Gap.Certain)
		b = export.AppendString(b, "cause", string(r.Gap.Cause))
		b = export.AppendTime(b, "from", r.Gap.From)
		b = export.AppendTime(b, "to", r.Gap.To)
		return append(b, '}')
	case r.Kind == event.KindState && r.State != nil:
		b = append(b, `{"state":`...)
		b = trust.AppendJSONString(b, string(r.State.State))
		b = export.AppendString(b, "evidence", s.opts.Redact.String(r.State.Evidence))
		b = export.AppendText(b, "error", s.opts.Redact.Text(wire.Clip(r.State.Error)))
		return append(b, '}')
	case len(r.Data) > maxData:
		b = append(b, `{"leftOut":"the payload is too large; the tool read_event has its beginning","bytes":`...)
		b = strconv.AppendInt(b, int64(len(r.Data)), 10)
		return append(b, '}')
	case len(r.Data) == 0:
		return append(b, '{', '}')
	}
	data := s.opts.Redact.JSON(r.Data)
	if data[0] != '{' {
		b = append(b, `{"value":`...)
		return append(trust.AppendCompactJSON(b, data), '}')
	}
	return trust.AppendCompactJSON(b, data)
}

// maxTags bounds the tags of an event in results.
const maxTags = 32

// clipped returns tags that a server gives an event, the first of them, shortened.
func clipped(tags []trust.Text) (out []trust.Text) {
	for _, tag := range tags[:min(len(tags), maxTags)] {
		out = append(out, wire.Clip(tag))
	}
	return out
}
