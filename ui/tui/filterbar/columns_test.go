package filterbar_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/filterbar"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
)

func TestColumnsAreOfferedFromSchemaAndRecords(t *testing.T) {
	env := tuitest.Env()
	st := stream.New(tuitest.StreamEnv(env, &host.Snapshot{}))
	typ := trust.Untrusted("incident.created")
	st.Query = query.Query{Node: query.Node{Server: "pager", Type: typ}}
	s, kept := &tuitest.Screen{}, tuitest.Settings{}
	saved := persist.New(persist.Settings{Screen: s, Host: kept}, time.Now)
	log := &tuitest.Log{Records: []event.Record{{Seq: 1, Kind: event.KindEvent, Server: "pager", Type: typ, Data: []byte(`{"host":{"name":"db-1"},"list":[1]}`)}, {Seq: 2, Kind: event.KindEvent, Server: "chat", Type: typ, Data: []byte(`{"other":1}`)}}}
	e := &filterbar.Env{
		Env: env, Screen: s, Stream: &st, Persist: &saved, Log: func() eventlog.Records { return log },
		Snap: &host.Snapshot{Servers: []host.ServerView{{Name: "pager", Types: []event.Type{{Name: typ, PayloadSchema: []byte(`{"properties":{"impact":{"type":"string"}}}`)}}}}},
	}
	tuitest.Run(filterbar.OpenColumns(e))
	text := s.Text(100, 30)
	for _, want := range []string{" .impact", "in the schema", " .host.name", "seen", "summary"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not offered:\n%s", want, text)
		}
	}
	if strings.Contains(text, ".other") || strings.Contains(text, ".list") {
		t.Errorf("what another type or a list has is offered:\n%s", text)
	}
	s.Press("G", "space", "enter")
	var cols map[string][]stream.Column
	saved.GetJSON(stream.ColumnsSetting, &cols)
	if of := cols[stream.TypeKey(st.Query.Node)]; len(of) == 0 || of[len(of)-1].Path != "/host/name" || s.Dialog != nil {
		t.Errorf("kept %+v", kept)
	}
	before := st.Columns.Of(st.Query.Node)
	tuitest.Run(filterbar.OpenColumns(e))
	s.Press("g", "space", "esc")
	if after := st.Columns.Of(st.Query.Node); !slices.Equal(before, after) {
		t.Errorf("esc keeps %+v", after)
	}
}
