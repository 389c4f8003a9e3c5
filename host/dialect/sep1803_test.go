package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

const resourceCapabilities = `{"resources":{"events":true,"subscribe":true,"subscription":["notification","webhook"]}}`

// shelf is a server of SEP-1803 with one type, one template and bad descriptors. more
// answers all other requests.
func shelf(more func(c call) string) func(c call) string {
	return func(c call) string {
		switch c.method {
		case methodResources:
			return `"result":{"resources":[
				{"uri":"event://all","name":"Everything","description":"d","_meta":{"eventSchema":{"type":"object"}}},
				{"uri":"file:///x","name":"no event"},{"uri":7},{"name":"without"},
				{"uri":"subscription://1","name":"a subscription"}]}`
		case methodTemplates:
			return `"result":{"resourceTemplates":[
				{"uriTemplate":"event://repo/{name}{?branch}","title":"Repository","_meta":{"webhookType":"repo.pushed","eventSchema":7,
				 "paramsSchema":{"type":"object","properties":{"name":{"type":"string"},"branch":{"type":"string"}},"required":["name"]}}},
				{"uriTemplate":"event://bad/{"}]}`
		}
		if more != nil {
			return more(c)
		}
		return notFound
	}
}

func TestResourceCapabilitiesDecideTheModes(t *testing.T) {
	for capability, want := range map[string]string{
		`{"events":true,"subscribe":true}`:                       "push",
		`{"events":true,"subscription":["webhook"]}`:             "webhook",
		`{"events":true,"subscription":["notification"]}`:        "push",
		`{"subscribe":true,"subscription":["webhook","pigeon"]}`: "push webhook",
		`{"events":true}`: "",
		`{"events":true,"subscribe":"yes","subscription":"webhook"}`:     "",
		`{"events":"yes","subscribe":true,"subscription":["webhook",7]}`: "push webhook",
	} {
		d, _ := newPeer(t, `{"resources":`+capability+`}`, shelf(nil)).connect(Options{})
		types, _, err := d.List(background(t))
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		for _, listed := range types {
			if listed.Dialect == SEP1803 {
				got = strings.Join(modeNames(listed.Modes), " ")
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", capability, got, want)
		}
	}
}

func modeNames(modes []event.Mode) (names []string) {
	for _, m := range modes {
		names = append(names, string(m))
	}
	return names
}

func TestResourcesAndTemplatesAreListedAsTypes(t *testing.T) {
	d, _ := newPeer(t, resourceCapabilities, shelf(nil)).connect(Options{})
	types, skipped, err := d.List(background(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(typeNames(types), " "); got != "event://all event://repo/{name}{?branch}" || skipped.Count != 3 {
		t.Fatalf("types %s, %d skipped, want two and 3", got, skipped.Count)
	}
	if why := strings.Join(skipped.Why, "\n"); !strings.Contains(why, "resources/list, descriptor 3: a descriptor without uri") || !strings.Contains(why, "resources/templates/list, descriptor 2: not a template of RFC 6570") {
		t.Errorf("told %q", skipped.Why)
	}
	all, repo := types[0], types[1]
	if !all.Offers(event.ModePush) || !all.Offers(event.ModeWebhook) || !all.Cursorless || all.Dialect != SEP1803 {
		t.Errorf("modes %v, cursorless %v, dialect %q", all.Modes, all.Cursorless, all.Dialect)
	}
	if string(all.PayloadSchema) != `{"type":"object"}` || repo.PayloadSchema != nil || repo.Title.Raw() != "Repository" {
		t.Errorf("payload schemas %s and %s, title %v", all.PayloadSchema, repo.PayloadSchema, repo.Title)
	}
	if !strings.Contains(string(repo.InputSchema), `"branch"`) || !strings.Contains(string(all.InputSchema), `"additionalProperties":false`) {
		t.Errorf("input schemas %s and %s", repo.InputSchema, all.InputSchema)
	}
	if d.Name() != SEP1803 {
		t.Errorf("the server is said to speak %q", d.Name())
	}
}

func TestTemplateArgumentsAreCheckedBeforeAnythingIsSent(t *testing.T) {
	schema := json.RawMessage(`{"required":["name"]}`)
	for _, c := range []struct{ name, schema, args, want, wrong string }{
		{"event://repo/{name}{?branch}", string(schema), `{"name":"a b"}`, "event://repo/a%20b", ""},
		{"event://repo/{name}{?branch}", string(schema), `{"name":"a","branch":"x"}`, "event://repo/a?branch=x", ""},
		{"event://repo/{name}{?branch}", string(schema), `{"branch":"x"}`, "", "name is needed"},
		{"event://repo/{name}{?branch}", "", `{"name":"a"}`, "", "branch is needed"},
		{"event://repo/{name}", "", `{"nme":"a"}`, "", "nme is not a variable"},
		{"event://repo/{name}", "", `{"name":""}`, "", "empty"},
		{"event://repo/{name}", "", `{"name":null}`, "", "must be a text"},
		{"event://repo/{/list*}", "", `{"list":["a","b"]}`, "event://repo//a/b", ""},
		{"event://n/{n}", "", `{"n":5}`, "event://n/5", ""},
		{"event://q{?m*}", "", `{"m":{"b":"2","a":1}}`, "event://q?a=1&b=2", ""},
		{"event://all", "", `{}`, "event://all", ""},
		{"event://as{it stands", "", `{}`, "event://as{it stands", ""},
	} {
		kind := KindOf(SEP1803)
		err := kind.Check(event.Type{Name: trust.Untrusted(c.name), InputSchema: json.RawMessage(c.schema)}, json.RawMessage(c.args), time.Now())
		if c.wrong != "" {
			if !errors.Is(err, ErrArguments) || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s %s: got %v, want %q", c.name, c.args, err, c.wrong)
			}
			continue
		}
		got, expandErr := expand(c.name, json.RawMessage(c.args))
		if err != nil || expandErr != nil || got != c.want {
			t.Errorf("%s %s: got %q, %v, %v, want %q", c.name, c.args, got, err, expandErr, c.want)
		}
	}
}

func TestUpdatesReachTheirStreams(t *testing.T) {
	p := newPeer(t, resourceCapabilities, shelf(func(c call) string {
		switch c.method {
		case methodSubscribe, methodUnsubscribe:
			return `"result":{}`
		}
		return notFound
	}))
	d, _ := p.connect(Options{})
	ctx := background(t)
	repo, all := newRecorder(t), newRecorder(t)
	template := trust.Untrusted("event://repo/{name}{?branch}")
	open := func(name trust.Text, args string, r *recorder) Stream {
		s, err := d.Stream(ctx, wire.StreamRequest{Name: name, Arguments: json.RawMessage(args)}, r.sink)
		if err != nil {
			t.Fatal(err)
		}
		r.next(wire.NoteActive)
		return s
	}
	first := open(template, `{"name":"a"}`, repo)
	second := open(template, `{"name":"a"}`, all)
	if n := p.count(isMethod(methodSubscribe)); n != 1 {
		t.Errorf("the address was subscribed to %d times", n)
	}
	p.say(noteUpdated, `{"uri":"event://repo/ab","payload":{"n":0}}`)
	p.say(noteUpdated, `{"uri":"file:///repo/a","payload":{"n":0}}`)
	p.say(noteUpdated, `{"uri":"event://repo/a/pull/1", "payload":{"n":1}}`)
	p.say(noteUpdated, `{"uri":"event://repo/a","uri":"event://repo/a"}`)
	p.say(noteUpdated, `{"uri":"event://repo/a"}`)
	for _, r := range []*recorder{repo, all} {
		e := r.event()
		if string(e.Data) != `{"n":1}` || e.Name.Raw() != "event://repo/a/pull/1" || e.EventID.IsZero() || !strings.Contains(string(e.Raw), `"uri":"event://repo/a/pull/1", `) {
			t.Errorf("event %+v, raw %s", e, e.Raw)
		}
		if n := r.next(wire.NoteEvent); n.Refused == nil {
			t.Errorf("doubled keys were taken: %s", n.Params)
		}
		if e := r.event(); e.Data != nil {
			t.Errorf("an update without payload has data %s", e.Data)
		}
	}
	first.Close()
	done(t, first)
	if p.count(isMethod(methodUnsubscribe)) != 0 {
		t.Error("unsubscribed while another stream listens")
	}
	second.Close()
	done(t, second)
	p.await("the unsubscribe", 1, isMethod(methodUnsubscribe))
}

func TestARefusedAddressIsNotHeld(t *testing.T) {
	refuse := true
	p := newPeer(t, resourceCapabilities, shelf(func(c call) string {
		if c.method == methodSubscribe && refuse {
			return `"error":{"code":-32002,"message":"no such resource"}`
		}
		return `"result":{}`
	}))
	d, _ := p.connect(Options{})
	r := newRecorder(t)
	q := wire.StreamRequest{Name: trust.Untrusted("event://all")}
	if _, err := d.Stream(background(t), q, r.sink); wire.NameFrom(err) == "" {
		t.Fatalf("got %v, want the server's error", err)
	}
	refuse = false
	s, err := d.Stream(background(t), q, r.sink)
	if err != nil {
		t.Fatal(err)
	}
	r.next(wire.NoteActive)
	s.Close()
	done(t, s)
}

func TestPauseOfTheGeneralStreamIsReported(t *testing.T) {
	p := newPeer(t, resourceCapabilities, shelf(func(call) string { return `"result":{}` }))
	d, _ := p.connect(Options{})
	r := newRecorder(t)
	if _, err := d.Stream(background(t), wire.StreamRequest{Name: trust.Untrusted("event://all")}, r.sink); err != nil {
		t.Fatal(err)
	}
	r.next(wire.NoteActive)
	p.hangUp()
	r.next(wire.NoteInterrupt)
	p.say(noteUpdated, `{"uri":"event://all","payload":1}`)
	if e := r.event(); string(e.Data) != "1" {
		t.Errorf("data %s", e.Data)
	}
}

func TestPingResponsesAreHeartbeats(t *testing.T) {
	p := newPeer(t, resourceCapabilities, shelf(func(call) string { return `"result":{}` }))
	d, s := p.connect(Options{Pulse: 5 * time.Millisecond})
	r := newRecorder(t)
	stream, err := d.Stream(background(t), wire.StreamRequest{Name: trust.Untrusted("event://all")}, r.sink)
	if err != nil {
		t.Fatal(err)
	}
	r.next(wire.NoteActive)
	if n := r.next(wire.NoteHeartbeat); !n.Apart {
		t.Error("an answer counts for the general stream, which may be dead")
	}
	p.await("a ping", 2, isMethod("ping"))
	if stream.LastByte().IsZero() {
		t.Error("the last sign of life is not known")
	}
	s.Close()
	mustBe(t, done(t, stream), session.ErrClosed)
}

func TestStatelessSubscriptionHasAStreamOfItsOwn(t *testing.T) {
	p := newPeer(t, resourceCapabilities, nil)
	p.stateless = true
	end := make(chan struct{})
	p.answer = func(c call) string {
		if c.method != wire.MethodListen {
			return notFound
		}
		route := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`, c.id)
		c.frame(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + route + `}}`)
		c.frame(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"event://all/1","payload":{"n":1},` + route + `}}`)
		c.frame(`{"jsonrpc":"2.0",oops`)
		<-end
		return `"result":{}`
	}
	d, _ := p.connect(Options{})
	r := newRecorder(t)
	s, err := d.Stream(background(t), wire.StreamRequest{Name: trust.Untrusted("event://all")}, r.sink)
	if err != nil {
		t.Fatal(err)
	}
	r.next(wire.NoteActive)
	if e := r.event(); string(e.Data) != `{"n":1}` {
		t.Errorf("data %s", e.Data)
	}
	r.next(wire.NoteSkipped)
	c := p.await("the listen", 1, isMethod(wire.MethodListen))
	if got := c.param("notifications", "resourceSubscriptions"); got != `["event://all"]` {
		t.Errorf("listens to %s", got)
	}
	close(end)
	if err := done(t, s); err != nil {
		t.Errorf("an ordinary end is %v", err)
	}
}

// A malformed registration is refused, and hides only itself.
func TestMalformedRegistrationsAreRefused(t *testing.T) {
	p := newPeer(t, resourceCapabilities, func(c call) string {
		switch c.method {
		case methodResources:
			return `"result":{"resources":[null,7,{},{"uri":7},{"uri":"subscription://1","_meta":7,"targetUri":"https://h/y"}]}`
		case methodRegister:
			return `"result":{"subscription":null}`
		}
		return notFound
	})
	d, _ := p.connect(Options{})
	if held, err := d.(Lister).Remote(background(t)); err != nil || len(held) != 1 {
		t.Errorf("%+v, %v", held, err)
	}
	_, err := d.Subscribe(background(t), wire.SubscribeRequest{Name: trust.Untrusted("event://all"), URL: "https://h/x"})
	mustBe(t, err, wire.ErrMalformed)
}

// A server without a stream for notifications would look alive for ever.
func TestServerWithoutNotificationStreamIsNotAlive(t *testing.T) {
	for name, capabilities := range map[string]string{"resources": resourceCapabilities, "tools": filterCapabilities} {
		k := newDesk()
		p := newPeer(t, capabilities, func(c call) string {
			if c.method == "tools/call" || c.method == "tools/list" {
				return k.answer(c)
			}
			return `"result":{}`
		})
		p.mute = make(chan struct{})
		d, _ := p.connect(Options{Pulse: time.Millisecond})
		q := wire.StreamRequest{Name: trust.Untrusted("event://all")}
		if name == "tools" {
			q = filteredRequest(`{}`)
		}
		s, err := d.Stream(background(t), q, newRecorder(t).sink)
		if err != nil {
			t.Fatal(err)
		}
		close(p.mute)
		mustBe(t, done(t, s), session.ErrNotListening)
		_, err = d.Stream(background(t), q, newRecorder(t).sink)
		mustBe(t, err, session.ErrNotListening)
	}
}

func FuzzResourceMessages(f *testing.F) {
	f.Add([]byte(`null`))
	f.Add([]byte(`{"uri":"event://a","payload":{}}`))
	f.Add([]byte(`{"uri":"subscription://a","_meta":{"webhookSecret":{"type":"raw","value":"x"}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if u, err := readUpdate(raw); err == nil && u.uri.IsZero() {
			t.Error("an update without an address was taken")
		}
		if g, err := readRegistration(raw); err == nil && g.uri.IsZero() {
			t.Error("a registration without an address was taken")
		}
		if g, err := readGiven(raw); err == nil && g.Type == "standard" {
			if _, err := event.NewSecret(g.Text).WebhookKey(); err != nil {
				t.Error(err)
			}
		}
		if o, err := readResourceDelivery(raw, trust.Text{}, time.Time{}); err == nil && (o.EventID.IsZero() || o.Data == nil) {
			t.Errorf("%+v", o)
		}
	})
}

func FuzzTemplates(f *testing.F) {
	f.Add("event://a/{b}", `{"b":"c"}`)
	f.Add("event://a{?b*}", `{"b":["c"]}`)
	f.Fuzz(func(t *testing.T, name, args string) {
		if where, err := expand(name, json.RawMessage(args)); err == nil && where != name && !strings.HasPrefix(where, eventScheme) {
			t.Errorf("%q", where)
		}
	})
}

func TestPreviewsShowWhatIsSent(t *testing.T) {
	name := trust.Untrusted("event://repo/{name}")
	args := json.RawMessage(`{"name":"a"}`)
	push, hook := wire.StreamRequest{Name: name, Arguments: args}, wire.SubscribeRequest{Name: name, Arguments: args, URL: "https://h/x", Secret: "never sent"}
	for _, c := range []struct {
		stateless bool
		request   any
		want      string
	}{
		{false, push, `resources/subscribe {"uri":"event://repo/a"}`},
		{true, push, `subscriptions/listen {"notifications":{"resourceSubscriptions":["event://repo/a"]}}`},
		{false, hook, `resources/subscriptions/register {"targetUri":"https://h/x","uris":["event://repo/a"]}`},
		{false, wire.PollRequest{Name: name}, ""},
		{false, wire.StreamRequest{Name: name, Arguments: json.RawMessage(`{"other":1}`)}, ""},
	} {
		p := newPeer(t, resourceCapabilities, shelf(nil))
		p.stateless = c.stateless
		d, _ := p.connect(Options{})
		method, params, err := d.(Previewer).Preview(c.request)
		if c.want == "" && err == nil || c.want != "" && (err != nil || method+" "+string(params) != c.want) {
			t.Errorf("%T: %s %s, %v, want %s", c.request, method, params, err, c.want)
		}
	}
}
