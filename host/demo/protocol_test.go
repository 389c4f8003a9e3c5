package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust/strict"
	"eventdeck/host/wire"
)

func TestDiscover(t *testing.T) {
	r := newRig(t, PagerOptions{})
	d := r.call("server/discover", nil)
	ext := d["capabilities"].(map[string]any)["extensions"].(map[string]any)[wire.Extension]
	if ext == nil || ext.(map[string]any)["listChanged"] != true || d["resultType"] != "complete" {
		t.Errorf("discover: %v", d)
	}
	r.call("ping", nil)
}

func TestHeadersAreChecked(t *testing.T) {
	r := newRig(t, PagerOptions{})
	for _, x := range []struct {
		what   string
		change func(*http.Request)
		status int
		code   int
	}{
		{"old version", func(q *http.Request) { q.Header.Set("MCP-Protocol-Version", "2025-11-25") }, 400, wire.CodeUnsupportedVersion},
		{"no version", func(q *http.Request) { q.Header.Del("MCP-Protocol-Version") }, 400, wire.CodeHeaderMismatch},
		{"no method", func(q *http.Request) { q.Header.Del("Mcp-Method") }, 400, wire.CodeHeaderMismatch},
		{"other method", func(q *http.Request) { q.Header.Set("Mcp-Method", "tools/list") }, 400, wire.CodeHeaderMismatch},
		{"content type", func(q *http.Request) { q.Header.Set("Content-Type", "text/plain") }, 415, 0},
		{"GET", func(q *http.Request) { q.Method = http.MethodGet }, 405, 0},
		{"foreign origin", func(q *http.Request) { q.Header.Set("Origin", "https://evil.test") }, 403, 0},
		{"foreign host", func(q *http.Request) { q.Host = "evil.test" }, 403, 0},
	} {
		q := r.request(t.Context(), 1, "ping", nil)
		x.change(q)
		status, m := r.do(q)
		if status != x.status || x.code != 0 && (m.Error == nil || m.Error.Code != x.code) {
			t.Errorf("%s: status %d, %+v", x.what, status, m)
		}
		if x.code == wire.CodeUnsupportedVersion && !strings.Contains(string(m.Error.Data), `"supported":["2026-07-28"]`) {
			t.Errorf("data: %s", m.Error.Data)
		}
	}
	if status, e := r.refuse("resources/list", nil); status != 404 || e.Name() != wire.MethodNotFound {
		t.Errorf("unknown method: %d %v", status, e)
	}
}

func TestTokenIsDemanded(t *testing.T) {
	r := newRig(t, PagerOptions{ServerOptions: ServerOptions{Token: event.NewSecret("letmein")}})
	q := r.request(t.Context(), 1, "ping", nil)
	if status, _ := r.do(q); status != 401 {
		t.Errorf("without a token: %d", status)
	}
	q = r.request(t.Context(), 1, "ping", nil)
	q.Header.Set("Authorization", "Bearer letmein")
	if status, _ := r.do(q); status != 200 {
		t.Errorf("with the token: %d", status)
	}
}

// names returns the names of all types, and the number of pages.
func (r *rig) names() (names []string, pages int) {
	r.t.Helper()
	params := map[string]any{}
	for {
		res := r.call(wire.MethodList, params)
		pages++
		for _, d := range res["events"].([]any) {
			names = append(names, d.(map[string]any)["name"].(string))
		}
		if res["nextCursor"] == nil {
			return names, pages
		}
		params["cursor"] = res["nextCursor"]
	}
}

func TestListHasPages(t *testing.T) {
	r := newRig(t, PagerOptions{ServerOptions: ServerOptions{Rate: 1}})
	names, pages := r.names()
	if pages < 2 || names[0] != "incident.activity" || names[len(names)-1] != "load.tick" {
		t.Errorf("%d pages: %v", pages, names)
	}
	if _, e := r.refuse(wire.MethodList, map[string]any{"cursor": "x"}); !wire.Is(e, wire.InvalidParams, "field", "cursor") {
		t.Errorf("bad page: %v", e)
	}
}

// kind returns an event type.
func (r *rig) kind(name string) *eventType {
	return r.pager.types[slices.IndexFunc(r.pager.types, func(t *eventType) bool { return t.name == name })]
}

// whileThere repeats a request until it finds a type that exists only in a part of each loop. found
// reports whether it did, and must be true if the type existed from its call to its return.
func (r *rig) whileThere(kind *eventType, found func() bool) {
	r.t.Helper()
	for {
		there, change := kind.lifetime.at(time.Now())
		if found() {
			return
		}
		if there && time.Now().Before(change) {
			r.t.Fatalf("%s exists and is not found", kind.name)
		}
		if !there {
			time.Sleep(time.Until(change))
		}
	}
}

func TestListChangesAndTerminates(t *testing.T) {
	r := newRig(t, PagerOptions{ServerOptions: ServerOptions{Speed: 40}}) // the canary exists from 0.1 s to 1.2 s of each loop of 1.5 s
	listen := r.open("l", "subscriptions/listen", map[string]any{"notifications": map[string]any{"eventsListChanged": true}})
	if p := listen.until("notifications/subscriptions/acknowledged"); p["notifications"].(map[string]any)["eventsListChanged"] != true {
		t.Errorf("acknowledged: %v", p)
	}
	if p := listen.until(wire.NoteListChanged); p["_meta"].(map[string]any)[wire.MetaSubscription] != "l" {
		t.Errorf("list_changed: %v", p)
	}
	canary := r.kind("canary.sampled")
	r.whileThere(canary, func() bool {
		names, _ := r.names()
		return slices.Contains(names, canary.name)
	})
	from := sub(canary.name, "cursor", r.pager.cursor(canary.feed, 0))
	var s *frames
	r.whileThere(canary, func() bool {
		s = r.tryOpen("c", wire.MethodStream, from)
		return s != nil
	})
	s.until(wire.NoteEvent) // replayed from the beginning: there is one, however late the stream was opened
	end := s.until(wire.NoteTerminated)["error"].(map[string]any)
	if end["code"] != float64(wire.ProfileSEP.Code(wire.NotFound)) || end["data"].(map[string]any)["kind"] != "event" {
		t.Errorf("terminated: %v", end)
	}
	m, _, ok := s.next() // an empty result ends the stream
	var result map[string]any
	if !ok || !m.IsResponse() || m.ID != "c" || json.Unmarshal(m.Result, &result) != nil {
		t.Fatalf("the last frame: %+v", m)
	}
	if delete(result, "_meta"); len(result) != 1 || result["resultType"] != "complete" {
		t.Errorf("result: %v", result)
	}
	listen.until(wire.NoteListChanged)
}

func TestHeartbeatsCarryTheCursor(t *testing.T) {
	r := newRig(t, PagerOptions{Heartbeat: 20 * time.Millisecond})
	s := r.open(1, wire.MethodStream, sub("incident.changed"))
	s.until(wire.NoteActive)
	for range 3 {
		if p := s.until(wire.NoteHeartbeat); !strings.HasPrefix(p["cursor"].(string), r.pager.run+".") {
			t.Fatalf("heartbeat: %v", p)
		}
	}
}

func TestStreamsAreLimited(t *testing.T) {
	r := newRig(t, PagerOptions{MaxStreams: 1})
	r.open(1, wire.MethodStream, sub("incident.changed")).until(wire.NoteActive)
	if _, e := r.refuse(wire.MethodStream, sub("incident.changed")); e.Name() != wire.ResourceExhausted {
		t.Errorf("second stream: %v", e)
	}
}

func TestPoll(t *testing.T) {
	r := newRig(t, PagerOptions{ServerOptions: ServerOptions{Rate: 5000}})
	boot := r.call(wire.MethodPoll, sub("load.tick"))
	if len(boot["events"].([]any)) != 0 || boot["cursor"] == nil || boot["nextPollMs"].(float64) > 1000 {
		t.Errorf("bootstrap: %v", boot)
	}
	s := r.open(1, wire.MethodStream, sub("load.tick", "cursor", boot["cursor"]))
	for range maxPoll + 10 {
		s.until(wire.NoteEvent)
	}
	s.end()
	page := r.call(wire.MethodPoll, sub("load.tick", "cursor", boot["cursor"]))
	events := page["events"].([]any)
	if len(events) != maxPoll || page["hasMore"] != true || page["truncated"] != false {
		t.Errorf("%d events, hasMore %v", len(events), page["hasMore"])
	}
	if _, has := events[0].(map[string]any)["cursor"]; has {
		t.Error("an event of a poll has a cursor")
	}
	few := r.call(wire.MethodPoll, sub("load.tick", "cursor", boot["cursor"], "maxEvents", 3))
	if len(few["events"].([]any)) != 3 {
		t.Errorf("maxEvents 3 gave %d", len(few["events"].([]any)))
	}
	none := r.call(wire.MethodPoll, sub("incident.activity", "cursor", r.pager.cursor(r.pager.types[0].feed, 0), "maxAgeMs", 0))
	if len(none["events"].([]any)) != 0 || none["truncated"] != true {
		t.Errorf("maxAgeMs 0: %v", none)
	}
}

func TestArgumentsAreValidated(t *testing.T) {
	r := newRig(t, PagerOptions{ServerOptions: ServerOptions{Speed: 100}})
	for field, args := range map[string]map[string]any{
		"arguments.service": {},
		"arguments.other":   {"service": "search", "other": 1},
	} {
		if status, e := r.refuse(wire.MethodPoll, sub("errors.sampled", "arguments", args)); status != 400 || !wire.Is(e, wire.InvalidParams, "field", field) {
			t.Errorf("%v: %d %v %s", args, status, e, e.Data)
		}
	}
	if _, e := r.refuse(wire.MethodStream, sub("page.sent")); !wire.Is(e, wire.Unsupported, "value", "push") {
		t.Errorf("mode: %v", e)
	}
	if _, e := r.refuse(wire.MethodPoll, sub("incident.activity", "cursor", 5)); !wire.Is(e, wire.InvalidParams, "field", "cursor") {
		t.Errorf("cursor: %v", e)
	}
	s := r.open(1, wire.MethodStream, sub("errors.sampled", "arguments", map[string]any{"service": "search"}))
	for range 5 {
		if got := s.until(wire.NoteEvent)["data"].(map[string]any)["service"]; got != "search" {
			t.Errorf("event of %v", got)
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	r := newRig(t, PagerOptions{ServerOptions: ServerOptions{Speed: 1000}, History: 5})
	first := r.pager.cursor(r.pager.types[0].feed, 0)
	s := r.open(1, wire.MethodStream, sub("incident.activity"))
	for range 20 {
		s.until(wire.NoteEvent)
	}
	page := r.call(wire.MethodPoll, sub("incident.activity", "cursor", first))
	if page["truncated"] != true || len(page["events"].([]any)) != 5 {
		t.Errorf("truncated %v, %d events", page["truncated"], len(page["events"].([]any)))
	}
}

func TestRestartTruncatesAndRepeatsNoID(t *testing.T) {
	first := newRig(t, PagerOptions{ServerOptions: ServerOptions{Speed: 100}})
	s := first.open(1, wire.MethodStream, sub("incident.activity"))
	p := s.until(wire.NoteEvent)
	first.stop()
	second := newRig(t, PagerOptions{ServerOptions: ServerOptions{Speed: 100}})
	s = second.open(1, wire.MethodStream, sub("incident.activity", "cursor", p["cursor"]))
	if a := s.until(wire.NoteActive); a["truncated"] != true {
		t.Errorf("active: %v", a)
	}
	if again := s.until(wire.NoteEvent); again["eventId"] == p["eventId"] {
		t.Error("an id came again")
	}
}

func TestFeedsArePure(t *testing.T) {
	o := origin{run: "r0", start: time.Unix(1_800_000_000, 0)}
	build := func() []*eventType {
		types, err := catalog(o, settings{speed: 3, seed: 7, rate: 300, history: 100}, append(pagerTypes(), chatTypes()...))
		if err != nil {
			t.Fatal(err)
		}
		return types
	}
	a, b := build(), build()
	ids := map[string]bool{}
	for i, kind := range a {
		for n := uint64(1); n < 700; n++ {
			one := kind.feed.appendBody([]byte("{"), n)
			if !bytes.Equal(one, b[i].feed.appendBody([]byte("{"), n)) {
				t.Fatalf("%s %d differs between two servers of one run and seed", kind.name, n)
			}
			o, err := wire.ParseOccurrence(append(one, '}'), strict.Limits{})
			if err != nil || !json.Valid(o.Data) {
				t.Fatalf("%s %d: %v", kind.name, n, err)
			}
			if ids[o.EventID.Raw()] {
				t.Fatalf("the id %v came twice", o.EventID)
			}
			ids[o.EventID.Raw()] = true
			if n, m := n, kind.feed.count(kind.feed.when(n)); m < n {
				t.Fatalf("%s: %d events have happened when event %d does", kind.name, m, n)
			}
			if m := kind.feed.count(kind.feed.when(n).Add(-time.Nanosecond)); m >= n {
				t.Fatalf("%s: event %d is counted before it happens", kind.name, n)
			}
		}
	}
}

func TestCursorsRoundTrip(t *testing.T) {
	o := origin{run: "r0", start: time.Now()}
	f := timeline{origin: o, kind: "x", steps: []step{{at: 1}, {at: 2}}, period: period, speed: 1}
	for _, n := range []uint64{0, 1, 2, 3, 1000} {
		if got, ok := o.position(f, o.cursor(f, n)); !ok || got != n {
			t.Errorf("%d became %d, %t", n, got, ok)
		}
	}
	for _, bad := range []string{"", "r0", "r0.", "r0.l0.5", "r1.l0.1", "r0.l0.01", "r0.l0.-1", "r0.l0.1x"} {
		if n, ok := o.position(f, bad); ok {
			t.Errorf("%q is position %d", bad, n)
		}
	}
}

func TestRunPagerNamesABadAddress(t *testing.T) {
	var b bytes.Buffer
	p := PagerOptions{ServerOptions: ServerOptions{Listen: "256.0.0.1:1", Stderr: &b}}
	if err := RunPager(t.Context(), p); err == nil || b.Len() > 0 {
		t.Errorf("listening on nonsense: %v, %q", err, b.String())
	}
}

func TestRunPagerSaysWhereItListens(t *testing.T) {
	read, write := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- RunPager(ctx, PagerOptions{ServerOptions: ServerOptions{Listen: "127.0.0.1:0", Stderr: write}})
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url, ok := strings.CutPrefix(line, "listening on ")
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	r := &rig{t: t, url: strings.TrimSpace(url), client: &http.Client{Transport: tr}}
	if !ok || r.call("ping", nil) == nil {
		t.Errorf("first line: %q", line)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func BenchmarkTickPush(b *testing.B) {
	_, url, _ := startPager(b, PagerOptions{ServerOptions: ServerOptions{Rate: 2_000_000}})
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	res, err := (&http.Client{Transport: tr}).Do(modernRequest(b, b.Context(), url, 1, wire.MethodStream, sub("load.tick")))
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	buf := make([]byte, 1<<20)
	read := 0
	for b.Loop() {
		for read < 700 {
			n, err := res.Body.Read(buf)
			if err != nil {
				b.Fatal(err)
			}
			read += n
		}
		read -= 700
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkTickEncode(b *testing.B) {
	t := ticker{origin: origin{run: "r0123456789", start: time.Now()}, rate: 20000}
	var buf []byte
	n := uint64(0)
	for b.Loop() {
		n++
		buf = t.appendBody(buf[:0], n)
	}
	b.ReportMetric(float64(len(buf)), "bytes/event")
}
