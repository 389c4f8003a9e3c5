package board

import (
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"time"

	"eventdeck/host"
)

// attributeBegin matches the key= of an attribute, and its value if that is in quotes.
var attributeBegin = regexp.MustCompile(`(?:^|\s)([\w.]+)=("(?:[^"\\]|\\.)*")?`)

// splitLine splits a line of a structured log into its message and its attributes, as key=value. If
// the line consists of attributes, as [slog.TextHandler] writes it, message and level are taken from
// them, and the time is dropped because the row has one. Attributes without a value are dropped, and
// durations are rounded.
func splitLine(l *host.LogLine) (level slog.Level, message, attributes string) {
	level = l.Level
	begins := attributeBegin.FindAllStringSubmatchIndex(l.Text, -1)
	if len(begins) == 0 {
		return level, l.Text, ""
	}
	message = l.Text[:begins[0][0]]
	whole := message == "" // the line consists of attributes
	var rest []string
	for i, b := range begins {
		end := len(l.Text)
		if i+1 < len(begins) {
			end = begins[i+1][0]
		}
		valueAt := b[1]
		if b[4] >= 0 {
			valueAt = b[4]
		}
		key, value := l.Text[b[2]:b[3]], strings.TrimSpace(l.Text[valueAt:end])
		switch {
		case whole && key == "msg":
			message = unquoted(value)
		case whole && key == "level" && level.UnmarshalText([]byte(value)) == nil:
		case whole && key == "time", value == "<nil>", value == "":
		default:
			rest = append(rest, key+"="+rounded(value))
		}
	}
	attributes = strings.Join(rest, " ")
	if message == "" {
		return level, attributes, ""
	}
	return level, message, attributes
}

// unquoted returns a value without its quotes, if it has any.
func unquoted(value string) string {
	if text, err := strconv.Unquote(value); err == nil {
		return text
	}
	return value
}

// rounded rounds a duration to three digits; it returns any other value as it is.
func rounded(value string) string {
	d, err := time.ParseDuration(value)
	if err != nil {
		return value
	}
	unit := time.Duration(1)
	for d.Abs()/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}
