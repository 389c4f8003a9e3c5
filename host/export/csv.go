package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/filter"
	"eventdeck/host/trust"
)

// column is one column of a table.
type column struct {
	name string
	path *filter.Path               // into the payload, or
	of   func(*event.Record) string // a member of the line
}

// DefaultColumns returns the columns that are used if none are named.
func DefaultColumns() []string {
	return []string{"seq", "kind", "receivedAt", "server", "type", "subscribed", "subscription", "mode", "eventId", "timestamp", "priority", "tags", "flags", "data"}
}

// lineColumns returns all columns that are not paths.
func lineColumns() []column {
	return []column{
		{name: "seq", of: func(r *event.Record) string { return strconv.FormatUint(r.Seq, 10) }},
		{name: "kind", of: func(r *event.Record) string { return string(r.Kind) }},
		{name: "receivedAt", of: func(r *event.Record) string { return moment(r.ReceivedAt) }},
		{name: "server", of: func(r *event.Record) string { return r.Server }},
		{name: "type", of: func(r *event.Record) string { return r.Name().Raw() }},
		{name: "subscribed", of: func(r *event.Record) string { return r.Subscribed().Raw() }},
		{name: "subscription", of: func(r *event.Record) string { return string(r.Sub) }},
		{name: "mode", of: func(r *event.Record) string { return string(r.Mode) }},
		{name: "eventId", of: func(r *event.Record) string { return r.EventID.Raw() }},
		{name: "timestamp", of: func(r *event.Record) string { return r.Timestamp.Raw() }},
		{name: "cursor", of: func(r *event.Record) string { return r.Cursor.Text.Raw() }},
		{name: "priority", of: func(r *event.Record) string { return r.Priority().Raw() }},
		{name: "tags", of: tagWords},
		{name: "_meta", of: func(r *event.Record) string { return string(trust.CompactJSON(r.Meta)) }},
		{name: "flags", of: func(r *event.Record) string { return strings.Join(r.Flags, " ") }},
		{name: "data", of: detail},
	}
}

// tagWords returns the tags of an event on one line.
func tagWords(r *event.Record) string {
	var words []string
	for _, tag := range r.Tags() {
		words = append(words, tag.Raw())
	}
	return strings.Join(words, " ")
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// detail returns an event's data, or the members that a line has for the record's kind.
func detail(r *event.Record) string {
	switch {
	case len(r.Data) > 0:
		return string(trust.CompactJSON(r.Data))
	case r.Kind == event.KindGap && r.Gap != nil:
		return string(r.Gap.Cause)
	case r.Kind == event.KindState && r.State != nil:
		return strings.TrimSpace(string(r.State.State) + " " + r.State.Evidence + " " + r.State.Error.Raw())
	}
	return r.Reason.Raw()
}

func parseColumns(names []string) ([]column, error) {
	if len(names) == 0 {
		names = DefaultColumns()
	}
	known := lineColumns()
	var columns []column
	for _, name := range names {
		if strings.HasPrefix(name, ".") {
			path, err := filter.ParsePath(name)
			if err != nil {
				return nil, fmt.Errorf("column %q %w: %w", name, ErrFormat, err)
			}
			columns = append(columns, column{name: name, path: path})
			continue
		}
		i := slices.IndexFunc(known, func(c column) bool { return strings.EqualFold(c.name, name) })
		if i < 0 {
			var all []string
			for _, c := range known {
				all = append(all, c.name)
			}
			return nil, fmt.Errorf("column %q %w; there are %s, and paths into payloads like .severity", name, ErrFormat, strings.Join(all, ", "))
		}
		columns = append(columns, known[i])
	}
	return columns, nil
}

func (c *column) text(r *event.Record) string {
	if c.path != nil {
		text, _ := c.path.Text(r.Data)
		return text.Raw()
	}
	return c.of(r)
}

// appendCell appends a cell with the comma before it. Its text is escaped as in a JSON
// string, except for quote marks, which are doubled.
func appendCell(b []byte, i int, text string) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	if formula(text) {
		text = "'" + text
	}
	escaped := string(trust.AppendJSONString(nil, text))
	escaped = strings.ReplaceAll(escaped[1:len(escaped)-1], `\"`, `"`)
	if !strings.ContainsAny(escaped, `",`) && strings.TrimSpace(escaped) == escaped {
		return append(b, escaped...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(escaped, `"`, `""`)...)
	return append(b, '"')
}

// formula reports whether a spreadsheet would evaluate the text, in ASCII or full width.
// Numbers are no formulas.
func formula(text string) bool {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	if trimmed == "" || !strings.ContainsRune("=+-@＝＋－＠", []rune(trimmed)[0]) {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err != nil || strings.ContainsAny(text, "xXpPnN_")
}
