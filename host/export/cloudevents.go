package export

import (
	"net/url"
	"strconv"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// AppendCloudEvent appends the record as an event of CloudEvents 1.0 in JSON, on one line.
// The source is the server. A record that is not an event has a type that begins with
// "eventdeck." and its own members as data. Extension attributes are subscription,
// deliverymode and receivedat, and where the event has them subscribedtype, priority and tags.
//
// Rules: CloudEvents 1.0.2, 3 (attributes), JSON format 3.1 (data).
func AppendCloudEvent(b []byte, r *event.Record) []byte {
	id, typ := r.EventID.Raw(), r.Name().Raw()
	if r.Kind != event.KindEvent {
		id, typ = "", "eventdeck."+string(r.Kind)
	}
	if id == "" {
		id = "record-" + strconv.FormatUint(r.Seq, 10)
	}
	if typ == "" {
		typ = "eventdeck.event"
	}
	b = append(b, `{"specversion":"1.0"`...)
	b = AppendString(b, "id", attribute(id))
	b = AppendString(b, "source", source(r.Server))
	b = AppendString(b, "type", attribute(typ))
	b = AppendTime(b, "time", r.Occurred())
	for _, m := range [...]struct{ name, text string }{
		{"subscription", string(r.Sub)}, {"deliverymode", string(r.Mode)},
		{"subscribedtype", r.Subscribed().Raw()}, {"priority", r.Priority().Raw()}, {"tags", tagWords(r)},
	} {
		if m.text != "" {
			b = AppendString(b, m.name, attribute(m.text))
		}
	}
	b = AppendTime(b, "receivedat", r.ReceivedAt)
	switch {
	case r.Kind != event.KindEvent:
		b = AppendString(b, "datacontenttype", "application/json")
		b = append(AppendName(b, "data"), '{')
		members := appendKind(nil, r)
		if len(members) > 0 {
			b = append(b, members[1:]...)
		}
		b = append(b, '}')
	case len(r.Data) > 0:
		b = AppendString(b, "datacontenttype", "application/json")
		b = trust.AppendCompactJSON(AppendName(b, "data"), r.Data)
	}
	return append(b, '}', '\n')
}

// attribute returns a text without control characters, which attributes must not have.
func attribute(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r < 0x20 || 0x7f <= r && r < 0xa0 || r == '\ufffd' }) < 0 {
		return text
	}
	return trust.Line(trust.Untrusted(text)).Plain()
}

// source returns a server's name as a non-empty URI reference.
func source(server string) string {
	if u, err := url.Parse(server); err == nil && u.Scheme != "" && u.Host != "" {
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		return u.String()
	}
	if server == "" {
		return "eventdeck"
	}
	return url.PathEscape(server)
}
