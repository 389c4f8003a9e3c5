package export

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func TestUpdatesOfResourcesComeBack(t *testing.T) {
	raw := []byte(`{"uri":"file:///motd","_meta":{"io.modelcontextprotocol/x":1}}`)
	was := event.Record{
		Kind: event.KindEvent, Sub: "abcd2345", Server: "files", Type: trust.Untrusted(event.ResourceUpdated), Mode: event.ModePush,
		ReceivedAt: at, EventID: trust.Untrusted("e1"), Raw: raw, Data: []byte(`{"uri":"file:///motd"}`),
	}
	var r event.Record
	line := write(t, Options{Format: NDJSON, Raw: true}, []event.Record{was})
	if err := Read(strings.NewReader(line), func(got *event.Record) error { r = *got; return nil }); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(r.Data, was.Data) || !bytes.Equal(r.Raw, raw) || slices.Contains(r.Flags, "url.scheme") {
		t.Errorf("data %s, raw %s, flags %v", r.Data, r.Raw, r.Flags)
	}
	if Envelope(&r).Report.Has("url.scheme") {
		t.Error("the envelope has the flag")
	}
}
