package session

import (
	"encoding/json"
	"errors"
	"testing"

	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

func TestDialStateless(t *testing.T) {
	f := modernFake(t, map[string]func(ask){"events/list": func(a ask) { a.result(`{"events":[]}`) }})
	s := mustDial(t, f.server(), Options{})
	i := s.Info()
	if i.Era != EraStateless || i.Version != "2026-07-28" || i.Transport != TransportHTTP || i.ServerName != trust.Untrusted("fake") ||
		i.Instructions != trust.Untrusted("be kind") || i.Profile != wire.ProfileSEP || !i.Advertised || !i.ListChanged || string(i.Raw) != sepGreeting {
		t.Errorf("info = %+v", i)
	}
	raw, err := s.Call(soon(t), "events/list", wire.ListRequest{})
	if err != nil || string(raw) != `{"events":[]}` {
		t.Errorf("result %s, error %v", raw, err)
	}
	a := f.wait(t, "events/list")
	for name, want := range map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "events/list", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": ""} {
		if got := a.r.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(a.params, &p); err != nil {
		t.Fatal(err)
	}
	if string(p.Meta[metaVersion]) != `"2026-07-28"` || string(p.Meta[metaClientCapable]) != `{"extensions":{"io.modelcontextprotocol/events":{}}}` || p.Meta[metaClientInfo] == nil {
		t.Errorf("_meta = %s", a.params)
	}
}

func TestDialHandshakeAfterMethodNotFound(t *testing.T) {
	f := handshakeFake(t, map[string]func(ask){"events/list": func(a ask) { a.result(`{"events":[]}`) }})
	s := mustDial(t, f.server(), Options{})
	i := s.Info()
	if i.Era != EraHandshake || i.Version != "2025-06-18" || i.Profile != wire.ProfileSketch || !i.Advertised {
		t.Errorf("info = %+v", i)
	}
	if _, err := s.Call(soon(t), "events/list", nil); err != nil {
		t.Fatal(err)
	}
	h := f.wait(t, "events/list").r.Header
	if h.Get("Mcp-Session-Id") != "s-1" || h.Get("MCP-Protocol-Version") != "2025-06-18" || h.Get("Mcp-Method") != "" {
		t.Errorf("headers %v", h)
	}
	f.wait(t, noteInitialized)
}

func TestStreamDeliversAndClosesAlone(t *testing.T) {
	f := modernFake(t, map[string]func(ask){wire.MethodStream: func(a ask) {
		a.note(wire.NoteActive, 0)
		a.note(wire.NoteEvent, 1)
		<-a.gone()
	}})
	s := mustDial(t, f.server(), Options{})
	sink, c := notes()
	one, err := s.Open(soon(t), wire.MethodStream, wire.StreamRequest{}, sink)
	if err != nil {
		t.Fatal(err)
	}
	other, otherNotes := notes()
	two, err := s.Open(soon(t), wire.MethodStream, wire.StreamRequest{}, other)
	if err != nil {
		t.Fatal(err)
	}
	get(t, "active", c)
	if n := get(t, "event", c); n.Method != wire.NoteEvent || n.Route() != one.ID || number(t, n) != 1 {
		t.Errorf("note %+v on %s", n, one.ID)
	}
	get(t, "active", otherNotes)
	one.Close()
	get(t, "end", one.Done())
	if _, err := one.Result(); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v", err)
	}
	get(t, "event", otherNotes)
	select {
	case <-two.Done():
		t.Error("the other stream ended too")
	default:
	}
}
