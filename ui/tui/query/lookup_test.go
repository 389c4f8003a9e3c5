package query_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
)

// world returns a snapshot of two servers that list the same type, and of one that has not listed
// its types.
func world() *host.Snapshot {
	deploy := event.Type{Name: trust.Untrusted("deploy.done")}
	page := event.Type{Name: trust.Untrusted("page.sent"), Cursorless: true}
	key := event.Key{Server: "pager", Type: page.Name, Args: json.RawMessage(`{"a":1}`)}
	return &host.Snapshot{
		Servers: []host.ServerView{
			{Name: "pager", TypesKnown: true, Types: []event.Type{page, deploy}},
			{Name: "ci", TypesKnown: true, Types: []event.Type{deploy, {Name: trust.Untrusted("\x1b[31m")}}},
			{Name: "away"},
		},
		Subs: []host.SubscriptionView{{Subscription: event.Subscription{ID: key.ID(), Key: key}}},
	}
}

func TestLookupFindsWhatTheSnapshotHas(t *testing.T) {
	s := world()
	if v := query.FindServer(s, "ci"); v == nil || v.Name != "ci" {
		t.Errorf("found %v", v)
	}
	if query.FindServer(s, "none") != nil || query.FindSub(s, "none") != nil || query.FindSub(s, "") != nil {
		t.Error("found what is not there")
	}
	page := trust.Untrusted("page.sent")
	if typ := query.FindType(s, query.Node{Server: "pager", Type: page}); typ == nil || !typ.Cursorless {
		t.Errorf("found %v", typ)
	}
	if typ := query.TypeOf(s, "ci", page); typ.Name != page || typ.Cursorless {
		t.Errorf("a type that is not listed is %+v", typ)
	}
	v := &s.Subs[0]
	if !query.Cursorless(s, v) {
		t.Errorf("%v has replay", v)
	}
	if query.OnlySub(s, "pager", page) != v || query.OnlySub(s, "ci", page) != nil {
		t.Error("the one subscription to a type is not found, or at another server")
	}
	if s.Subs = append(s.Subs, s.Subs[0]); query.OnlySub(s, "pager", page) != nil {
		t.Error("one of two is found")
	}
	if got := query.TypeNames(s); !slices.Equal(got, []string{"page.sent", "deploy.done"}) {
		t.Errorf("can be typed: %q", got)
	}
	if got := query.ServerNames(s); !slices.Equal(got, []string{"pager", "ci", "away"}) {
		t.Errorf("servers are %q", got)
	}
}

func TestServerOfAType(t *testing.T) {
	for _, c := range []struct {
		typ, named, want, says string
		err                    error
	}{
		{typ: "page.sent", want: "pager"},
		{typ: "deploy.done", says: "pager, ci all list this type; add server=pager", err: evidence.ErrUsage},
		{typ: "deploy.done", named: "ci", want: "ci"},
		{typ: "new.type", want: "away"},
		{typ: "page.send", named: "pager", says: `at pager; did you mean "page.sent"?`, err: host.ErrUnknownType},
		{typ: "page.sent", named: "pagr", says: `did you mean "pager"?`, err: host.ErrUnknownServer},
		{typ: "page.sent", named: "elsewhere", says: "there are pager, ci, away", err: host.ErrUnknownServer},
	} {
		got, err := query.ServerOf(world(), c.typ, c.named)
		if got != c.want || !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s of %q: %q, %v", c.typ, c.named, got, err)
		}
	}
	s := world()
	s.Servers = append(s.Servers, host.ServerView{Name: "far"})
	if _, err := query.ServerOf(s, "new.type", ""); err == nil || !strings.Contains(err.Error(), "away, far have not listed their types yet") {
		t.Error(err)
	}
	if err := query.UnknownServer(&host.Snapshot{}, "x"); !strings.Contains(err.Error(), "there are none") {
		t.Error(err)
	}
}
