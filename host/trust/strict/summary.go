package strict

import (
	"strings"

	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
)

// summaryKeys are the members that describe an event, the best first.
var summaryKeys = []string{
	"title", "summary", "subject", "message", "text", "headline", "description",
	"name", "body", "content", "preview", "status", "state", "action", "id",
}

// Summary returns a short description of a payload, for a row of a list: the first text
// among [summaryKeys], at the top level or else one level down; else the names and values
// of the scalar members, as in "user mira, presence away"; else the compact JSON. For a
// whole event it is the summary of its data. It has at most max bytes; a max of 0 or less
// means 256.
func Summary(raw []byte, max int) trust.Text {
	if max <= 0 {
		max = 256
	}
	members, err := ParseObject(raw, jsontext.Limits{})
	if data := eventData(members); data != nil {
		return Summary(data, max)
	}
	if err == nil {
		if t, ok := telling(members); ok {
			return cutText(t, max)
		}
		for _, m := range members {
			if len(m.Value) > 0 && m.Value[0] == '{' {
				inner, err := ParseObject(m.Value, jsontext.Limits{})
				if t, ok := telling(inner); err == nil && ok {
					return cutText(t, max)
				}
			}
		}
		if t, ok := listed(members, max); ok {
			return cutText(t, max)
		}
	}
	return cutText(trust.Untrusted(string(trust.CompactJSON(raw[:min(len(raw), 64<<10)]))), max)
}

// eventData returns the data of an occurrence, nil for other members.
func eventData(members []Member) []byte {
	var data []byte
	isEvent := false
	for _, m := range members {
		switch m.Key.Raw() {
		case "eventId":
			isEvent = true
		case "data":
			if len(m.Value) > 2 && m.Value[0] == '{' {
				data = m.Value
			}
		}
	}
	if !isEvent {
		return nil
	}
	return data
}

// telling returns the value of the best member.
func telling(members []Member) (trust.Text, bool) {
	for _, key := range summaryKeys {
		for _, m := range members {
			if m.Key.Raw() != key || len(m.Value) == 0 {
				continue
			}
			if m.Value[0] != '"' {
				continue // a number means nothing without its name
			}
			if s := jsontext.Unquote(m.Value[1 : len(m.Value)-1]); strings.TrimSpace(s) != "" {
				return trust.Untrusted(s), true
			}
		}
	}
	return trust.Text{}, false
}

// listed returns the names and values of the scalar members, up to about max bytes.
func listed(members []Member, max int) (trust.Text, bool) {
	var b []byte
	for _, m := range members {
		if len(m.Value) == 0 || m.Value[0] == '{' || m.Value[0] == '[' || m.Value[0] == 'n' || len(b) > max {
			continue
		}
		value := string(m.Value)
		if value[0] == '"' {
			value = jsontext.Unquote(m.Value[1 : len(m.Value)-1])
		}
		if strings.TrimSpace(value) == "" {
			continue
		}
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = append(append(append(b, m.Key.Raw()...), ' '), value...)
	}
	return trust.Untrusted(string(b)), len(b) > 0
}

// cutText shortens t to at most max bytes, between code points.
func cutText(t trust.Text, max int) trust.Text {
	if t.Len() <= max {
		return t
	}
	end := max
	for end > 0 && end > max-4 && t.Raw()[end]&0xc0 == 0x80 {
		end--
	}
	return trust.Untrusted(t.Raw()[:end] + "…")
}
