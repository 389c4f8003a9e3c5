package stream_test

import (
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/stream"
)

func TestMarksAreFoundByTheirRecords(t *testing.T) {
	var m stream.Marks
	m.Load([]event.Mark{{Seq: 3, Note: "a"}, {Seq: 3, Line: true}, {Seq: 7, Line: true}}, map[uint64]event.Record{7: {Seq: 7}})
	if got, ok := m.Find(3); !ok || got.Note != "a" {
		t.Errorf("record 3 has %+v", got)
	}
	if _, ok := m.Find(7); ok {
		t.Error("a line is returned as the mark of its record")
	}
	if list := m.List(); len(list) != 3 || list[0].Seq != 7 {
		t.Errorf("listed %+v", list)
	}
	if r, ok := m.Record(7); !ok || r.Seq != 7 {
		t.Errorf("the record of a mark is %+v", r)
	}
	gen := m.Gen
	if m.Load(m.List()[:0], nil); m.Gen == gen {
		t.Error("a change does not raise Gen")
	}
}

func TestValuesAreFoundByJSONPointers(t *testing.T) {
	data := []byte(`{"a/b":{"list":[1,"two\u001b[2J"]},"none":null,"deep":{"x":{"y":1.50}}}`)
	for path, want := range map[string]string{"/a~1b/list/1": "two\x1b[2J", "/a~1b/list/0": "1", "/deep/x": `{"y":1.50}`, "/none": "", "/nope": "", "/a~1b/list/9": ""} {
		got, ok := stream.ValueAt(data, path)
		if got.Raw() != want || ok != (want != "") {
			t.Errorf("%s: %q, %v, want %q", path, got.Raw(), ok, want)
		}
	}
}

func TestRowsOfHostileRecordsAreSafe(t *testing.T) {
	r := event.Record{Seq: 1, Kind: event.KindEvent, Server: "pager\x1b[2J", Type: trust.Untrusted("x\x1b]0;owned\a"), Data: []byte(`{"title":"a\u001b[31mred"}`)}
	row := stream.Row(r, new(reading.Map), &stream.Plan{})
	for _, text := range []string{row.Server.Plain(), row.Type.Plain(), row.Text.Plain()} {
		for _, b := range text {
			if b < 0x20 || b == 0x7f {
				t.Errorf("%q holds a control character", text)
			}
		}
	}
}
