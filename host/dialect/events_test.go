package dialect

import (
	"testing"

	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Early revisions of the sketch read params and ignore arguments: with arguments alone, a filter
// was lost without a word.
func TestServersOfTheSketchGetTheArgumentsInBothSpellings(t *testing.T) {
	const args = `{"op":"added"}`
	name := trust.Untrusted("file.changed")
	for what, tt := range map[string]struct {
		capabilities string
		stateless    bool
		args, params string
	}{
		"the sketch":               {`{"events":{}}`, false, args, args},
		"nothing advertised":       {`{}`, false, args, args},
		"no arguments":             {`{"events":{}}`, false, `{}`, ""},
		"the extension":            {`{"events":{},"extensions":{"io.modelcontextprotocol/events":{}}}`, false, args, ""},
		"the sketch, stateless":    {`{"events":{}}`, true, args, ""},
		"the extension, stateless": {`{"extensions":{"io.modelcontextprotocol/events":{}}}`, true, args, ""},
	} {
		t.Run(what, func(t *testing.T) {
			p := newPeer(t, tt.capabilities, func(call) string { return `"result":{}` })
			p.stateless = tt.stateless
			d, _ := p.connect(Options{})
			ctx, given := background(t), []byte(tt.args)
			poll := wire.PollRequest{Name: name, Arguments: given}
			if _, err := d.Poll(ctx, poll); err != nil {
				t.Fatal(err)
			}
			st, err := d.Stream(ctx, wire.StreamRequest{Name: name, Arguments: given}, func(wire.Note) {})
			if err != nil {
				t.Fatal(err)
			}
			_ = done(t, st) // its end is not the subject
			if _, err := d.Subscribe(ctx, wire.SubscribeRequest{Name: name, Arguments: given}); err != nil {
				t.Fatal(err)
			}
			if err := d.Unsubscribe(ctx, wire.UnsubscribeRequest{Name: name, Arguments: given}); err != nil {
				t.Fatal(err)
			}
			for _, method := range []string{wire.MethodPoll, wire.MethodStream, wire.MethodSubscribe, wire.MethodUnsubscribe} {
				c := p.await(method, 1, isMethod(method))
				if got := c.param("arguments"); got != tt.args {
					t.Errorf("%s: arguments %s", method, got)
				}
				if got := c.param("params"); got != tt.params {
					t.Errorf("%s: params %q, want %q", method, got, tt.params)
				}
			}
			_, shown, err := d.(Previewer).Preview(poll)
			if got := (call{params: shown}).param("params"); err != nil || got != tt.params {
				t.Errorf("the preview has params %q, %v", got, err)
			}
		})
	}
}
