package filter

import "eventdeck/host/internal/jsontext"

// inside returns the text of a string without its quotes, of another scalar as
// it stands.
func inside(value string) string {
	if len(value) >= 2 && value[0] == '"' {
		return value[1 : len(value)-1]
	}
	return value
}

// severities are the members that say how bad something is, the best first.
var severities = [...]string{"severity", "sev", "priority", "level", "urgency"}

// severity returns the text of the best such member of a payload or of an object
// in it, escapes as they are.
func severity(data string) (string, bool) {
	start := jsontext.SkipSpace(data, 0)
	if start >= len(data) || data[start] != '{' {
		return "", false
	}
	text, best := bestSeverity(data, start)
	for m := jsontext.Enter(data, start); best == len(severities) && m.Next(); {
		if data[m.Value] == '{' {
			text, best = bestSeverity(data, m.Value)
		}
	}
	return text, best < len(severities)
}

func bestSeverity(data string, at int) (text string, best int) {
	best = len(severities)
	for m := jsontext.Enter(data, at); m.Next(); {
		c := data[m.Value]
		if c == '{' || c == '[' || c == 'n' {
			continue
		}
		for rank, name := range severities[:best] {
			if m.Key == name {
				text, best = inside(data[m.Value:m.End]), rank
				break
			}
		}
	}
	return text, best
}
