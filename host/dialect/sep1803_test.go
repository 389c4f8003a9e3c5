package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

const resourceCapabilities = `{"resources":{"events":true,"subscribe":true,"subscription":["notification","webhook"]}}`

// shelf is a server of SEP-1803 with one type, one template and bad descriptors.
// more answers what it does not.
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
	types, bad, err := d.List(background(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(typeNames(types), " "); got != "event://all event://repo/{name}{?branch}" || bad != 3 {
		t.Fatalf("types %s, %d bad, want two and 3", got, bad)
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
		{"event://repo/{name}", "", `{"nme":"a"}`, "", "nme is no variable"},
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

func TestUpdatesReachTheStreamsTheyAreFor(t *testing.T) {
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

func TestAPauseOfTheGeneralStreamIsTold(t *testing.T) {
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

func TestTheServersAnswerIsTheHeartbeat(t *testing.T) {
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
		if c.method != methodListen {
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
	c := p.await("the listen", 1, isMethod(methodListen))
	if got := c.param("notifications", "resourceSubscriptions"); got != `["event://all"]` {
		t.Errorf("listens to %s", got)
	}
	close(end)
	if err := done(t, s); err != nil {
		t.Errorf("an ordinary end is %v", err)
	}
}

// What cannot be read of a registration is refused, and hides only itself.
func TestRegistrationsThatMakeNoSense(t *testing.T) {
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
	if held, err := d.(Holder).Held(background(t)); err != nil || len(held) != 1 {
		t.Errorf("%+v, %v", held, err)
	}
	_, err := d.Subscribe(background(t), wire.SubscribeRequest{Name: trust.Untrusted("event://all"), URL: "https://h/x"})
	mustBe(t, err, wire.ErrMalformed)
}

// A server that has no stream for what it says unasked would look alive for ever.
func TestAServerThatCannotSpeakUnaskedIsNotAlive(t *testing.T) {
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
		mustBe(t, done(t, s), session.ErrDeaf)
		_, err = d.Stream(background(t), q, newRecorder(t).sink)
		mustBe(t, err, session.ErrDeaf)
	}
}

func TestTheServersSecretInItsThreeForms(t *testing.T) {
	key := "whsec_" + strings.Repeat("QUJD", 8)
	for _, c := range []struct {
		secret string
		allow  bool
		kind   string
		text   string
		wrong  string
	}{
		{`{"type":"standard","key":"` + key + `"}`, false, "standard", key, ""},
		{`{"type":"standard","key":"` + strings.TrimPrefix(key, "whsec_") + `"}`, false, "standard", key, ""},
		{`{"type":"raw","value":"hunter2"}`, false, "raw", "hunter2", ""},
		{`{"type":"none"}`, true, "none", "", ""},
		{`null`, true, "none", "", ""},
		{`{"type":"none"}`, false, "", "", "allowUnsigned"},
		{`null`, false, "", "", "allowUnsigned"},
		{`{"type":"raw","value":""}`, false, "", "", "without a value"},
		{`{"type":"standard"}`, false, "", "", "without a key"},
		{`{"type":"standard","key":"!"}`, false, "", "", "not base64"},
		{`{"type":"standard","key":"AAAA"}`, false, "", "", "24 to 64"},
		{`{"type":"other"}`, false, "", "", "raw, standard or none"},
		{`7`, false, "", "", "not an object"},
	} {
		p := newPeer(t, resourceCapabilities, shelf(func(c2 call) string {
			switch c2.method {
			case methodRegister:
				return `"result":{"subscription":{"uri":"subscription://9","eventUris":["event://all"],"targetUri":"https://h/x","webhookSecret":` + c.secret + `}}`
			case methodRead:
				return `"result":{"contents":[{"text":"{\"targetUri\":\"https://elsewhere/\"}"}]}`
			}
			return `"result":{}`
		}))
		d, _ := p.connect(Options{AllowUnsigned: c.allow})
		res, err := d.Subscribe(background(t), wire.SubscribeRequest{Name: trust.Untrusted("event://all"), URL: "https://h/x"})
		if c.wrong != "" {
			if !errors.Is(err, wire.ErrUnacceptable) || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: got %v, want %q", c.secret, err, c.wrong)
			}
			if got := p.await("the end of the registration", 1, isMethod(methodDeregister)).param("uri"); got != `"subscription://9"` {
				t.Errorf("%s: ended %s", c.secret, got)
			}
			continue
		}
		if err != nil || res.ID.Raw() != "subscription://9" || res.Secret == nil || res.Secret.Type != c.kind || res.Secret.Text != c.text || res.Expires || res.Anew {
			t.Errorf("%s: %+v, secret %+v, %v", c.secret, res, res.Secret, err)
		}
		if got := p.await("the registration", 1, isMethod(methodRegister)); got.param("uris") != `["event://all"]` || got.param("targetUri") != `"https://h/x"` {
			t.Errorf("registered %s", got.params)
		}
	}
}

// registry is a server that keeps registrations, and lists them if visible.
type registry struct {
	mu      sync.Mutex
	visible bool
	next    int
	targets map[string]string
}

func (g *registry) answer(c call) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch c.method {
	case methodResources:
		var list []string
		for uri, target := range g.targets {
			if g.visible {
				list = append(list, fmt.Sprintf(`{"uri":%q,"_meta":{"targetUri":%s,"eventUris":["event://all"]}}`, uri, target))
			}
		}
		return `"result":{"resources":[` + strings.Join(list, ",") + `]}`
	case methodRegister:
		g.next++
		uri := fmt.Sprintf("subscription://%d", g.next)
		g.targets[uri] = c.param("targetUri")
		return fmt.Sprintf(`"result":{"subscription":{"uri":%q,"webhookSecret":{"type":"raw","value":"v%d"}}}`, uri, g.next)
	case methodDeregister:
		delete(g.targets, strings.Trim(c.param("uri"), `"`))
		return `"result":{}`
	}
	return notFound
}

func (g *registry) size() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.targets)
}

func TestARegistrationIsLookedAfterAndNotDoubled(t *testing.T) {
	for _, visible := range []bool{true, false} {
		g := &registry{visible: visible, targets: map[string]string{}}
		p := newPeer(t, resourceCapabilities, g.answer)
		d, _ := p.connect(Options{})
		ctx := background(t)
		q := wire.SubscribeRequest{Name: trust.Untrusted("event://all"), URL: "https://h/x"}
		subscribe := func() wire.SubscribeResult {
			t.Helper()
			res, err := d.Subscribe(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		q.Held = subscribe().ID
		if again := subscribe(); again.ID != q.Held || again.Secret != nil || g.size() != 1 {
			t.Errorf("visible %v: a refresh made %+v, %d are registered", visible, again, g.size())
		}
		// The server forgets, or the host does not know whether it did.
		if visible {
			g.mu.Lock()
			g.targets = map[string]string{"subscription://else": `"https://other/"`}
			g.mu.Unlock()
		} else {
			d, _ = p.connect(Options{})
		}
		if anew := subscribe(); anew.ID == q.Held || !anew.Anew || anew.Secret == nil {
			t.Errorf("visible %v: a forgotten registration was not made anew: %+v", visible, anew)
		}
		if !visible && g.size() != 1 {
			t.Errorf("%d are registered", g.size())
		}
	}
}

func TestARegistrationWhoseSecretWasLostIsReplaced(t *testing.T) {
	g := &registry{visible: true, targets: map[string]string{"subscription://old": `"https://h/x"`, "subscription://else": `"https://other/"`}}
	d, _ := newPeer(t, resourceCapabilities, g.answer).connect(Options{})
	if _, err := d.Subscribe(background(t), wire.SubscribeRequest{Name: trust.Untrusted("event://all"), URL: "https://h/x"}); err != nil {
		t.Fatal(err)
	}
	if g.targets["subscription://old"] != "" || g.targets["subscription://else"] == "" || g.size() != 2 {
		t.Errorf("registered: %v", g.targets)
	}
}

func TestSubscriptionResourcesAreListedAndReleased(t *testing.T) {
	g := &registry{visible: true, targets: map[string]string{"subscription://1": `"https://h/x"`}}
	d, _ := newPeer(t, resourceCapabilities, g.answer).connect(Options{})
	holder, ok := d.(Holder)
	if !ok {
		t.Fatal("the dialects cannot list what is held")
	}
	held, err := holder.Held(background(t))
	if err != nil || len(held) != 1 || held[0].Callback.Raw() != "https://h/x" || len(held[0].Types) != 1 {
		t.Fatalf("held %+v, %v", held, err)
	}
	if err := holder.Release(background(t), held[0].ID); err != nil || g.size() != 0 {
		t.Errorf("released: %v, %d left", err, g.size())
	}
	if err := holder.Release(background(t), held[0].ID); wire.NameFrom(err) != wire.NotFound {
		t.Errorf("released twice: %v", err)
	}
	if err := d.Unsubscribe(background(t), wire.UnsubscribeRequest{Name: trust.Untrusted("event://all")}); err != nil {
		t.Errorf("nothing held, and yet %v", err)
	}
}

func TestADeliveryIsReadAsStandardWebhooksSay(t *testing.T) {
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	read := KindOf(SEP1803).Read
	o, err := read([]byte(`{"type":"repo.pushed","timestamp":"2026-11-01T11:00:00Z","data":{"b":1,"a":2}}`), trust.Untrusted("msg_1"), at)
	if err != nil || o.EventID.Raw() != "msg_1" || o.Name.Raw() != "repo.pushed" || string(o.Data) != `{"b":1,"a":2}` || o.Timestamp.Raw() != "2026-11-01T11:00:00Z" {
		t.Errorf("%+v, %v", o, err)
	}
	o, err = read([]byte(`{"n":1}`), trust.Text{}, at)
	if err != nil || o.EventID.IsZero() || string(o.Data) != `{"n":1}` || o.Timestamp.IsZero() {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := read([]byte(`[]`), trust.Text{}, at); !errors.Is(err, trust.ErrRefused) {
		t.Errorf("a body that is no object: %v", err)
	}
}

func FuzzResourceMessages(f *testing.F) {
	f.Add([]byte(`null`))
	f.Add([]byte(`{"uri":"event://a","payload":{}}`))
	f.Add([]byte(`{"uri":"subscription://a","_meta":{"webhookSecret":{"type":"raw","value":"x"}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if u, err := readUpdate(raw, trust.Limits{}); err == nil && u.uri.IsZero() {
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

func TestPreviewsTellWhatIsSent(t *testing.T) {
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
