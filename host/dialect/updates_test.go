package dialect

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

const updatesCapabilities = `{"resources":{"subscribe":true,"listChanged":true}}`

// library is a server with plain resource subscriptions. more answers all other requests.
func library(more func(c call) string) func(c call) string {
	return func(c call) string {
		switch c.method {
		case methodResources:
			return `"result":{"resources":[{"uri":"file:///motd"},{"uri":7},{"uri":"event://no"},{"uri":"db://t/1"}]}`
		case methodTemplates:
			return `"result":{"resourceTemplates":[{"uriTemplate":"db://t/{id}"}]}`
		case methodSubscribe, methodUnsubscribe:
			return `"result":{}`
		}
		if more != nil {
			return more(c)
		}
		return notFound
	}
}

func watchStream(t *testing.T, d Dialect, args string) (Stream, *recorder) {
	t.Helper()
	r := newRecorder(t)
	s, err := d.Stream(background(t), wire.StreamRequest{Name: trust.Untrusted(ResourceUpdated), Arguments: json.RawMessage(args)}, r.sink)
	if err != nil {
		t.Fatal(err)
	}
	r.next(wire.NoteActive)
	return s, r
}

func TestPlainResourcesAreOneType(t *testing.T) {
	d, _ := newPeer(t, updatesCapabilities, library(nil)).connect(Options{})
	types, skipped, err := d.List(background(t))
	if err != nil || skipped.Count != 0 || len(types) != 1 {
		t.Fatalf("types %v, %d bad, %v", typeNames(types), skipped.Count, err)
	}
	typ := types[0]
	if typ.Name.Raw() != ResourceUpdated || !typ.Cursorless || typ.Dialect != ResourceUpdates || len(typ.Modes) != 1 || !typ.Offers(event.ModePush) {
		t.Errorf("the type is %+v", typ)
	}
	if !strings.Contains(string(typ.InputSchema), `"examples":["file:///motd","db://t/1"]`) || !strings.Contains(string(typ.InputSchema), `db://t/{id}`) {
		t.Errorf("the schema suggests nothing: %s", typ.InputSchema)
	}
	if d.Name() != ResourceUpdates {
		t.Errorf("the server is said to speak %q", d.Name())
	}
}

func TestServersThatListNothingStillHaveUpdates(t *testing.T) {
	d, _ := newPeer(t, updatesCapabilities, func(call) string { return notFound }).connect(Options{})
	types, _, err := d.List(background(t))
	if err != nil || len(types) != 1 || !strings.Contains(string(types[0].InputSchema), `"examples":[]`) {
		t.Fatalf("types %v, %v", types, err)
	}
}

func TestPlainResourcesYieldToRicherDialects(t *testing.T) {
	for _, capabilities := range []string{
		resourceCapabilities,
		`{"resources":{"subscribe":false}}`, `{"resources":{}}`,
		`{"resources":{"subscribe":true},"events":{"listChanged":true}}`,
	} {
		d, _ := newPeer(t, capabilities, library(nil)).connect(Options{})
		types, _, _ := d.List(background(t)) // there may be none
		for _, typ := range types {
			if typ.Dialect == ResourceUpdates {
				t.Errorf("%s: %s is offered", capabilities, typ.Name.Raw())
			}
		}
	}
}

func TestPlainUpdatesReachTheirStreams(t *testing.T) {
	p := newPeer(t, updatesCapabilities, library(nil))
	d, _ := p.connect(Options{})
	first, motd := watchStream(t, d, `{"uri":"file:///motd"}`)
	second, again := watchStream(t, d, `{"uri":"file:///motd","read":false}`)
	_, other := watchStream(t, d, `{"uri":"db://t"}`)
	if n := p.count(isMethod(methodSubscribe)); n != 2 {
		t.Errorf("%d subscriptions for two addresses", n)
	}
	p.say(noteUpdated, `{"uri":"file:///elsewhere"}`)
	const update = `{"uri":"file:///motd","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}},"title":"Message"}`
	p.say(noteUpdated, update)
	p.say(noteUpdated, `{"uri":"db://t/1"}`)
	for _, r := range []*recorder{motd, again} {
		e := r.event()
		if string(e.Raw) != update {
			t.Errorf("the exact bytes are %s", e.Raw)
		}
		if string(e.Data) != `{"uri":"file:///motd","title":"Message"}` || e.Name.Raw() != ResourceUpdated || e.EventID.IsZero() {
			t.Errorf("event %+v", e)
		}
	}
	if e := other.event(); string(e.Raw) != `{"uri":"db://t/1"}` {
		t.Errorf("of what lies under it came %s", e.Raw)
	}
	p.say(noteUpdated, `{"uri":"db://t/1","uri":"db://t/2"}`)
	if n := other.next(wire.NoteEvent); n.Refused == nil {
		t.Errorf("a doubtful update was taken: %s", n.Params)
	}
	first.Close()
	_ = done(t, first) // closed by us
	if n := p.count(isMethod(methodUnsubscribe)); n != 0 {
		t.Error("the address was given up while another stream uses it")
	}
	second.Close()
	_ = done(t, second) // closed by us
	p.await("the end", 1, isMethod(methodUnsubscribe))
}

func TestStatelessUpdatesHaveAStreamOfTheirOwn(t *testing.T) {
	ended := make(chan struct{})
	p := newPeer(t, updatesCapabilities, library(func(c call) string {
		if c.method != wire.MethodListen {
			return notFound
		}
		if got := c.param("notifications", "resourceSubscriptions"); got != `["file:///motd"]` {
			t.Errorf("asked for %s", got)
		}
		c.frame(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}`)
		c.frame(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///motd"}}`)
		<-c.r.Context().Done()
		close(ended)
		return ""
	}))
	p.stateless = true
	d, _ := p.connect(Options{})
	s, r := watchStream(t, d, `{"uri":"file:///motd"}`)
	if e := r.event(); string(e.Data) != `{"uri":"file:///motd"}` {
		t.Errorf("event %s", e.Data)
	}
	s.Close()
	_ = done(t, s) // closed by us
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the server still holds the stream")
	}
}

// contentsOf returns contents of n bytes.
func contentsOf(n int) string { return `["` + strings.Repeat("x", n-4) + `"]` }

func TestContentsAreReadAfterAnUpdate(t *testing.T) {
	p := newPeer(t, updatesCapabilities, library(func(c call) string {
		if c.method != methodRead {
			return notFound
		}
		switch c.param("uri") {
		case `"db://t/1"`:
			return `"result":{"contents":[{"uri":"db://t/1","text":"new"}]}`
		case `"db://t/large"`:
			return `"result":{"contents":["` + strings.Repeat("x", maxContents) + `"]}`
		case `"db://t/below"`:
			return `"result":{"contents":` + contentsOf(maxContents-1) + `}`
		case `"db://t/at"`:
			return `"result":{"contents":` + contentsOf(maxContents) + `}`
		case `"db://t/above"`:
			return `"result":{"contents":` + contentsOf(maxContents+1) + `}`
		case `"db://t/odd"`:
			return `"result":{"contents":[{"a":1,"a":2}]}`
		case `"db://t/none"`:
			return `"result":{"contents":7}`
		}
		return notFound
	}))
	d, _ := p.connect(Options{})
	_, r := watchStream(t, d, `{"uri":"db://t","read":true}`)
	for _, c := range []struct{ said, want string }{
		{`{"uri":"db://t/1" }`, `{"uri":"db://t/1","contents":[{"uri":"db://t/1","text":"new"}]}`},
		{`{"uri":"db://t/below"}`, `{"uri":"db://t/below","contents":` + contentsOf(maxContents-1) + `}`},
		{`{"uri":"db://t/at"}`, `{"uri":"db://t/at","contents":` + contentsOf(maxContents) + `}`},
		{`{"uri":"db://t/above"}`, ""}, {`{"uri":"db://t/large"}`, ""}, {`{"uri":"db://t/odd"}`, ""}, {`{"uri":"db://t/none"}`, ""}, {`{"uri":"db://t/gone"}`, ""},
		{`{"uri":"db://t/1","contents":1}`, ""},
	} {
		if c.want == "" {
			c.want = c.said
		}
		p.say(noteUpdated, c.said)
		if e := r.event(); string(e.Data) != c.want || string(e.Raw) != c.want {
			t.Errorf("%s became %s", c.said, e.Data)
		}
	}
}

func TestUpdatesThatWaitForContentsAreNotLost(t *testing.T) {
	reading, release := make(chan struct{}, 1000), make(chan struct{})
	p := newPeer(t, updatesCapabilities, library(func(c call) string {
		if c.method != methodRead {
			return notFound
		}
		reading <- struct{}{}
		select {
		case <-release:
		case <-c.r.Context().Done():
		}
		return notFound
	}))
	d, s := p.connect(Options{})
	stream, r := watchStream(t, d, `{"uri":"db://t","read":true}`)
	p.say(noteUpdated, `{"uri":"db://t/0"}`)
	<-reading
	for range maxBuffered { // the last one exceeds the queue
		p.say(noteUpdated, `{"uri":"db://t/1"}`)
	}
	if e := r.event(); string(e.Data) != `{"uri":"db://t/1"}` {
		t.Fatalf("beyond the bound came %s", e.Data)
	}
	go s.Close()
	_ = done(t, stream) // closed with its session
	close(release)
	if n := len(r.notes); n != maxBuffered {
		t.Errorf("%d updates came at the end, want %d", n, maxBuffered)
	}
}

func TestWatchesAreCheckedBeforeAnythingIsSent(t *testing.T) {
	p := newPeer(t, updatesCapabilities, library(nil))
	d, _ := p.connect(Options{})
	before := p.count(func(call) bool { return true })
	for _, c := range []struct{ args, wrong string }{
		{`{}`, "not a complete address"}, {`{"uri":"motd"}`, "not a complete address"}, {`{"uri":":"}`, "not a complete address"},
		{`{"uri":7}`, "must be a string"}, {`{"uri":"a:b","raed":true}`, "nothing else"},
		{`{"uri":"event://all"}`, SEP1803}, {`{"uri":"subscription://1"}`, SEP1803},
	} {
		err := KindOf(ResourceUpdates).Check(event.Type{}, json.RawMessage(c.args), time.Now())
		if err == nil || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: got %v, want %q", c.args, err, c.wrong)
		}
		_, err = d.Stream(background(t), wire.StreamRequest{Name: trust.Untrusted(ResourceUpdated), Arguments: json.RawMessage(c.args)}, func(wire.Note) {})
		mustBe(t, err, ErrArguments)
	}
	if after := p.count(func(call) bool { return true }); after != before {
		t.Errorf("%d requests were sent", after-before)
	}
	if err := KindOf(ResourceUpdates).Check(event.Type{}, json.RawMessage(`{"uri":"file:///motd","read":true}`), time.Now()); err != nil {
		t.Error(err)
	}
}

func TestUpdatesArePreviewed(t *testing.T) {
	d, _ := newPeer(t, updatesCapabilities, library(nil)).connect(Options{})
	method, params, err := d.(Previewer).Preview(wire.StreamRequest{Name: trust.Untrusted(ResourceUpdated), Arguments: json.RawMessage(`{"uri":"file:///motd"}`)})
	if err != nil || method != methodSubscribe || string(params) != `{"uri":"file:///motd"}` {
		t.Errorf("%s %s, %v", method, params, err)
	}
	_, _, err = d.(Previewer).Preview(wire.PollRequest{Name: trust.Untrusted(ResourceUpdated)})
	mustBe(t, err, ErrNoPreview)
}
