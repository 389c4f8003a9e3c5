package host_test

import (
	"encoding/json"
	"sync/atomic"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Arguments that a schema calls secret are shown masked; they are sent and stored unmasked. This holds
// for subscriptions from before the schema said so too.
func TestSecretArgumentsAreShownMasked(t *testing.T) {
	var secret atomic.Bool
	s := &strange{
		poll: `"result":{"events":[],"cursor":"c","nextPollMs":60000}`,
		list: func(int64) string {
			format := ""
			if secret.Load() {
				format = `,"format":"password"`
			}
			return `"result":{"events":[{"name":"t","delivery":["poll"],"inputSchema":{"type":"object","properties":{"pin":{"type":"string"` + format + `},"team":{"type":"string"}}}}]}`
		},
	}
	r := &rig{t: t, host: hostOn(t, s, host.Options{})}
	subscribe := func(args string) event.Subscription {
		t.Helper()
		sub, err := r.host.Subscribe(r.ctx(), host.Request{Server: "strange", Type: trust.Untrusted("t"), Args: json.RawMessage(args), Mode: event.ModePoll})
		if err != nil {
			t.Fatal(err)
		}
		return sub
	}
	want := func(id event.SubID, clear, shown string) {
		t.Helper()
		v := viewOf(r.host.Snapshot(), id)
		if got := string(v.ShownArgs()); got != shown || string(v.Key.Args) != clear {
			t.Errorf("shown %s, kept %s; want %s, %s", got, v.Key.Args, shown, clear)
		}
	}
	const first, second = `{"pin":"hunter2","team":"a"}`, `{"pin":"sesame","team":"b"}`
	older := subscribe(first)
	want(older.ID, first, first)
	secret.Store(true)
	if _, err := r.host.Types(r.ctx(), "strange"); err != nil {
		t.Fatal(err)
	}
	want(older.ID, first, `{"pin":"***","team":"a"}`)
	want(subscribe(second).ID, second, `{"pin":"***","team":"b"}`)
	secret.Store(false)
	if _, err := r.host.Types(r.ctx(), "strange"); err != nil {
		t.Fatal(err)
	}
	want(older.ID, first, first)
}
