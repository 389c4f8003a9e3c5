package filterbar_test

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/filterbar"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
)

func TestColumnsAreOfferedFromSchemaAndRecords(t *testing.T) {
	env := tuitest.Env()
	st := stream.New(tuitest.StreamEnv(env, &host.Snapshot{}))
	typ := trust.Untrusted("incident.created")
	st.Query = query.Query{Node: query.Node{Server: "pager", Type: typ}}
	var kept map[string][]stream.Column
	s := &tuitest.Screen{}
	e := &filterbar.ColumnsEnv{Env: env, Screen: s, Stream: &st,
		Log: &tuitest.Log{Records: []event.Record{{Seq: 1, Kind: event.KindEvent, Server: "pager", Type: typ, Data: []byte(`{"host":{"name":"db-1"},"list":[1]}`)}, {Seq: 2, Kind: event.KindEvent, Server: "chat", Type: typ, Data: []byte(`{"other":1}`)}}},
		TypeOf: func(*event.Record) event.Type {
			return event.Type{PayloadSchema: []byte(`{"properties":{"impact":{"type":"string"}}}`)}
		},
		Keep: func(_ string, value any) tea.Cmd { kept, _ = value.(map[string][]stream.Column); return nil },
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
	cols := kept[stream.TypeKey(st.Query.Node)]
	if len(cols) == 0 || cols[len(cols)-1].Path != "/host/name" || s.Dialog != nil {
		t.Errorf("kept %+v", kept)
	}
	before := st.Columns.Of(st.Query.Node)
	tuitest.Run(filterbar.OpenColumns(e))
	s.Press("g", "space", "esc")
	if after := st.Columns.Of(st.Query.Node); !slices.Equal(before, after) {
		t.Errorf("esc keeps %+v", after)
	}
}
