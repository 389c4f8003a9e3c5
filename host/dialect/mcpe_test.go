package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

const filterCapabilities = `{"tools":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime","cron","scheduled","smoke"],
	"features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}`

const toolList3 = `"result":{"tools":[{"name":"other"},{"name":"events_subscribe"},{"name":"events_list"}]}`

// desk is a server of MCPE that keeps subscriptions.
type desk struct {
	mu     sync.Mutex
	next   int
	subs   map[string]map[string]json.RawMessage // by id: the members of the subscription
	text   bool                                  // answers with JSON in a text block
	before func(id string)                       // called before the response to events_subscribe
	fail   map[string]string                     // failing tools, with their messages
}

func newDesk() *desk {
	return &desk{subs: map[string]map[string]json.RawMessage{}, fail: map[string]string{}}
}

func (k *desk) result(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return notFound
	}
	if !k.text {
		return `"result":{"structuredContent":` + string(raw) + `,"content":[]}`
	}
	quoted, _ := json.Marshal(string(raw))
	return `"result":{"content":[{"type":"text","text":"Done."},{"type":"text","text":` + string(quoted) + `}]}`
}

func (k *desk) answer(c call) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c.method == "tools/list" {
		if c.param("cursor") == "" {
			return `"result":{"tools":[{"name":"other"}],"nextCursor":"2"}`
		}
		return toolList3
	}
	if c.method != "tools/call" {
		return notFound
	}
	if words, ok := k.fail[c.tool()]; ok {
		return fmt.Sprintf(`"result":{"isError":true,"content":[{"type":"text","text":%q}]}`, words)
	}
	id := strings.Trim(c.param("arguments", "subscriptionId"), `"`)
	sub := k.subs[id]
	switch c.tool() {
	case wire.ToolSubscribe:
		k.next++
		id = fmt.Sprintf("s%d", k.next)
		if err := json.Unmarshal([]byte(c.param("arguments")), &sub); err != nil {
			return notFound
		}
		sub["subscriptionId"], sub["status"] = json.RawMessage(`"`+id+`"`), json.RawMessage(`"active"`)
		k.subs[id] = sub
		if k.before != nil {
			k.before(id)
		}
		return k.result(sub)
	case wire.ToolList:
		var all []any
		for _, s := range k.subs {
			all = append(all, s)
		}
		return k.result(map[string]any{"subscriptions": all})
	case wire.ToolUnsubscribe:
		delete(k.subs, id)
	case wire.ToolPause:
		sub["status"] = json.RawMessage(`"paused"`)
	case wire.ToolResume:
		sub["status"] = json.RawMessage(`"active"`)
	case wire.ToolUpdate:
		for _, key := range []string{"filter", "delivery", "expiresAt"} {
			if raw := c.param("arguments", key); raw != "" {
				sub[key] = json.RawMessage(raw)
			}
		}
	}
	return `"result":{"content":[{"type":"text","text":"done"}]}`
}

func (k *desk) status(id string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Trim(string(k.subs[id]["status"]), `"`)
}

func filteredRequest(args string) wire.StreamRequest {
	return wire.StreamRequest{Name: trust.Untrusted(FilteredStream), Arguments: json.RawMessage(args)}
}

func openFiltered(t *testing.T, d Dialect, q wire.StreamRequest) (Stream, *recorder, string) {
	t.Helper()
	r := newRecorder(t)
	s, err := d.Stream(background(t), q, r.sink)
	if err != nil {
		t.Fatal(err)
	}
	return s, r, r.next(wire.NoteActive).ServerID.Raw()
}

func TestMCPEIsDistinguishedFromTheSketch(t *testing.T) {
	for capabilities, want := range map[string]string{
		`{"tools":{},"events":{"maxSubscriptions":1}}`:                               "MCPE",
		`{"tools":{},"events":{"features":{}}}`:                                      "MCPE",
		`{"tools":{},"events":{}}`:                                                   "MCPE", // only tools/list can tell
		`{"tools":{},"events":true}`:                                                 "MCPE",
		`{"tools":{},"events":{"listChanged":false}}`:                                "sketch",
		`{"events":{}}`:                                                              "sketch",
		`{"tools":{},"events":{"listChanged":true,"deliveryChannels":["realtime"]}}`: "sketch + MCPE",
	} {
		p := newPeer(t, capabilities, func(c call) string {
			switch {
			case c.method == wire.MethodList && strings.Contains(want, "sketch"):
				return `"result":{"events":[{"name":"a","delivery":["poll"]}]}`
			case c.method == "tools/list" && strings.Contains(want, "MCPE"):
				return toolList3
			}
			return notFound
		})
		d, _ := p.connect(Options{})
		types, skipped, err := d.List(background(t))
		if err != nil || skipped.Count != 0 || d.Name() != want {
			t.Errorf("%s: %v, %d skipped, %q, %v", capabilities, typeNames(types), skipped.Count, d.Name(), err)
		}
		filtered := slices.Contains(typeNames(types), FilteredStream)
		if filtered != strings.Contains(want, "MCPE") {
			t.Errorf("%s: types %v", capabilities, typeNames(types))
		}
	}
}

func TestTypeWhoseNameAnotherDialectOwnsIsReported(t *testing.T) {
	p := newPeer(t, filterCapabilities, func(c call) string {
		if c.method == wire.MethodList {
			return `"result":{"events":[{"name":"filtered-stream"},{"name":"a"}]}`
		}
		return toolList3
	})
	d, _ := p.connect(Options{})
	types, skipped, err := d.List(background(t))
	if err != nil || skipped.Count != 1 || strings.Join(typeNames(types), " ") != "a filtered-stream" {
		t.Fatalf("%v, %d skipped, %v", typeNames(types), skipped.Count, err)
	}
	if len(skipped.Why) != 1 || !strings.HasPrefix(skipped.Why[0], "filtered-stream of ") || !strings.HasSuffix(skipped.Why[0], ": another dialect of the server has the name") {
		t.Errorf("told %q", skipped.Why)
	}
	for _, ty := range types {
		if ty.Name.Raw() == FilteredStream && ty.Dialect != MCPE {
			t.Error("the name went to the dialect that does not own it")
		}
	}
}

func TestFilteredStreamOffersWhatTheServerSupports(t *testing.T) {
	k := newDesk()
	d, _ := newPeer(t, filterCapabilities, k.answer).connect(Options{})
	types, _, err := d.List(background(t))
	if err != nil || len(types) != 1 {
		t.Fatalf("%v, %v", types, err)
	}
	ty := types[0]
	if !ty.Cursorless || ty.Dialect != MCPE || !slices.Equal(ty.Modes, []event.Mode{event.ModePush}) || !strings.Contains(ty.Description.Raw(), "at most 3") {
		t.Errorf("%+v", ty)
	}
	for _, want := range []string{`"enum":["realtime","cron","scheduled"]`, `"default":["realtime"]`, `"cronExpression"`, `"deliverAt"`, `"serverSideHandler"`} {
		if !strings.Contains(string(ty.InputSchema), want) {
			t.Errorf("the schema has no %s: %s", want, ty.InputSchema)
		}
	}
	less := filterAbilitiesOf(session.Info{Raw: json.RawMessage(`{"capabilities":{"events":{"deliveryChannels":["realtime","cron"],"features":{"cronSchedule":false}}}}`)})
	if less.pause || less.wildcards || !slices.Equal(less.channels, []string{"realtime"}) {
		t.Errorf("%+v", less)
	}
	if s := string(less.schema()); strings.Contains(s, "cronExpression") || !strings.Contains(s, `[^*]`) {
		t.Errorf("the schema offers what the server cannot: %s", s)
	}
}

func TestFilteredEventsAreReadWithTheirLabels(t *testing.T) {
	k := newDesk()
	p := newPeer(t, filterCapabilities, k.answer)
	// An event of the subscription comes before the response with its id.
	k.before = func(id string) {
		p.say("events/event", `{"subscriptionId":"`+id+`","event":{"id":"e0","type":"a.b","data":{}}}`)
		p.say("events/event", `{"subscriptionId":"other","event":{"id":"no","type":"a.b","data":{}}}`)
	}
	d, _ := p.connect(Options{})
	s, r, id := openFiltered(t, d, filteredRequest(`{"eventTypes":["github.*"],"tags":["ci"],"priority":["high"]}`))
	c := p.await("the subscribe", 1, isTool(wire.ToolSubscribe))
	if got := c.param("arguments"); got != `{"filter":{"eventTypes":["github.*"],"tags":["ci"],"priority":["high"]},"delivery":{"channels":["realtime"]}}` {
		t.Errorf("asked for %s", got)
	}
	if e := r.event(); e.EventID.Raw() != "e0" {
		t.Errorf("the early event is %+v", e)
	}
	raw := `{"id":"e1","type":"github.issue.opened", "data":{"z":1,"a":2},"metadata":{"timestamp":"2025-01-15T10:30:00Z","priority":"high","tags":["bug","frontend"],"sourceEventId":"up-1"}}`
	p.say("notifications/events/event", `{"subscriptionId":"`+id+`","event":`+raw+`}`)
	e := r.event()
	if e.EventID.Raw() != "e1" || e.Name.Raw() != "github.issue.opened" || string(e.Data) != `{"z":1,"a":2}` || string(e.Raw) != raw ||
		e.Priority.Raw() != "high" || len(e.Tags) != 2 || e.Timestamp.Raw() != "2025-01-15T10:30:00Z" || !e.Batch.IsZero() || !strings.HasSuffix(string(e.Meta), `"sourceEventId":"up-1"}`) {
		t.Errorf("%+v", e)
	}
	p.say("events/batch", `{"subscriptionId":"`+id+`","events":[{"id":"e2","type":"x"},{"id":"e3","id":"e3"},{"type":"x"}]}`)
	b1 := r.event()
	if n := r.next(wire.NoteEvent); n.Refused == nil {
		t.Errorf("doubled keys were taken: %s", n.Params)
	}
	b2 := r.event()
	if b1.Batch.IsZero() || b1.Batch != b2.Batch || b2.EventID.IsZero() {
		t.Errorf("batch %+v and %+v", b1, b2)
	}
	p.say("events/event", `{"subscriptionId":"`+id+`"}`)
	if n := r.next(wire.NoteEvent); n.Refused == nil {
		t.Error("an event without one was taken")
	}
	p.say("events/subscription_expired", `{"subscriptionId":"`+id+`"}`)
	if n := r.next(wire.NoteTerminated); !strings.Contains(wire.DecodeFault(n.Params).Error(), "expired") {
		t.Errorf("ended with %s", n.Params)
	}
	s.Close()
	done(t, s)
	p.say("events/event", `{"subscriptionId":"`+id+`","event":{"id":"late"}}`)
	if k.status(id) != "active" {
		t.Error("the end of the stream ended the subscription")
	}
}

func TestSubscriptionsAreAdopted(t *testing.T) {
	for _, text := range []bool{false, true} {
		k := newDesk()
		k.text = text
		p := newPeer(t, filterCapabilities, k.answer)
		d, _ := p.connect(Options{})
		q := filteredRequest(`{"eventTypes":["a.*"]}`)
		s, _, id := openFiltered(t, d, q)
		if err := d.Pause(background(t), wire.UnsubscribeRequest{Name: q.Name, Held: trust.Untrusted(id)}); err != nil || k.status(id) != "paused" {
			t.Errorf("paused: %v, %s", err, k.status(id))
		}
		s.Close()
		done(t, s)
		// Found by the id that was held, and resumed.
		q.Held = trust.Untrusted(id)
		s, _, again := openFiltered(t, d, q)
		if again != id || k.status(id) != "active" {
			t.Errorf("got %s (%s), want %s", again, k.status(again), id)
		}
		// A second stream for the same request does not take it over.
		q.Held = trust.Text{}
		other, _, second := openFiltered(t, d, q)
		if second == id {
			t.Error("one subscription has two streams")
		}
		s.Close()
		done(t, s)
		other.Close()
		done(t, other)
		// Found by its request.
		s, _, found := openFiltered(t, d, q)
		if found != id && found != second {
			t.Errorf("a third was made: %s", found)
		}
		s.Close()
		done(t, s)
		// Changed by another client, and restored.
		k.mu.Lock()
		k.subs[id]["filter"] = json.RawMessage(`{"eventTypes":["b.*"]}`)
		k.mu.Unlock()
		q.Held = trust.Untrusted(id)
		openFiltered(t, d, q)
		if c := p.await("the update", 1, isTool(wire.ToolUpdate)); c.param("arguments", "filter", "eventTypes") != `["a.*"]` {
			t.Errorf("updated to %s", c.params)
		}
		if n := p.count(isTool(wire.ToolSubscribe)); n != 2 {
			t.Errorf("%d subscriptions were made, want 2", n)
		}
	}
}

func TestFailingTools(t *testing.T) {
	k := newDesk()
	d, _ := newPeer(t, filterCapabilities, k.answer).connect(Options{})
	k.fail[wire.ToolSubscribe], k.fail[wire.ToolList], k.fail[wire.ToolUnsubscribe] = "too many", "broken", "no such subscription"
	if _, err := d.Stream(background(t), filteredRequest(`{}`), func(wire.Note) {}); !errors.Is(err, wire.ErrUnacceptable) || !strings.Contains(err.Error(), "too many") {
		t.Errorf("got %v", err)
	}
	if err := d.Unsubscribe(background(t), wire.UnsubscribeRequest{Name: trust.Untrusted(FilteredStream), Held: trust.Untrusted("x")}); err != nil {
		t.Errorf("one that the server does not know is not over: %v", err)
	}
	for raw, want := range map[string]string{
		`{"resultType":"input_required"}`:                         "asks for input",
		`{"isError":true,"content":[{"type":"text","text":"x"}]}`: "failed: x",
		`{"content":[{"type":"text","text":"fine"}]}`:             "neither",
		`7`: "malformed",
	} {
		if _, err := toolResult("t", json.RawMessage(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", raw, err, want)
		}
	}
}

func TestHeldSubscriptionsAreListed(t *testing.T) {
	k := newDesk()
	p := newPeer(t, filterCapabilities, k.answer)
	d, _ := p.connect(Options{})
	_, _, id := openFiltered(t, d, filteredRequest(`{"eventTypes":["a.*"]}`))
	lister := d.(Lister)
	held, err := lister.Remote(background(t))
	if err != nil || len(held) != 1 || held[0].ID.Raw() != id || held[0].Types[0].Raw() != "a.*" || held[0].Status.Raw() != "active" {
		t.Fatalf("%+v, %v", held, err)
	}
	if err := lister.Release(background(t), held[0].ID); err != nil {
		t.Error(err)
	}
	p.await("the unsubscribe", 1, isTool(wire.ToolUnsubscribe))
}

// Other members that a server keeps with a request may be secret: they are not shown.
func TestHeldRequestsShowNoSecret(t *testing.T) {
	const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	k := readKept([]byte(`{"id":"s1","filter":{"eventTypes":["a.*"],"secret":"` + secret + `"},"delivery":{"channels":["webhook"],
		"webhookSecret":{"value":"` + secret + `"},"headers":{"Authorization":"` + secret + `"}},"handler":{"token":"` + secret + `"},"token":"` + secret + `"}`))
	shown, err := json.Marshal(k.request)
	if err != nil || k.ID != "s1" || strings.Contains(string(shown), "AAECAwQF") {
		t.Errorf("%s, %v", shown, err)
	}
}

func TestArgumentsAreCheckedBeforeAnythingIsSent(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for args, want := range map[string]string{
		`{}`:                                   "",
		`{"eventTypes":["a.b.*"]}`:             "",
		`{"eventTypes":["*"]}`:                 "",
		`{"eventTypes":["a..b"]}`:              "eventTypes",
		`{"eventTypes":["a.b*"]}`:              "whole part",
		`{"priority":["urgent"]}`:              "priority",
		`{"channels":["smoke"]}`:               "channels",
		`{"channels":["cron"]}`:                "cronExpression",
		`{"cronExpression":"x"}`:               "not among channels",
		`{"deliverAt":"x"}`:                    "not among channels",
		`{"handler":{}}`:                       "serverSideHandler",
		`{"unknown":1}`:                        "unknown",
		`{"channels":"realtime"}`:              "channels",
		`{"expiresAt":"tomorrow"}`:             "expiresAt",
		`{"expiresAt":"2020-01-01T00:00:00Z"}`: "is over",
		`{"expiresAt":"2030-01-01T00:00:00Z"}`: "",

		`{"channels":["cron"],"cronExpression":"0 9 * * *"}`:                                         "",
		`{"channels":["cron"],"cronExpression":"0 9 * *"}`:                                           "five",
		`{"channels":["cron"],"cronExpression":"0 0 30 2 *"}`:                                        "never",
		`{"channels":["cron"],"cronExpression":"0 9 * * *","timezone":"Mars"}`:                       "IANA",
		`{"channels":["cron"],"cronExpression":"0 9 * * *","maxEventsPerDelivery":0}`:                "1 or more",
		`{"channels":["scheduled"]}`:                                                                 "deliverAt is needed",
		`{"channels":["scheduled"],"deliverAt":"soon"}`:                                              "no time",
		`{"channels":["scheduled"],"deliverAt":"2020-01-01T00:00:00Z"}`:                              "is over",
		`{"channels":["scheduled"],"deliverAt":"2026-11-20T12:30:00","timezone":"America/New_York"}`: "",
		`{"channels":["scheduled"],"deliverAt":"2026-11-20T12:30:00","timezone":"Asia/Tokyo"}`:       "is over",
		`{"channels":["scheduled"],"deliverAt":"2026-11-20T13:00:00Z","timezone":"Nowhere"}`:         "IANA",
		`{"serverSideHandler":{"type":"bash","command":"true"}}`:                                     "",
		`{"serverSideHandler":{"type":"agent"}}`:                                                     "",
		`{"serverSideHandler":{"type":"webhook","url":"https://h/"}}`:                                "",
		`{"serverSideHandler":{"type":"webhook","url":"http://h/"}}`:                                 "https",
		`{"serverSideHandler":{"type":"bash"}}`:                                                      "command",
		`{"serverSideHandler":{"type":"ftp"}}`:                                                       "bash, agent or webhook",
		`{"serverSideHandler":7}`:                                                                    "object",
	} {
		err := KindOf(MCPE).Check(event.Type{}, json.RawMessage(args), now)
		if want == "" && err != nil || want != "" && (!errors.Is(err, ErrArguments) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", args, err, want)
		}
	}
	if err := KindOf(MCPE).Check(event.Type{InputSchema: json.RawMessage(`{"properties":{"channels":{"default":["cron"]}}}`)}, nil, now); !errors.Is(err, ErrArguments) {
		t.Errorf("a channel that was not chosen is taken: %v", err)
	}
}

func TestRequestForArguments(t *testing.T) {
	w, err := readStreamArgs(json.RawMessage(`{"channels":["cron","scheduled"],"cronExpression":"0 9 * * *","timezone":"UTC","aggregateEvents":true,"maxEventsPerDelivery":5,
		"deliverAt":"2026-12-24T18:00:00Z","description":"d","autoExpire":false,"expiresAt":"2027-01-01T00:00:00Z","serverSideHandler":{"type":"agent"}}`))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(w.request())
	want := `{"filter":{},"delivery":{"channels":["cron","scheduled"],` +
		`"cronSchedule":{"expression":"0 9 * * *","timezone":"UTC","aggregateEvents":true,"maxEventsPerDelivery":5},` +
		`"scheduledDelivery":{"deliverAt":"2026-12-24T18:00:00Z","timezone":"UTC","description":"d","aggregateEvents":true,"autoExpire":false}},` +
		`"handler":{"type":"agent"},"expiresAt":"2027-01-01T00:00:00Z"}`
	if err != nil || string(raw) != want {
		t.Errorf("got  %s\nwant %s\n%v", raw, want, err)
	}
	raw, err = json.Marshal(streamArgs{}.request())
	if err != nil || strings.Contains(string(raw), "handler") {
		t.Errorf("a handler that was not asked for: %s, %v", raw, err)
	}
}

func TestFiringsAreShown(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	firings := KindOf(MCPE).Firings
	for args, want := range map[string]string{
		`{}`: "",
		`{"channels":["cron"],"cronExpression":"0 9 * * *","timezone":"America/New_York"}`:               "2026-11-20T09:00:00-05:00 2026-11-21T09:00:00-05:00 2026-11-22T09:00:00-05:00",
		`{"channels":["scheduled"],"deliverAt":"2026-11-20T13:00:00Z"}`:                                  "2026-11-20T13:00:00Z",
		`{"channels":["cron","scheduled"],"cronExpression":"@daily","deliverAt":"2026-11-21T13:00:00Z"}`: "2026-11-21T00:00:00Z 2026-11-21T13:00:00Z 2026-11-22T00:00:00Z",
		`{"channels":["cron"],"cronExpression":"wrong"}`:                                                 "",
		`7`: "",
	} {
		var got []string
		for _, at := range firings(json.RawMessage(args), now, 3) {
			got = append(got, at.Format(time.RFC3339))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", args, got, want)
		}
	}
}

func FuzzFiltered(f *testing.F) {
	f.Add([]byte(`{"subscriptionId":"s","event":{"id":"e","type":"t","metadata":{"tags":["a"]}}}`))
	f.Add([]byte(`{"subscriptionId":"s","events":[{"id":"e"}]}`))
	f.Add([]byte(`{"channels":["cron"],"cronExpression":"0 9 * * *"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		o := Options{}.withDefaults()
		for _, method := range []string{wire.NoteMCPEEvent, wire.NoteMCPEBatch} {
			for _, n := range translate(method, raw, o) {
				if n.Refused == nil && (n.Event == nil || n.Event.EventID.IsZero()) {
					t.Errorf("%s: %+v", method, n)
				}
			}
		}
		if w, err := readStreamArgs(raw); err == nil && w.check(time.Unix(0, 0)) == nil {
			filteredFirings(raw, time.Unix(0, 0), 3)
		}
		readKept(raw)
		_, _ = toolResult("t", raw) // no response may cause a panic
	})
}

func TestPreviewShowsWhichToolIsCalled(t *testing.T) {
	d, _ := newPeer(t, filterCapabilities, newDesk().answer).connect(Options{})
	p := d.(Previewer)
	method, params, err := p.Preview(filteredRequest(`{"tags":["a"]}`))
	if want := `{"name":"events_subscribe","arguments":{"filter":{"tags":["a"]},"delivery":{"channels":["realtime"]}}}`; err != nil || method != "tools/call" || string(params) != want {
		t.Errorf("%s %s, %v", method, params, err)
	}
	for _, bad := range []any{filteredRequest(`{"handler":{}}`), wire.PollRequest{Name: trust.Untrusted(FilteredStream)}} {
		if _, _, err := p.Preview(bad); err == nil {
			t.Errorf("%T has a preview", bad)
		}
	}
	ctx := background(t)
	_, pollErr := d.Poll(ctx, wire.PollRequest{Name: trust.Untrusted(FilteredStream)})
	_, hookErr := d.Subscribe(ctx, wire.SubscribeRequest{Name: trust.Untrusted(FilteredStream)})
	mustBe(t, pollErr, wire.ErrUnacceptable)
	mustBe(t, hookErr, wire.ErrUnacceptable)
}

// With an empty events capability MCPE stays among the dialects until the tools are listed.
func TestAbsentDialectIsNotAskedForKeptSubscriptions(t *testing.T) {
	p := newPeer(t, `{"events":{},"tools":{}}`, func(c call) string {
		switch c.method {
		case "events/list":
			return `"result":{"events":[{"name":"a","delivery":["push"]}]}`
		case "tools/list":
			return `"result":{"tools":[{"name":"weather"}]}`
		}
		return `"error":{"code":-32602,"message":"unknown tool"}`
	})
	d, _ := p.connect(Options{})
	types, _, err := d.List(background(t))
	if err != nil || len(types) != 1 {
		t.Fatalf("%v, %v", types, err)
	}
	if held, err := d.(Lister).Remote(background(t)); err != nil || len(held) != 0 {
		t.Errorf("got %v, %v", held, err)
	}
}
