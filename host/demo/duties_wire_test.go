package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"eventdeck/host/eventserver"
	"eventdeck/host/mcptest"
	"eventdeck/host/wire"
)

// descriptors lists all types.
func (r *rig) descriptors() (all []map[string]any) {
	r.t.Helper()
	params := map[string]any{}
	for {
		res := r.call(wire.MethodList, params)
		for _, d := range res["events"].([]any) {
			all = append(all, d.(map[string]any))
		}
		if params["cursor"] = res["nextCursor"]; res["nextCursor"] == nil {
			return all
		}
	}
}

// Each descriptor has all of its members, and each mode at most once.
func TestDescriptorsAreComplete(t *testing.T) {
	r := newRig(t, PagerOptions{ServerOptions: ServerOptions{Rate: 1}})
	for _, d := range r.descriptors() {
		text := func(member string) string { s, _ := d[member].(string); return s }
		if text("name") == "" || text("description") == "" {
			t.Errorf("descriptor %v", d)
		}
		seen := map[any]bool{}
		for _, mode := range d["delivery"].([]any) {
			if seen[mode] || mode != "poll" && mode != "push" && mode != "webhook" {
				t.Errorf("%v: mode %v", d["name"], mode)
			}
			seen[mode] = true
		}
		if len(seen) == 0 {
			t.Errorf("%v has no mode", d["name"])
		}
		for _, member := range []string{"inputSchema", "payloadSchema"} {
			if s, ok := d[member].(map[string]any); !ok || s["type"] != "object" {
				t.Errorf("%v: %s is %v", d["name"], member, d[member])
			}
		}
		if meta, has := d["_meta"]; has {
			if _, ok := meta.(map[string]any); !ok {
				t.Errorf("%v: _meta is %v", d["name"], meta)
			}
		}
	}
}

// wantOccurrence checks the members that an occurrence has in every mode. seen holds the ids of
// earlier ones.
func wantOccurrence(t *testing.T, kind *eventType, raw json.RawMessage, seen map[string]bool) {
	t.Helper()
	var o struct {
		EventID, Name string
		Timestamp     time.Time
		Data          map[string]any
	}
	if err := json.Unmarshal(raw, &o); err != nil || o.EventID == "" || seen[o.EventID] || o.Name != kind.name || o.Timestamp.IsZero() || o.Data == nil {
		t.Errorf("occurrence %s of %s: %v", raw, kind.name, err)
	}
	seen[o.EventID] = true
	mcptest.Fits(t, o.EventID, kind.payload, o.Data)
	if len(raw) > 16<<10 {
		t.Errorf("%s has %d bytes", o.EventID, len(raw))
	}
}

// Each occurrence has all of its members, in a poll and on a stream; its data matches the schema
// and is small. The polls are made for one moment of the script's second loop, at which the canary
// runs, so that no type ends between two steps of the test.
func TestOccurrencesAreComplete(t *testing.T) {
	r := newRig(t, PagerOptions{ServerOptions: ServerOptions{Speed: 300, Rate: 200}})
	now := r.pager.start.Add((period + canaryTo - time.Second) / 300)
	for _, kind := range r.pager.types {
		args := map[string]any{}
		if kind.name == "errors.sampled" {
			args["service"] = "search"
		}
		from := sub(kind.name, "arguments", args, "cursor", r.pager.cursor(kind.feed, 0))
		if kind.offers("poll") {
			params, err := json.Marshal(from)
			if err != nil {
				t.Fatal(err)
			}
			result, _, f := r.pager.poll(params, now)
			if f != nil {
				t.Fatalf("%s: %s", kind.name, f.Message)
			}
			seen := map[string]bool{}
			for _, raw := range result["events"].([]json.RawMessage) {
				wantOccurrence(t, kind, raw, seen)
			}
			if len(seen) == 0 {
				t.Errorf("%s: no events", kind.name)
			}
		}
		if kind.offers("push") && kind.lifetime == nil {
			o := r.open(1, wire.MethodStream, from).until(wire.NoteEvent)
			raw, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			wantOccurrence(t, kind, raw, map[string]bool{})
			if _, ok := o["cursor"].(string); !ok {
				t.Errorf("%s: cursor %v", kind.name, o["cursor"])
			}
		}
	}
}

// A poll needs no request before it, and every member of the response has its type.
func TestPollAnswersAreComplete(t *testing.T) {
	r := newRig(t, PagerOptions{ServerOptions: ServerOptions{Rate: 1000}})
	bare := r.call(wire.MethodPoll, map[string]any{"name": "load.tick"}) // no cursor, no arguments
	null := r.call(wire.MethodPoll, sub("load.tick"))
	for _, res := range []map[string]any{bare, null} {
		cursor, _ := res["cursor"].(string)
		pause, isNumber := res["nextPollMs"].(float64)
		if len(res["events"].([]any)) != 0 || cursor == "" || !isNumber || pause <= 0 || res["truncated"] != false || res["hasMore"] != false {
			t.Errorf("from now: %v", res)
		}
	}
	if _, e := r.refuse(wire.MethodPoll, nil); e.Name() != wire.InvalidParams {
		t.Errorf("no name: %v", e)
	}
	r.await(700)
	// hasMore is followed at once, and ends.
	at, got := r.tick(0), 0
	for {
		page := r.call(wire.MethodPoll, sub("load.tick", "cursor", at, "maxEvents", 300))
		n := len(page["events"].([]any))
		if got += n; n > 300 {
			t.Fatalf("%d events, 300 were asked for", n)
		}
		at = page["cursor"].(string)
		if page["hasMore"] != true {
			break
		}
	}
	if got < 700 {
		t.Errorf("%d events", got)
	}
	quiet := sub("incident.changed", "arguments", map[string]any{"minSeverity": "critical"})
	first := r.call(wire.MethodPoll, quiet)["cursor"]
	quiet["cursor"] = first
	if res := r.call(wire.MethodPoll, quiet); len(res["events"].([]any)) == 0 && res["cursor"] == nil {
		t.Errorf("quiet: %v", res)
	}
}

// A truncated response has a cursor from which nothing is truncated.
func TestTruncatedResponseHasAValidCursor(t *testing.T) {
	r, c := hookRig(t, nil)
	r.await(3)
	foreign := []any{"cursor", "r0000000000.7"}
	good := map[string]any{}
	res := r.call(wire.MethodPoll, sub("load.tick", foreign...))
	good["poll"] = res["cursor"]
	s := r.open(1, wire.MethodStream, sub("load.tick", foreign...))
	active := s.until(wire.NoteActive)
	s.end()
	good["push"] = active["cursor"]
	hook := r.call(wire.MethodSubscribe, c.params("load.tick", foreign...))
	good["webhook"] = hook["cursor"]
	for _, told := range []any{res["truncated"], active["truncated"], hook["truncated"]} {
		if told != true {
			t.Errorf("truncated %v", told)
		}
	}
	for mode, cursor := range good {
		if again := r.call(wire.MethodPoll, sub("load.tick", "cursor", cursor)); again["truncated"] != false {
			t.Errorf("%s: the cursor %v is truncated again", mode, cursor)
		}
	}
}

// A type without replay never has a cursor, and is never truncated.
func TestCursorlessTypesAreNeverTruncated(t *testing.T) {
	c := startChat(t, ChatOptions{Speed: 100})
	c.request(1, wire.MethodStream, `{"name":"presence.changed","arguments":{},"cursor":"r1.l0.4"}`)
	_, active := c.until(noteOf(wire.NoteActive))
	if cursor, has := active["cursor"]; !has || cursor != nil || active["truncated"] != false {
		t.Errorf("active: %v", active)
	}
	for range 3 {
		if _, e := c.until(noteOf(wire.NoteEvent)); e["cursor"] != nil {
			t.Errorf("event: %v", e)
		}
	}
}

// A stream has only data frames of its own subscription.
func TestStreamsCarryOnlyTheirSubscription(t *testing.T) {
	r := newRig(t, PagerOptions{ServerOptions: ServerOptions{Rate: 50}, Heartbeat: 30 * time.Millisecond, MaxStreams: 3})
	for range 2 { // three at once are live
		r.open(1, wire.MethodStream, sub("load.tick")).until(wire.NoteEvent)
	}
	s := r.open("mine", wire.MethodStream, sub("load.tick"))
	for notes := 0; notes < 30; {
		if !s.scan.Scan() {
			t.Fatal("the stream ended")
		}
		line := s.scan.Text()
		if line == "" {
			continue
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			t.Fatalf("a line that is no data: %q", line)
		}
		m, err := wire.DecodeMessages([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		var p struct {
			Meta map[string]any `json:"_meta"`
		}
		if err := json.Unmarshal(m[0].Params, &p); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(m[0].Method, "notifications/events/") || p.Meta[wire.MetaSubscription] != "mine" {
			t.Errorf("on the stream: %s", data)
		}
		notes++
	}
	s.end() // the end frees the place of the stream
	select {
	case r.pager.streams <- struct{}{}:
	case <-time.After(patience):
		t.Fatal("an aborted stream goes on")
	}
	if status, e := r.refuse(wire.MethodStream, sub("nothing")); e.Name() != wire.NotFound || status/100 == 5 {
		t.Errorf("an unknown type: %d %v", status, e)
	}
}

// A stream whose reader falls behind the oldest event is truncated again, and says where it
// continues.
func TestSlowReaderIsTruncated(t *testing.T) {
	r := newRig(t, PagerOptions{ServerOptions: ServerOptions{Speed: 1000}, History: 5})
	kind := r.pager.types[0]
	s := &stream{engine: &r.pager.engine, requested: requested{kind: kind}, id: json.RawMessage("1"), out: eventserver.Sink{Close: "\n"}}
	s.fill(kind.feed.when(20))
	first, _, _ := bytes.Cut(s.buf, []byte("\n"))
	m, err := wire.DecodeMessages(first)
	if err != nil {
		t.Fatal(err)
	}
	if mark := wire.DecodeMark(m[0].Params); m[0].Method != wire.NoteActive || !mark.Truncated || !mark.Cursor.HasText() {
		t.Errorf("first: %s %s", m[0].Method, m[0].Params)
	}
}

// No option makes heartbeats rarer than clients expect.
func TestHeartbeatsAreAtMostHalfAMinuteApart(t *testing.T) {
	if got := (PagerOptions{Heartbeat: time.Hour}).withDefaults().Heartbeat; got != 30*time.Second {
		t.Errorf("heartbeat %v", got)
	}
}

// Servers without events do not know their methods.
func TestArchiveHasNoEventMethods(t *testing.T) {
	r, _ := newReader(t, ServerOptions{})
	if _, refused := r.call(wire.MethodList, `{}`); !strings.Contains(string(refused), "-32601") {
		t.Errorf("archive: %s", refused)
	}
}

// A removed type ends its webhooks with NotFound, and polls of it are refused.
func TestRemovedTypeEndsItsWebhooks(t *testing.T) {
	r, c := hookRig(t, func(o *PagerOptions) { o.Speed = 200 })
	r.whileThere(r.kind("canary.sampled"), func() bool {
		_, m := r.do(r.request(t.Context(), 1, wire.MethodSubscribe, c.params("canary.sampled")))
		return m.Error == nil
	})
	end := c.Next(mcptest.OfKind("terminated"))
	raw, err := json.Marshal(end.Body["error"])
	if err != nil {
		t.Fatal(err)
	}
	if fault := wire.DecodeFault(json.RawMessage(`{"error":` + string(raw) + `}`)); !wire.Is(fault, wire.NotFound, "kind", "event") || !strings.HasPrefix(end.ID, "msg_terminated_") {
		t.Errorf("terminated: %s %s", end.ID, raw)
	}
	// At the start it is not there yet either.
	if _, _, f := r.pager.poll(json.RawMessage(`{"name":"canary.sampled"}`), r.pager.start); f == nil || f.Name != wire.NotFound || f.Data["kind"] != "event" {
		t.Errorf("poll: %+v", f)
	}
}

// The key of a subscription is principal, address, type and arguments, and only they determine its
// id.
func TestSubscriptionKey(t *testing.T) {
	r, c := hookRig(t, func(o *PagerOptions) { o.Rate = 1 })
	id := func(params map[string]any) string {
		t.Helper()
		return r.call(wire.MethodSubscribe, params)["id"].(string)
	}
	first := id(c.params("load.tick"))
	again := c.params("load.tick")
	again["id"] = "mine"
	if got := id(again); got != first {
		t.Errorf("the same key has ids %s and %s", first, got)
	}
	elsewhere := c.params("load.tick")
	elsewhere["delivery"].(map[string]any)["url"] = c.URL + "/other"
	others := map[string]bool{first: true}
	for what, other := range map[string]string{
		"another address":   id(elsewhere),
		"other arguments":   id(c.params("incident.activity", "arguments", map[string]any{"service": "search"})),
		"another type":      id(c.params("incident.activity")),
		"another principal": eventserver.HookID("another", c.URL, "load.tick", "{}"),
	} {
		if others[other] {
			t.Errorf("%s has no id of its own", what)
		}
		others[other] = true
	}
	for what, secret := range map[string]any{"none": nil, "no prefix": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", "short": "whsec_c2hvcnQ=", "long": "whsec_" + strings.Repeat("QUFB", 30)} {
		bad := c.params("load.tick")
		bad["delivery"].(map[string]any)["secret"] = secret
		if _, e := r.refuse(wire.MethodSubscribe, bad); !wire.Is(e, wire.InvalidParams, "field", "delivery.secret") {
			t.Errorf("%s: %v", what, e)
		}
	}
}

// Deliveries follow no redirect, and are not retried after 410 and 413.
func TestDeliveriesThatAreFinal(t *testing.T) {
	r, c := hookRig(t, nil)
	c.Answer(func(g mcptest.Delivered) int {
		return []int{http.StatusFound, http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusOK}[g.N()%4]
	})
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	last := c.Next(mcptest.IsEvent).N() + 40
	retried := map[int]bool{} // by the status of the answer
	c.Next(func(g mcptest.Delivered) bool {
		if g.Try > 1 {
			retried[g.Status] = true
		}
		return g.N() >= last && retried[http.StatusFound] // a busy machine retries late
	})
	r.call(wire.MethodUnsubscribe, c.params("load.tick"))
	if len(retried) != 1 {
		t.Errorf("retried after %v", retried)
	}
	if c.Redirected() {
		t.Error("a redirect was followed")
	}
}

// Each try is signed with its own time.
func TestRetriesAreSignedAgain(t *testing.T) {
	r, c := hookRig(t, func(o *PagerOptions) { o.Rate, o.Backoff = 1, []time.Duration{1100 * time.Millisecond} })
	c.Answer(func(mcptest.Delivered) int { return 503 })
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	first := c.Next(mcptest.IsEvent)
	second := c.Next(func(g mcptest.Delivered) bool { return g.ID == first.ID })
	if first.Stamp == second.Stamp {
		t.Errorf("both tries are of %s", first.Stamp)
	}
}

// The address is checked for each delivery.
func TestAddressIsCheckedAtEachDelivery(t *testing.T) {
	c := newCallback(t)
	s := eventserver.NewSender(false, c.CA, 1)
	defer s.Close()
	o := s.Send(t.Context(), eventserver.Delivery{URL: c.URL, SubID: "s", WebhookID: "w", Body: []byte("{}")})
	if o.OK || o.Category != "connection_refused" || len(c.Got) > 0 {
		t.Errorf("outcome %+v", o)
	}
}

// The response of a callback is not repeated.
func TestAnswersOfCallbacksAreNotRepeated(t *testing.T) {
	r, c := hookRig(t, nil)
	c.Challenge(func(w http.ResponseWriter, _ string) { fmt.Fprint(w, "internal: password hunter2") })
	_, e := r.refuse(wire.MethodSubscribe, c.params("load.tick"))
	if all := e.Error() + string(e.Data); strings.Contains(all, "hunter2") || !wire.Is(e, wire.CallbackEndpointError, "reason", "challenge_failed") {
		t.Errorf("the refusal: %s", all)
	}
	c.Challenge(nil)
	c.Answer(func(mcptest.Delivered) int { return 500 })
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	c.Next(mcptest.IsEvent)
	c.Next(mcptest.IsEvent)
	var text string
	for text == "" {
		status := r.call(wire.MethodSubscribe, c.params("load.tick"))["deliveryStatus"].(map[string]any)
		text, _ = status["lastError"].(string)
	}
	if text != "http_5xx" {
		t.Errorf("lastError %q", text)
	}
}
