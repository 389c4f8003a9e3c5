package reading

import "eventdeck/host/trust"

// AppendJSON appends the members of a line that print the reading: headline, severity, level,
// status and ids, in a form that cannot act on a terminal.
func (r *Reading) AppendJSON(b []byte) []byte {
	text := func(name, s string, known bool) {
		b = append(append(append(b, '"'), name...), `":`...)
		if known {
			b = trust.AppendJSONString(b, s)
		} else {
			b = append(b, "null"...)
		}
		b = append(b, ',')
	}
	text("headline", r.Headline.Value.Raw(), true)
	text("severity", r.Severity.Value.Raw(), !r.Severity.Value.IsZero())
	text("level", r.Level.String(), r.Level != None)
	text("status", r.Status.String(), r.Status != NoStatus)
	b = append(b, `"ids":[`...)
	for i, id := range r.IDs {
		if i > 0 {
			b = append(b, ',')
		}
		b = trust.AppendJSONString(append(b, `{"path":`...), id.Path.Raw())
		b = append(trust.AppendJSONString(append(b, `,"value":`...), id.Value.Raw()), '}')
	}
	return append(b, ']')
}
