package mcpserver_test

import (
	"strings"
	"testing"

	"eventdeck/host/event"
)

// oldest returns the cursor before the oldest stored record.
func (r *rig) oldest() string {
	r.t.Helper()
	return r.call("events/list", nil)["_meta"].(map[string]any)["eventdeck/positions"].(map[string]any)["oldest"].(string)
}

// numbers returns data.n of the events.
func numbers(events any) (all []int) {
	for _, e := range events.([]any) {
		all = append(all, int(e.(map[string]any)["data"].(map[string]any)["n"].(float64)))
	}
	return all
}

func inOrder(t *testing.T, got []int, first, n int) {
	t.Helper()
	if len(got) != n {
		t.Errorf("%d events, want %d", len(got), n)
	}
	for i := range got {
		if got[i] != first+i {
			t.Fatalf("event %d is %d, want %d", i, got[i], first+i)
		}
	}
}

func TestPollReplaysFromAnyPosition(t *testing.T) {
	r := newRig(t, nil)
	r.fill(1, 2500)
	r.serve("")
	var got []int
	cursor, pages := any(r.oldest()), 0
	for {
		a := r.call("events/poll", sub("pager/tick", "cursor", cursor, "maxEvents", 700))
		if len(a["events"].([]any)) > 700 || a["truncated"] != false {
			t.Fatalf("%d events, truncated %v", len(a["events"].([]any)), a["truncated"])
		}
		got = append(got, numbers(a["events"])...)
		cursor = a["cursor"]
		if pages++; a["hasMore"] == false {
			break
		}
	}
	inOrder(t, got, 1, 2500)
	if pages != 4 {
		t.Errorf("%d pages", pages)
	}
	a := r.call("events/poll", sub("pager/tick"))
	if len(a["events"].([]any)) != 0 || a["cursor"] != cursor {
		t.Errorf("without a cursor: %v", a)
	}
	r.fill(2501, 3)
	a = r.call("events/poll", sub("pager/tick", "cursor", cursor))
	inOrder(t, numbers(a["events"]), 2501, 3)
	e := a["events"].([]any)[0].(map[string]any)
	if e["name"] != "pager/tick" || !strings.HasSuffix(e["eventId"].(string), "-2501") || e["_meta"].(map[string]any)["eventdeck/record"].(map[string]any)["eventId"] != "e2501" {
		t.Errorf("event %v", e)
	}
}

func TestArgumentsSelectEvents(t *testing.T) {
	r := newRig(t, nil)
	r.fill(1, 8)
	r.put(newEvent("chat", "message", "m1", `{"n":1}`))
	r.put(event.Record{Kind: event.KindGap, Sub: "subpager", Server: "pager", Gap: &event.Gap{Cause: event.CauseLapsed, Certain: true}})
	r.serve("")
	at := r.oldest()
	for what, want := range map[string]struct {
		name string
		args map[string]any
		n    int
	}{
		"all of a type":    {"pager/tick", nil, 8},
		"a filter":         {"pager/tick", map[string]any{"filter": "sev:P1"}, 2},
		"all servers":      {"eventdeck.event", nil, 9},
		"one server":       {"eventdeck.event", map[string]any{"server": "chat"}, 1},
		"one type":         {"eventdeck.event", map[string]any{"type": "tick"}, 8},
		"one subscription": {"pager/tick", map[string]any{"subscription": "other"}, 0},
		"gaps":             {"eventdeck.gap", nil, 1},
	} {
		a := r.call("events/poll", sub(want.name, "arguments", want.args, "cursor", at))
		if got := len(a["events"].([]any)); got != want.n {
			t.Errorf("%s: %d events, want %d", what, got, want.n)
		}
	}
	for _, bad := range []map[string]any{{"filter": "("}, {"nope": "x"}, {"filter": 1}, {"server": "chat"}} {
		if status, a := r.ask("events/poll", sub("pager/tick", "arguments", bad)); status != 400 || a.Error == nil || a.Error.Code != -32602 {
			t.Errorf("%v: %d %+v", bad, status, a.Error)
		}
	}
	if _, a := r.ask("events/poll", sub("pager/gone")); a.Error == nil || a.Error.Code != -32023 || a.Error.Data["kind"] != "event" {
		t.Errorf("no such type: %+v", a.Error)
	}
}

// prunedRig serves a store that keeps the newest hundred of a thousand records.
func prunedRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, nil)
	r.fill(1, 1000)
	if err := r.store.SetRetention(t.Context(), event.Retention{Total: event.Limits{Records: 100}}); err != nil {
		t.Fatal(err)
	}
	r.serve("")
	return r
}

// A cursor before pruned records is truncated, and so is a cursor of another store.
func TestPrunedRecordsAreReported(t *testing.T) {
	r := prunedRig(t)
	at := r.oldest()
	a := r.call("events/poll", sub("pager/tick", "cursor", at))
	got := numbers(a["events"])
	if a["truncated"] != true || len(got) == 0 || len(got) > 100 || got[len(got)-1] != 1000 {
		t.Errorf("truncated %v, %d events", a["truncated"], len(got))
	}
	if again := r.call("events/poll", sub("pager/tick", "cursor", a["cursor"])); again["truncated"] != false || len(again["events"].([]any)) != 0 {
		t.Errorf("from the fresh cursor: %v", again)
	}
	other := r.call("events/poll", sub("pager/tick", "cursor", "another.5"))
	if other["truncated"] != true || len(other["events"].([]any)) != len(got) {
		t.Errorf("a cursor of another store: truncated %v", other["truncated"])
	}
}
