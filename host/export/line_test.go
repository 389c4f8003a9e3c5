package export

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

var at = time.Date(2026, 7, 28, 12, 0, 0, 5_000_000, time.UTC)

func occurrence(sub event.Subscription, id, data string) event.Record {
	return event.Record{
		Kind: event.KindEvent, Sub: sub.ID, Server: sub.Key.Server, Type: sub.Key.Type, Mode: sub.Mode, ReceivedAt: at,
		EventID: trust.Untrusted(id), Timestamp: trust.Untrusted("2026-07-28T12:00:00Z"), Cursor: event.At(trust.Untrusted("c-" + id)),
		Raw: []byte(`{"eventId":"` + id + `"}`), Data: []byte(data),
	}
}

func TestLines(t *testing.T) {
	sub := event.Subscription{ID: "abcd2345", Mode: event.ModePush, Key: event.Key{Server: "pager", Type: trust.Untrusted("incident.created")}}
	full := occurrence(sub, "e1", "{ \"b\": 1.0e2,\n \"a\": \"<&\x7f\u202e\\u0041\", \"b\": [ ] }")
	full.Seq = 7
	bare := event.Record{Seq: 1, Kind: event.KindEvent, Sub: "s", Server: "h", Type: trust.Untrusted("t"), Mode: event.ModePoll, ReceivedAt: at.In(time.FixedZone("", 3600))}
	empty := full
	empty.Cursor = event.At(trust.Untrusted(""))
	empty.Data, empty.Flags = []byte("null"), []string{event.FlagIDLearned, event.FlagBadge}
	gap := event.Record{Seq: 2, Kind: event.KindGap, Sub: "s", Server: "h", Type: trust.Untrusted("t"), Mode: event.ModePush, ReceivedAt: at,
		Gap: &event.Gap{Cause: event.CauseTruncated, To: at, Certain: true}}
	state := event.Record{Seq: 3, Kind: event.KindState, Sub: "s", Server: "h", Type: trust.Untrusted("t"), Mode: event.ModeWebhook, ReceivedAt: at,
		State: &event.StateChange{State: event.StateBackoff, Evidence: "connection reset", Error: trust.Untrusted("a\x1b[31m\n")}}
	rejected := event.Record{Seq: 4, Kind: event.KindRejected, Sub: "s", Server: "h", Type: trust.Untrusted("t"), Mode: event.ModePoll, ReceivedAt: at,
		Raw: []byte("{\xff"), Reason: trust.Untrusted("not valid JSON")}
	tests := map[string]struct {
		record event.Record
		raw    bool
		want   string
	}{
		"event":    {full, false, `{"seq":7,"kind":"event","server":"pager","type":"incident.created","subscription":"abcd2345","mode":"push","eventId":"e1","timestamp":"2026-07-28T12:00:00Z","receivedAt":"2026-07-28T12:00:00.005Z","cursor":"c-e1","data":{"b":1.0e2,"a":"<&\u007f\u202e\u0041","b":[]},"headline":"b 1.0e2, a <&\u007f\u202eA","severity":null,"level":null,"status":null,"ids":[]}`},
		"raw":      {full, true, `{"seq":7,"kind":"event","server":"pager","type":"incident.created","subscription":"abcd2345","mode":"push","eventId":"e1","timestamp":"2026-07-28T12:00:00Z","receivedAt":"2026-07-28T12:00:00.005Z","cursor":"c-e1","data":{"b":1.0e2,"a":"<&\u007f\u202e\u0041","b":[]},"headline":"b 1.0e2, a <&\u007f\u202eA","severity":null,"level":null,"status":null,"ids":[],"raw":"eyJldmVudElkIjoiZTEifQ=="}`},
		"absent":   {bare, true, `{"seq":1,"kind":"event","server":"h","type":"t","subscription":"s","mode":"poll","eventId":null,"timestamp":null,"receivedAt":"2026-07-28T12:00:00.005Z","cursor":null,"data":null,"headline":"","severity":null,"level":null,"status":null,"ids":[]}`},
		"flags":    {empty, false, `{"seq":7,"kind":"event","server":"pager","type":"incident.created","subscription":"abcd2345","mode":"push","eventId":"e1","timestamp":"2026-07-28T12:00:00Z","receivedAt":"2026-07-28T12:00:00.005Z","cursor":"","data":null,"headline":"","severity":null,"level":null,"status":null,"ids":[],"flags":["id-learned","to-ai"]}`},
		"gap":      {gap, false, `{"seq":2,"kind":"gap","server":"h","type":"t","subscription":"s","mode":"push","eventId":null,"timestamp":null,"receivedAt":"2026-07-28T12:00:00.005Z","cursor":null,"data":null,"cause":"truncated","from":null,"to":"2026-07-28T12:00:00.005Z","certain":true}`},
		"state":    {state, false, `{"seq":3,"kind":"state","server":"h","type":"t","subscription":"s","mode":"webhook","eventId":null,"timestamp":null,"receivedAt":"2026-07-28T12:00:00.005Z","cursor":null,"data":null,"state":"backoff","evidence":"connection reset","error":"a\u001b[31m\n"}`},
		"rejected": {rejected, true, `{"seq":4,"kind":"rejected","server":"h","type":"t","subscription":"s","mode":"poll","eventId":null,"timestamp":null,"receivedAt":"2026-07-28T12:00:00.005Z","cursor":null,"data":null,"reason":"not valid JSON","raw":"e/8="}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := string(AppendLine(nil, &tt.record, tt.raw))
			if got != tt.want+"\n" {
				t.Errorf("got  %swant %s", got, tt.want)
			}
			if !json.Valid([]byte(got)) {
				t.Error("not JSON")
			}
		})
	}
}

func BenchmarkLine(b *testing.B) {
	sub := event.Subscription{ID: "abcd2345", Mode: event.ModePush, Key: event.Key{Server: "pager", Type: trust.Untrusted("incident.created")}}
	r := occurrence(sub, "e1", `{"severity":"P1","service":"payments","title":"p99 latency above 4s","n":123456,"tags":["eu","db"]}`)
	var line []byte
	for b.Loop() {
		line = AppendLine(line[:0], &r, false)
	}
}

func TestLineHasLabels(t *testing.T) {
	r := event.Record{Kind: event.KindEvent, Type: trust.Untrusted("filtered-stream"), Labels: &event.Labels{
		Name: trust.Untrusted("git\x1bhub.push"), Priority: trust.Untrusted("high"), Batch: trust.Untrusted("b-1"),
		Tags: []trust.Text{trust.Untrusted("ci"), trust.Untrusted("\u202e")},
	}}
	line := string(AppendLine(nil, &r, false))
	if want := `,"subscribed":"filtered-stream","priority":"high","batch":"b-1","tags":["ci","\u202e"],"headline":"","severity":"high","level":"error","status":null,"ids":[]}`; !strings.HasSuffix(line, want+"\n") {
		t.Errorf("got %s, want it to end with %s", line, want)
	}
	if !strings.Contains(line, `"type":"git\u001bhub.push"`) {
		t.Errorf("the type is not the event name: %s", line)
	}
	r.Labels = &event.Labels{Priority: trust.Untrusted("low")}
	if line := string(AppendLine(nil, &r, false)); !strings.Contains(line, `"priority":"low","headline"`) || strings.Contains(line, `"tags"`) {
		t.Errorf("got %s", line)
	}
}
