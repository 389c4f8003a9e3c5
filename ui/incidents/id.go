package incidents

import (
	"encoding/json"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// idNames are the members that say what an event belongs to, in lower case without
// separators; the best first.
var idNames = []string{"incident", "incidentid", "incidentkey", "case", "caseid", "ticket", "ticketid", "issue", "issueid", "traceid", "trace", "correlationid", "requestid", "orderid", "order", "deploy", "deployid", "about", "reason"}

// idBytes bounds the payloads in which an id is looked for.
const idBytes = 64 << 10

// IDOf returns the value that says best what an event belongs to: a member with one of
// the usual names, else the first one whose name ends with id. ok is false when there is
// none.
func IDOf(r *event.Record) (id trust.Text, ok bool) {
	if r.Kind != event.KindEvent || len(r.Data) > idBytes {
		return trust.Text{}, false
	}
	best := len(idNames) + 2
	for _, l := range leavesOf(r) {
		rank := idRank(l.path)
		if rank >= best || !strings.HasPrefix(l.value, `"`) {
			continue
		}
		var text trust.Text
		if json.Unmarshal([]byte(l.value), &text) == nil && usable(text) {
			id, best = text, rank
		}
	}
	return id, best < len(idNames)+2
}

// idRank tells how good a member is as an id, by the last name of its path.
func idRank(path string) int {
	name := path[strings.LastIndexByte(path, '.')+1:]
	name, _, _ = strings.Cut(name, "[")
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	for i, known := range idNames {
		if plain == known {
			return i
		}
	}
	switch {
	case plain == "id":
		return len(idNames)
	case strings.HasSuffix(plain, "id") && (strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID") || strings.HasSuffix(name, "_id")):
		return len(idNames) + 1
	}
	return len(idNames) + 2
}

// usable reports whether a text is short enough for an id, without blanks.
func usable(t trust.Text) bool {
	text := t.Raw()
	return text != "" && len(text) <= 128 && !strings.ContainsAny(text, " \t\r\n")
}
