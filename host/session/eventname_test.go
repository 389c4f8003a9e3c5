package session

import (
	"slices"
	"testing"

	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// eventRequests are the requests of MCP Events that are about the event type name.
func eventRequests(name string) map[string]any {
	n := trust.Untrusted(name)
	return map[string]any{
		wire.MethodPoll: wire.PollRequest{Name: n}, wire.MethodStream: wire.StreamRequest{Name: n},
		wire.MethodSubscribe:   wire.SubscribeRequest{Name: n, Secret: "whsec_x"},
		wire.MethodUnsubscribe: wire.UnsubscribeRequest{Name: n},
	}
}

// askEvents sends a request of MCP Events, as a stream where it is one.
func askEvents(t *testing.T, s *Session, method string, params any) error {
	t.Helper()
	if method != wire.MethodStream {
		_, err := s.Call(soon(t), method, params)
		return err
	}
	stream, err := s.Open(soon(t), method, params, func(wire.Note) {})
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.Result()
	return err
}

func TestEventRequestsNameTheirType(t *testing.T) {
	handlers := map[string]func(ask){}
	for method := range eventRequests("") {
		handlers[method] = func(a ask) {
			if name := a.r.Header.Get("Mcp-Name"); name != "a.b" && name != "=?base64?w6RyZ2Vy?=" {
				a.fail(400, wire.CodeHeaderMismatch, "null")
				return
			}
			a.result(`{}`)
		}
	}
	handlers[wire.MethodList] = func(a ask) { a.result(`{"events":[]}`) }
	f := modernFake(t, handlers)
	s := mustDial(t, f.server(), Options{})
	for _, name := range []string{"a.b", "ärger"} {
		for method, params := range eventRequests(name) {
			if err := askEvents(t, s, method, params); err != nil {
				t.Errorf("%s of %s: %v", method, name, err)
			}
		}
	}
	if _, err := s.Call(soon(t), wire.MethodList, wire.ListRequest{}); err != nil || f.wait(t, wire.MethodList).r.Header.Get("Mcp-Name") != "" {
		t.Errorf("events/list is about no type: %v", err)
	}
}

// A server of the draft may refuse the name of an event type: it is asked once more without.
func TestRefusedEventNameIsLeftOut(t *testing.T) {
	for method, params := range eventRequests("a.b") {
		f := modernFake(t, map[string]func(ask){method: func(a ask) {
			if a.r.Header.Get("Mcp-Name") != "" {
				a.fail(400, wire.CodeHeaderMismatch, "null")
				return
			}
			a.result(`{}`)
		}})
		s := mustDial(t, f.server(), Options{})
		for range 2 {
			if err := askEvents(t, s, method, params); err != nil {
				t.Errorf("%s: %v", method, err)
			}
		}
		if n := f.count(method); n != 3 {
			t.Errorf("%s was asked %d times: what the first answer showed is not kept", method, n)
		}
	}
}

func TestMismatchOfOtherHeadersIsReported(t *testing.T) {
	var names []string
	f := modernFake(t, map[string]func(ask){wire.MethodPoll: func(a ask) {
		names = append(names, a.r.Header.Get("Mcp-Name"))
		a.fail(400, wire.CodeHeaderMismatch, `{"reason":"`+a.r.Header.Get("Mcp-Name")+`"}`)
	}})
	s := mustDial(t, f.server(), Options{})
	for range 2 {
		err := askEvents(t, s, wire.MethodPoll, eventRequests("a.b")[wire.MethodPoll])
		if !wire.Is(err, wire.HeaderMismatch, "reason", "a.b") {
			t.Errorf("error %v", err)
		}
	}
	if want := []string{"a.b", "", "a.b", ""}; !slices.Equal(names, want) {
		t.Errorf("asked with %q, want %q", names, want)
	}
}
