package form

import (
	"encoding/json"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
)

func TestServerComplaintsFindTheirField(t *testing.T) {
	typ := event.Type{Name: trust.Untrusted("order.placed"), Modes: []event.Mode{event.ModePoll}, InputSchema: json.RawMessage(
		`{"type":"object","properties":{"team":{"type":"string"},"limit":{"type":"integer"},"where":{"type":"object","properties":{"zone":{"type":"string"}}}}}`)}
	f := newForm(&Env{Env: &cells.Env{Now: time.Now}}, "shop", typ, event.ModePoll)
	for text, want := range map[string]string{
		`"limit" is too large`: "limit", "arguments.where.zone: unknown": "zone", "bad team": "team", "no": "",
	} {
		e := f.meant(refusalSaying(text))
		switch {
		case e == nil && want != "", e != nil && e.Name().Raw() != want:
			t.Errorf("%q is about %v, want %q", text, e, want)
		}
	}
}

func refusalSaying(text string) host.Refusal {
	return host.Refusal{Name: host.RefusedParams, Message: trust.Untrusted(text)}
}
