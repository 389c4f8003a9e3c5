package incidents

import (
	"encoding/json"
	"slices"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// idNames are the names of members that say what an event belongs to, in lower case without
// separators; the best first.
var idNames = []string{"incident", "incidentid", "incidentkey", "case", "caseid", "ticket", "ticketid", "issue", "issueid", "traceid", "trace", "correlationid", "requestid", "orderid", "order", "deploy", "deployid", "about", "reason"}

// idBytes bounds the payloads that are searched for ids.
const idBytes = 64 << 10

// incidentNames is how many of idNames are names of an incident itself.
const incidentNames = 3

// idsMax bounds the values of one event that [IDsOf] returns.
const idsMax = 9

// ID is a value that may say what an event belongs to.
type ID struct {
	Path trust.Text // of its member, as in a filter
	Text trust.Text
}

// IDsOf returns the values that may say what an event belongs to, the likeliest first and each
// once: members with one of the usual names, then those whose name ends with id. clear reports
// whether the first one is unambiguous: the only one, or the only one of an incident.
func IDsOf(r *event.Record) (ids []ID, clear bool) {
	if r.Kind != event.KindEvent || len(r.Data) > idBytes {
		return nil, false
	}
	var ranks []int // of ids
	for _, l := range leavesOf(r) {
		rank := idRank(l.path)
		if rank >= len(idNames)+2 || !strings.HasPrefix(l.value, `"`) {
			continue
		}
		var text trust.Text
		if json.Unmarshal([]byte(l.value), &text) != nil || !usable(text) {
			continue
		}
		if same := slices.IndexFunc(ids, func(id ID) bool { return id.Text == text }); same >= 0 {
			if ranks[same] <= rank {
				continue
			}
			ids, ranks = slices.Delete(ids, same, same+1), slices.Delete(ranks, same, same+1)
		}
		at, _ := slices.BinarySearch(ranks, rank+1) // after those of the same rank
		ids, ranks = slices.Insert(ids, at, ID{Path: trust.Untrusted(l.path), Text: text}), slices.Insert(ranks, at, rank)
	}
	named, _ := slices.BinarySearch(ranks, incidentNames)
	return ids[:min(len(ids), idsMax)], len(ids) == 1 || named == 1
}

// idRank ranks a member as an id, by the last name of its path; lower is better.
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

// usable reports whether a text can be an id: short and without blanks.
func usable(t trust.Text) bool {
	text := t.Raw()
	return text != "" && len(text) <= 128 && !strings.ContainsAny(text, " \t\r\n")
}
