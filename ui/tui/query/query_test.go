package query_test

import (
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/query"
)

func TestNodesHoldTheirRecordsAndSubscriptions(t *testing.T) {
	key := event.Key{Server: "pager", Type: trust.Untrusted("incident.created")}
	r := event.Record{Server: key.Server, Type: key.Type, Sub: "s1"}
	for n, holds := range map[query.Node]bool{
		{}: true, {Server: "pager"}: true, {Server: "chat"}: false,
		{Server: "pager", Type: key.Type}: true, {Server: "pager", Type: trust.Untrusted("x")}: false,
		{Server: "pager", Type: key.Type, Sub: "s1"}: true, {Server: "pager", Type: key.Type, Sub: "s2"}: false,
		{Item: "mark 3"}: true,
	} {
		if n.Holds(&r) != holds || n.HoldsSub("s1", &key) != holds {
			t.Errorf("%+v: record %v, subscription %v, want %v", n, n.Holds(&r), n.HoldsSub("s1", &key), holds)
		}
	}
	n := query.Node{Server: "pager", Type: key.Type, Sub: "s1"}
	for level := 3; level > 0; level-- {
		if n.Level() != level {
			t.Errorf("%+v is on level %d, not %d", n, n.Level(), level)
		}
		n = n.Parent()
	}
}

func TestFilterThatIsOffMatchesEverything(t *testing.T) {
	q, err := query.New(query.Node{Server: "pager"}, "pool", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r := event.Record{Kind: event.KindEvent, Server: "pager", Data: []byte(`{"title":"disk"}`)}
	if q.Matches(&r) || !q.Filters() || q.Everything() {
		t.Errorf("%+v", q)
	}
	q.Off = true
	if !q.Matches(&r) || q.Filters() {
		t.Error("a filter that is off hides something")
	}
	if q = q.At(query.Node{}); !q.Everything() {
		t.Error("it matches every record and does not report that")
	}
	if _, err := query.New(query.Node{}, "(", time.Now()); err == nil {
		t.Error("a mistake is no error")
	}
}
