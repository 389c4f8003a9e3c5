package detail_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/internal/tuitest"
)

// written returns the lines that a function writes, at a width of 80 cells.
func written(write func(*detail.Text)) string {
	text := detail.Text{Env: tuitest.Env(), Demo: func(string) bool { return false }}
	text.Begin(80)
	write(&text)
	var c cells.Canvas
	c.Begin(&text.Env.Theme, 80)
	for i := range text.Lines {
		text.Lines[i].Draw(&c, text.Env.Glyphs)
	}
	return tuitest.Plain(c.All())
}

// holds checks that a text contains others.
func holds(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not shown:\n%s", w, text)
		}
	}
}

func TestServerIsDescribed(t *testing.T) {
	s := host.ServerView{Name: "pager", Reach: host.ReachReady, Address: "https://pager.example/mcp", Transport: "Streamable HTTP", TypesKnown: true,
		Types: make([]event.Type, 3), BadTypes: 5, BadWhy: []string{"incident: its schema is no object"}, Err: "it answers 503",
		Title: trust.Untrusted("Pager \x1b[31mInc"), Release: trust.Untrusted("2.1")}
	holds(t, written(func(d *detail.Text) { d.Server(&s) }),
		"https://pager.example/mcp", "it answers 503", "types    3", "hidden   5 event types", "its schema is no object", "and 4 more", "untrusted data from pager", "Inc 2.1")
}

func TestTypeIsDescribed(t *testing.T) {
	typ := event.Type{Name: trust.Untrusted("incident.created"), Modes: []event.Mode{event.ModePush, event.ModePoll}, OtherModes: []trust.Text{trust.Untrusted("pigeon")}, Cursorless: true,
		Description: trust.Untrusted("something broke"), InputSchema: json.RawMessage(`{"type":"object","properties":{"team":{"type":"string"}}}`)}
	holds(t, written(func(d *detail.Text) { d.Type("pager", typ.Name, &typ, "s") }),
		"pager incident.created", "push poll", "not known here: pigeon", "none: what is missed stays missed", "Press s to subscribe", "something broke", `"team"`)
	holds(t, written(func(d *detail.Text) { d.Type("pager", typ.Name, nil, "") }), "does not list this type now")
	typ.Modes = nil
	holds(t, written(func(d *detail.Text) { d.Type("pager", typ.Name, &typ, "s") }), "none to subscribe by")
}

func TestSubscriptionIsDescribed(t *testing.T) {
	key := event.Key{Server: "pager", Type: trust.Untrusted("incident.created"), Args: json.RawMessage(`{"team":"core"}`)}
	v := host.SubscriptionView{Subscription: event.Subscription{ID: key.ID(), Key: key, Mode: event.ModePoll}, Stored: 7, Dropped: 2}
	v.Status.Since, v.Status.Error = tuitest.Start.Add(-time.Hour), trust.Untrusted("the pool\nis full")
	holds(t, written(func(d *detail.Text) { d.Subscription(&v, true) }),
		"pager incident.created", `{"team":"core"}`, "7 events in this run, 2 duplicates dropped", "1 h 0 m ago", "untrusted data from pager", "is full")
}

func TestTotalsAreDescribed(t *testing.T) {
	snap := host.Snapshot{Last: 12, Servers: make([]host.ServerView, 2), Receiver: "https://here.example"}
	snap.Store.Path, snap.Store.Sealed = "/data/events.db", "file"
	holds(t, written(func(d *detail.Text) { d.Everything(&snap) }), "2 servers, 0 subscriptions", "12 records in /data/events.db", "https://here.example", "key in a file")
	snap.Store.Locked = event.ErrKeyLocked
	holds(t, written(func(d *detail.Text) { d.Everything(&snap) }), "secrets are locked")
	snap.Receiver, snap.ReceiverErr = "", "receiver on 127.0.0.1:8443 stopped"
	holds(t, written(func(d *detail.Text) { d.Everything(&snap) }), "receiver on 127.0.0.1:8443 stopped")
}

// flagged returns an event with hidden text and labels.
func flagged() event.Record {
	r := incident("a", "free \u202egift\u200b")
	r.Flags = []string{"bidi", "invisible", event.FlagBadge}
	r.Raw = r.Data
	r.Labels = &event.Labels{Name: trust.Untrusted("P1 pool"), Priority: trust.Untrusted("critical"), Batch: trust.Untrusted("b1")}
	return r
}

// n and N go to flagged places, and the last row explains them.
func TestFlaggedPlacesAreExplained(t *testing.T) {
	p := newPane(flagged())
	holds(t, p.show(1), "P1 pool", "critical", "came with others", "flags", "<match.next> to the ", "<why> why")
	p.ToSpan(1)
	first := p.text()
	holds(t, first, " 1/")
	if p.ToSpan(1); strings.Contains(p.text(), " 1/") {
		t.Errorf("it does not go on:\n%s", p.text())
	}
	p.ToSpan(-1)
	if p.text() != first {
		t.Errorf("it does not go back:\n%s", p.text())
	}
	p.OpenWhy()
	holds(t, p.screen.Text(110, 40), "Nothing of the payload acted", "place 1: /title", "bytes ")
	if p.screen.Press("j", "!"); p.screen.Dialog != nil {
		t.Error("it stays open")
	}
	clean := newPane(incident("b", "plain"))
	clean.show(1)
	if clean.ToSpan(1); clean.screen.Told != "no place in this payload was noticed" {
		t.Errorf("told is %q", clean.screen.Told)
	}
}

func TestPayloadHasSeveralViews(t *testing.T) {
	p := newPane(incident("a", "日本"))
	p.show(1)
	if !p.HasPayload() || p.LaidOut() != 1 {
		t.Errorf("laid out is record %d", p.LaidOut())
	}
	for _, c := range []struct{ title, text string }{{"escaped", `\u65e5`}, {"hex", "7b 22"}, {"raw JSON", `{"incidentId":"INC-7","title":"日本"}`}, {"record 1", `"title": "日本"`}} {
		p.NextView()
		text := p.text()
		if title := p.Title(80); !strings.Contains(title, c.title) || p.View().Word() == "" {
			t.Errorf("the title is %q", title)
		}
		holds(t, text, c.text)
	}
	if got := p.Title(20); got != "3 [Payload]" {
		t.Errorf("in little room the title is %q", got)
	}
}

func TestPayloadIsComparedWithItsSchema(t *testing.T) {
	p := newPane(incident("a", "x"), event.Record{Kind: event.KindState, State: &event.StateChange{State: event.StateLive}})
	typ := &event.Type{Name: trust.Untrusted("incident.created"), PayloadSchema: json.RawMessage(`{"type":"object","required":["severity"],"properties":{"incidentId":{"type":"integer"}}}`)}
	p.env.Snap.Servers = []host.ServerView{{Name: "pager", Types: []event.Type{*typ}}}
	typ = &p.env.Snap.Servers[0].Types[0]
	holds(t, p.show(1), "fails its schema at")
	p.Turn(2)
	holds(t, p.text(), "! missing", "severity", "the server's schema")
	typ.PayloadSchema = json.RawMessage(`{"type":"object"}`)
	p.Forget()
	holds(t, p.text(), "The payload is what its schema says")
	typ.PayloadSchema = json.RawMessage(`[1]`)
	p.Forget()
	holds(t, p.text(), "cannot be used")
	holds(t, p.show(2), "Only the payload of an event has a schema.")
}

// Gaps, changes of state and refusals are described by the program, and text of a server is behind
// the gutter.
func TestRecordsThatAreNotEvents(t *testing.T) {
	p := newPane(
		event.Record{Kind: event.KindGap, Server: "pager", Gap: &event.Gap{Cause: event.CauseTruncated}},
		event.Record{Kind: event.KindState, Server: "pager", State: &event.StateChange{State: event.StateStale, Evidence: "nothing came", Error: trust.Untrusted("it said no")}},
		event.Record{Kind: event.KindRejected, Server: "pager", Reason: trust.Untrusted("no JSON"), Raw: []byte("{oops")},
	)
	p.env.Rows = func(seq uint64) (int, uint64) { return int(seq), 9 }
	holds(t, p.show(1), "gap", "cause", "nothing shows that none were")
	holds(t, p.show(2), "stale", "nothing came", "2 at pager with no event among them, up to record 9", "it said no")
	holds(t, p.show(3), "payload refused", "the payload was kept but not taken", "no JSON", "{oops")
	p.Turn(1)
	holds(t, p.text(), "{oops")
	if p.show(1); !strings.Contains(p.text(), "no bytes came with it") {
		t.Errorf("raw:\n%s", p.text())
	}
}

// A line may have a value, of the payload or of its metadata, with the filter term for it.
func TestLinesHaveValues(t *testing.T) {
	p := newPane(incident("a", "pool"))
	p.show(1)
	terms := map[string]string{}
	for i := range p.Lines {
		p.By(i - p.At)
		if term, text, ok := p.Value(); ok {
			terms[term] = text.Raw()
		} else if p.HasValue() {
			t.Errorf("line %d has a value that cannot be read", i)
		}
	}
	for term, want := range map[string]string{"value:pool": "pool", "value:INC-7": "INC-7", `type:="incident.created"`: "incident.created"} {
		if terms[term] != want {
			t.Errorf("%s is %q; there are %v", term, terms[term], terms)
		}
	}
	p.Page(-1000)
	if p.At != 0 {
		t.Errorf("a page up leaves line %d", p.At)
	}
}

// The events of a batch are listed in the order of arrival.
func TestBatchIsListedTogether(t *testing.T) {
	a, b, c := flagged(), flagged(), flagged()
	a.EventID, b.EventID, c.EventID = trust.Untrusted("a"), trust.Untrusted("b"), trust.Untrusted("c")
	p := newPane(a, b, c)
	p.show(2)
	p.Turn(-1)
	text := p.text()
	holds(t, text, "b1, 3 events")
	if i, j, k := strings.Index(text, "┌"), strings.Index(text, "├"), strings.Index(text, "└"); i < 0 || i > j || j > k {
		t.Errorf("the order is not shown:\n%s", text)
	}
}

func TestQuietDialogAsksTheServerAgain(t *testing.T) {
	p := newPane(incident("a", "x"))
	v := host.SubscriptionView{Subscription: event.Subscription{ID: "s1", Key: event.Key{Server: "pager", Type: trust.Untrusted("t")}, Mode: event.ModePush}}
	p.env.Snap.Subs = []host.SubscriptionView{v}
	asked := 0
	p.OpenQuiet("s1", func() tea.Cmd { asked++; return nil })
	holds(t, p.screen.Text(100, 30), "pager t", "s1, push")
	if p.screen.Press("j", "u", "i"); asked != 1 || p.screen.Dialog != nil {
		t.Errorf("asked %d times, shown is %v", asked, p.screen.Dialog)
	}
}

// A folded object shows how many lines and flagged places it hides.
func TestFoldedObjectsCountHiddenLines(t *testing.T) {
	p := newPane(event.Record{Kind: event.KindEvent, Server: "pager", Data: []byte("{\"a\":{\"b\":\"x\u202ey\",\"c\":2},\"d\":3}")})
	p.show(1)
	at := func(text string) {
		for i := range p.Lines {
			if strings.Contains(p.Lines[i].Text.Plain(), text) {
				p.By(i - p.At)
			}
		}
	}
	at(`"c"`)
	p.Fold(false)
	holds(t, p.text(), "3 lines, 1 place noticed")
	p.Fold(true)
	if text := p.text(); !strings.Contains(text, `"c"`) {
		t.Errorf("it is still closed:\n%s", text)
	}
	at(`"a"`)
	p.Toggle()
	p.text()
	p.ToSpan(1) // opens what hides the place
	holds(t, p.text(), `"c"`, " 1/1 ")
}
