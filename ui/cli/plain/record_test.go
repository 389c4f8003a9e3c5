package plain

import (
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

var at = time.Date(2026, 7, 28, 12, 0, 0, 5e6, time.UTC)

func occurrence(sub event.Subscription, id, data string) event.Record {
	return event.Record{
		Kind: event.KindEvent, Sub: sub.ID, Server: sub.Key.Server, Type: sub.Key.Type, ReceivedAt: at,
		EventID: trust.Untrusted(id), Data: []byte(data),
	}
}

func TestPlainLines(t *testing.T) {
	sub := event.Subscription{ID: "s", Key: event.Key{Server: "pager", Type: trust.Untrusted("incident.created")}}
	r := occurrence(sub, "e\x1b1", "{\"a\":\n [\"\\u0007\u202e\\\"x\"]}")
	r.Replayed, r.Flags = true, []string{"id-learned"}
	clock := at.Local().Format("15:04:05.000")
	gapFrom := at.Local().Format(time.DateTime)
	tests := map[string]struct {
		record event.Record
		want   []string
	}{
		"event":    {r, []string{clock, "  pager  incident.created  ", `{ "a": [ "\u0007\u202e\"x" ] }`, "(replayed)", "[id-learned]"}},
		"gap":      {event.Record{Kind: event.KindGap, Gap: &event.Gap{Cause: event.CauseSilent, From: at, To: at}}, []string{"gap: events may be missing from " + gapFrom + " to " + gapFrom + " (silent)"}},
		"certain":  {event.Record{Kind: event.KindGap, Gap: &event.Gap{Cause: event.CauseGap, Certain: true}}, []string{"gap: events are missing (gap)"}},
		"a cut":    {event.Record{Kind: event.KindState, State: &event.StateChange{State: event.StateBackoff, Evidence: "the connection ended", Error: trust.Untrusted("connection ended before the answer")}}, []string{"state: backoff, connection ended before the answer"}},
		"state":    {event.Record{Kind: event.KindState, State: &event.StateChange{State: event.StateLive, Evidence: "heartbeat", Error: trust.Untrusted("was cut")}}, []string{"state: live, heartbeat, was cut"}},
		"rejected": {event.Record{Kind: event.KindRejected, Reason: trust.Untrusted("duplicate key")}, []string{"payload refused: duplicate key"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := string(AppendRecord(nil, tt.record, at))
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("got %q, want %q in it", got, want)
				}
			}
			if strings.ContainsAny(strings.TrimSuffix(got, "\n"), "\x1b\x07\n") {
				t.Errorf("a control character got out: %q", got)
			}
		})
	}
}

// A line is read aloud from its beginning: time, severity and headline come first, ids last.
func TestPlainLinesBeginWithTimeAndSeverity(t *testing.T) {
	sub := event.Subscription{ID: "s", Key: event.Key{Server: "pager", Type: trust.Untrusted("incident.created")}}
	r := occurrence(sub, "evt_7", `{"severity":"critical","title":"Checkout fails"}`)
	clock := r.ReceivedAt.Local().Format("15:04:05.000")
	got := string(AppendRecord(nil, r, at))
	if want := clock + "  critical  Checkout fails  pager  incident.created  "; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "  evt_7\n") {
		t.Errorf("got %q, want %q first and the id last", got, want)
	}
	gap := event.Record{Kind: event.KindGap, Server: "pager", Type: trust.Untrusted("incident.created"), ReceivedAt: r.ReceivedAt, Gap: &event.Gap{Cause: event.CauseGap, Certain: true}}
	if got := string(AppendRecord(nil, gap, at)); got != clock+"  -  gap: events are missing (gap)  pager  incident.created\n" {
		t.Errorf("got %q", got)
	}
}

// Columns stand still: a record without a severity or a headline has a dash there. A record of
// another day has its date.
func TestPlainLinesHaveTheSameColumns(t *testing.T) {
	sub := event.Subscription{ID: "s", Key: event.Key{Server: "pager", Type: trust.Untrusted("tick")}}
	clock := at.Local().Format("15:04:05.000")
	for data, want := range map[string]string{
		`{"severity":"info","title":"up"}`: "  info  up  pager  tick  ",
		`{"title":"up"}`:                   "  -  up  pager  tick  ",
		`{"n":1}`:                          "  -  n 1  pager  tick  ",
	} {
		for _, day := range []int{0, 1, -400} {
			date := ""
			if day != 0 {
				date = at.Local().Format(time.DateOnly) + " "
			}
			if got := string(AppendRecord(nil, occurrence(sub, "e", data), at.AddDate(0, 0, day))); !strings.HasPrefix(got, date+clock+want) {
				t.Errorf("%q, want %q first", got, date+clock+want)
			}
		}
	}
}
