package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"eventdeck/host/event"
)

// A payload that is too large for a webhook delivery is left out of the event, which says so.
func TestLargePayloadsAreLeftOutOfEvents(t *testing.T) {
	r := newRig(t, nil)
	r.put(newEvent("mail", "letter", "l1", `{"text":"`+strings.Repeat("x", 161<<10)+`"}`), newEvent("mail", "letter", "l2", `{"text":"`+strings.Repeat("x", 159<<10)+`"}`))
	r.serve("")
	events := r.call("events/poll", sub("mail/letter", "cursor", r.oldest()))["events"].([]any)
	if data := events[0].(map[string]any)["data"].(map[string]any); data["bytes"] != float64(161<<10+11) || !strings.Contains(data["leftOut"].(string), "read_event") {
		t.Errorf("above the bound: %v", data)
	}
	if data := events[1].(map[string]any)["data"].(map[string]any); len(data["text"].(string)) != 159<<10 {
		t.Errorf("below the bound: %d bytes", len(data["text"].(string)))
	}
}

// The response to a poll has at most 1,000 events, and about 1 MiB.
func TestPollResponsesAreBounded(t *testing.T) {
	r := newRig(t, nil)
	r.fill(1, 1500)
	var large []event.Record
	for i := range 30 {
		large = append(large, newEvent("mail", "letter", fmt.Sprint("l", i), `{"text":"`+strings.Repeat("x", 100_000)+`"}`))
	}
	r.put(large...)
	at := r.serve("").oldest()
	if a := r.call("events/poll", sub("pager/tick", "cursor", at, "maxEvents", 5000)); len(a["events"].([]any)) != 1000 || a["hasMore"] != true {
		t.Errorf("%d events", len(a["events"].([]any)))
	}
	if a := r.call("events/poll", sub("mail/letter", "cursor", at)); len(a["events"].([]any)) != 11 || a["hasMore"] != true {
		t.Errorf("%d large events", len(a["events"].([]any)))
	}
}

// At most 2,000 types are offered; the events of others are offered as eventdeck.event.
func TestOfferedTypesAreBounded(t *testing.T) {
	r := newRig(t, nil)
	var records []event.Record
	for i := range 2100 {
		records = append(records, newEvent("many", fmt.Sprintf("t%04d", i), fmt.Sprint("e", i), `{"n":1}`))
	}
	r.put(append(records, newEvent("many", strings.Repeat("long", 200), "long", `{"n":1}`))...)
	r.serve("")
	names, params := 0, map[string]any{}
	for {
		a := r.call("events/list", params)
		if n := len(a["events"].([]any)); n > 100 {
			t.Fatalf("%d types on a page", n)
		}
		for _, d := range a["events"].([]any) {
			if d.(map[string]any)["name"].(string) > "many/" {
				names++
			}
		}
		if a["nextCursor"] == nil {
			break
		}
		params["cursor"] = a["nextCursor"]
	}
	if names != 2000 && names != 1999 { // one of them may be the long one
		t.Errorf("%d types", names)
	}
	if a := r.call("events/poll", sub("eventdeck.event", "cursor", r.oldest(), "arguments", map[string]any{"type": "t2099"}, "maxEvents", 5)); len(a["events"].([]any)) != 1 {
		t.Errorf("of a type beyond the bound: %v", a["events"])
	}
}

// A search examines at most 200,000 records, and says where to continue.
func TestSearchesAreBounded(t *testing.T) {
	r := newRig(t, nil)
	r.put(newEvent("chat", "message", "first", `{"n":1}`))
	r.fill(1, 200_000)
	r.serve("")
	found := r.tool("search_events", map[string]any{"server": "chat"})
	if len(found["events"].([]any)) != 0 || found["examined"] != 200_000.0 || found["nextCursor"] == nil {
		raw, _ := json.Marshal(found)
		t.Fatalf("%.300s", raw)
	}
	found = r.tool("search_events", map[string]any{"server": "chat", "cursor": found["nextCursor"]})
	if len(found["events"].([]any)) != 1 || found["nextCursor"] != nil {
		t.Errorf("the second page: %v", found)
	}
	// A poll examines fewer, and its response may be empty with more to come.
	a := r.call("events/poll", sub("eventdeck.gap", "cursor", r.oldest()))
	if len(a["events"].([]any)) != 0 || a["hasMore"] != true || !strings.HasSuffix(a["cursor"].(string), ".50000") {
		t.Errorf("poll: %v", a)
	}
}

// A message over stdio that exceeds the bound ends the connection: the beginning of the next one is
// unknown.
func TestMessagesOverStdioAreBounded(t *testing.T) {
	r := newRig(t, nil)
	server := r.server()
	err := server.ServeStdio(t.Context(), strings.NewReader(strings.Repeat("x", 1<<20+1)+"\n"), new(strings.Builder))
	if err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("%v", err)
	}
}

// The numbers of servers and counted types in a response are bounded.
func TestCountsAreBounded(t *testing.T) {
	r := newRig(t, nil)
	var records []event.Record
	for i := range 250 {
		records = append(records, newEvent("many", fmt.Sprintf("t%04d", i), fmt.Sprint("e", i), `{"n":1}`))
	}
	r.put(records...)
	r.serve("")
	sum := 0.0
	counts := r.tool("whats_new", nil)["counts"].([]any)
	for _, c := range counts {
		sum += c.(map[string]any)["events"].(float64)
	}
	if len(counts) != 201 || sum != 250 {
		t.Errorf("%d counts of %v events", len(counts), sum)
	}
	for i := range 1001 {
		r.host.AddServer(event.Server{Name: fmt.Sprint("s", i)}) // without an address it has a fault
	}
	if n := len(r.tool("list_servers", nil)["servers"].([]any)); n != 1000 {
		t.Errorf("%d servers", n)
	}
}
