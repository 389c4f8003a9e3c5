package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// records returns one record of each kind, with hostile texts.
func records() []event.Record {
	raw := []byte(`{"eventId":"=e1","data": {"severity":"P1","n":-5,"title":"=HYPERLINK(\"x\")","bad":"\u001b[31m` + "\u202e" + `","user":{"name":"a,b"},"tags":["+eu","us"]},"x":1}`)
	data := raw[bytes.Index(raw, []byte(`{"severity`)) : bytes.Index(raw, []byte(`},"x"`))+1]
	base := event.Record{Sub: "abcd2345", Server: "pager eu", Type: trust.Untrusted("incident.created"), Mode: event.ModePush, ReceivedAt: at}
	e, gap, state, refused := base, base, base, base
	e.Seq, e.Kind, e.EventID, e.Timestamp, e.Cursor = 1, event.KindEvent, trust.Untrusted("=e1"), trust.Untrusted("2026-07-28T12:00:00+02:00"), event.At(trust.Untrusted("c\x1b"))
	e.Raw, e.Data, e.Flags = raw, data, []string{"term.csi", "to-ai", "uni.bidi"}
	e.Labels = &event.Labels{Priority: trust.Untrusted("high"), Tags: []trust.Text{trust.Untrusted("x")}}
	e.WebhookID, e.Replayed = trust.Untrusted("msg_1\x1b"), true
	gap.Seq, gap.Kind, gap.Gap = 2, event.KindGap, &event.Gap{Cause: event.CauseTruncated, From: at.Add(-time.Hour), Certain: true}
	state.Seq, state.Kind, state.State = 3, event.KindState, &event.StateChange{State: event.StateBackoff, Evidence: "answered 503", Error: trust.Untrusted("=busy\x07")}
	refused.Seq, refused.Kind, refused.Raw, refused.Reason = 4, event.KindRejected, []byte("{\xff\x1b"), trust.Untrusted("not valid JSON")
	refused.WebhookID = trust.Untrusted("msg_2")
	return []event.Record{e, gap, state, refused}
}

func write(t *testing.T, o Options, records []event.Record) string {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		if err := w.Write(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(out.String(), func(r rune) bool {
		return r < 0x20 && r != '\n' && r != '\r' || r == 0x7f || r == '\u202e' || r == '\ufffd'
	}); i >= 0 {
		t.Errorf("%s: something that acts got out: %q", o.Format, out.String()[i:])
	}
	return out.String()
}

// Records exported with their exact bytes are read back unchanged.
func TestReadBack(t *testing.T) {
	want := records()
	var got []event.Record
	err := Read(strings.NewReader("\n"+write(t, Options{Format: NDJSON, Raw: true}, want)), func(r *event.Record) error {
		got = append(got, *r)
		return nil
	})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
	got = nil
	if err := Read(strings.NewReader(write(t, Options{Format: NDJSON}, want[:1])), func(r *event.Record) error { got = append(got, *r); return nil }); err != nil {
		t.Fatal(err)
	}
	if got[0].Raw != nil || string(trust.CompactJSON(got[0].Data)) != string(trust.CompactJSON(want[0].Data)) {
		t.Errorf("without exact bytes: %+v", got[0])
	}
}

// Data is read back from the exact bytes of every dialect: from the member in which a server
// sends it, or all of them.
func TestReadBackFindsTheDataOfEveryDialect(t *testing.T) {
	for raw, data := range map[string]string{
		`{"uri":"a","payload": {"n":1}}`:   `{"n":1}`,
		`{"uri":"a","title":"changed"}`:    `{"uri":"a","title":"changed"}`,
		`{"uri":"a","data":1,"payload":2}`: `2`,
		`{"eventId":"e","data":null}`:      `null`,
		`{"uri":"a"}`:                      ``,
	} {
		want := records()[0]
		want.Raw, want.Data, want.Flags = []byte(raw), nil, nil
		if data != "" {
			want.Data = json.RawMessage(data)
		}
		var got event.Record
		err := Read(strings.NewReader(write(t, Options{Format: NDJSON, Raw: true}, []event.Record{want})), func(r *event.Record) error {
			got = *r
			return nil
		})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", raw, err, got, want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	good := write(t, Options{Format: NDJSON, Raw: true}, records()[:1])
	for name, text := range map[string]string{
		"line 1: not a line of an export: refused: not valid JSON": "nonsense",
		"line 2: ":               good + `{"kind":"event"}`,
		"is not event, gap":      `{"kind":"other","server":"a","subscription":"b","receivedAt":"2026-07-28T12:00:00Z"}`,
		"receivedAt":             `{"kind":"gap","server":"a","subscription":"b"}`,
		"no eventId":             `{"kind":"event","server":"a","subscription":"b","receivedAt":"2026-07-28T12:00:00Z"}`,
		"duplicate key":          `{"kind":"gap","kind":"event"}`,
		"no text of the host":    `{"kind":"gap","server":"a\u001b[31m","subscription":"b","receivedAt":"2026-07-28T12:00:00Z"}`,
		"is no flag":             `{"kind":"gap","server":"a","subscription":"b","receivedAt":"2026-07-28T12:00:00Z","flags":["IGNORE ALL"]}`,
		"differs from its exact": strings.Replace(good, `"severity":"P1"`, `"severity":"P2"`, 1),
		"its data differs":       strings.Replace(good, `"data":{`, `"data":null,"other":{`, 1),
		"more than 64 MiB":       strings.Repeat("x", maxLine+1),
	} {
		err := Read(strings.NewReader(text), func(*event.Record) error { return nil })
		if !errors.Is(err, ErrLine) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	stop := errors.New("enough")
	if err := Read(strings.NewReader(good), func(*event.Record) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("fn's error is lost: %v", err)
	}
}

func TestCSV(t *testing.T) {
	text := write(t, Options{Format: CSV, Columns: []string{"seq", "kind", "eventId", ".severity", ".n", ".title", ".bad", ".user.name", ".tags", ".user", ".none", "data"}}, records())
	if strings.Count(text, "\r\n") != 5 || strings.Count(text, "\n") != 5 {
		t.Errorf("not five lines that end in CRLF: %q", text)
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"seq", "kind", "eventId", ".severity", ".n", ".title", ".bad", ".user.name", ".tags", ".user", ".none"},
		{"1", "event", "'=e1", "P1", "-5", `'=HYPERLINK("x")`, `\u001b[31m\u202e`, "a,b", `["+eu","us"]`, `{"name":"a,b"}`, ""},
		{"2", "gap", "", "", "", "", "", "", "", "", ""},
		{"3", "state", "", "", "", "", "", "", "", "", ""},
		{"4", "rejected", "", "", "", "", "", "", "", "", ""},
	}
	for i := range want {
		if got := rows[i][:len(want[i])]; !reflect.DeepEqual(got, want[i]) {
			t.Errorf("row %d\ngot  %q\nwant %q", i, got, want[i])
		}
	}
	for i, want := range []string{"data", `{"severity":"P1"`, "truncated", `backoff answered 503 =busy\u0007`, "not valid JSON"} {
		if got := rows[i][len(rows[i])-1]; !strings.HasPrefix(got, want) {
			t.Errorf("row %d ends with %q", i, got)
		}
	}
	if rows, err := csv.NewReader(strings.NewReader(write(t, Options{Format: CSV}, records()))).ReadAll(); err != nil || len(rows[0]) != len(DefaultColumns()) {
		t.Errorf("default columns: %q, %v", rows, err)
	}
}

func TestFormulas(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "a": false, "=1": true, "+1+1": true, "-5": false, "+5": false, "-5.5e3": false, "-5+cmd": true, "@x": true, "  =1": true, "\t=1": true, "＝1": true, "-": true, "-0x10": true, "-Inf": true, "a=1": false,
	} {
		if got := formula(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestCloudEventsReadATimeAsItsServerSpellsIt(t *testing.T) {
	r := records()[0]
	r.Timestamp = trust.Untrusted("2026-11-27 20:00:00+0100")
	if got := string(AppendCloudEvent(nil, &r)); !strings.Contains(got, `"time":"2026-11-27T19:00:00Z"`) {
		t.Error(got)
	}
}

func TestCloudEvents(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(write(t, Options{Format: CloudEvents}, records())), "\n")
	var first map[string]any
	for i, l := range lines {
		var e map[string]any
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = e
		}
		for _, must := range []string{"specversion", "id", "source", "type"} {
			if s, ok := e[must].(string); !ok || s == "" {
				t.Errorf("line %d has no %s: %s", i, must, l)
			}
		}
		for name := range e {
			if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
				t.Errorf("%q is no name of an attribute", name)
			}
		}
	}
	for name, want := range map[string]any{"specversion": "1.0", "id": "=e1", "source": "pager%20eu", "type": "incident.created", "time": "2026-07-28T10:00:00Z", "datacontenttype": "application/json", "subscription": "abcd2345", "deliverymode": "push"} {
		if first[name] != want {
			t.Errorf("%s is %v, want %v", name, first[name], want)
		}
	}
	if data, ok := first["data"].(map[string]any); !ok || data["severity"] != "P1" {
		t.Errorf("data is %v", first["data"])
	}
	if !strings.Contains(lines[1], `"type":"eventdeck.gap"`) || !strings.Contains(lines[1], `"data":{"cause":"truncated"`) || !strings.Contains(lines[1], `"id":"record-2"`) {
		t.Errorf("a gap is %s", lines[1])
	}
	if got := source("https://user:pw@host.example/mcp?token=1#x"); got != "https://host.example/mcp" {
		t.Errorf("a source tells %q", got)
	}
}

func TestWrongOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"ndjson, csv, cloudevents": {Format: "xml"},
		"they are for csv":         {Format: NDJSON, Columns: []string{"seq"}},
		"they are for ndjson":      {Format: CSV, Raw: true},
		"there are seq, kind":      {Format: CSV, Columns: []string{"nope"}},
		"after the dot":            {Format: CSV, Columns: []string{".a..b"}},
	} {
		if _, err := NewWriter(&bytes.Buffer{}, o); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, r := range records() {
		f.Add(AppendLine(nil, &r, true))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !utf8.Valid(text) { // an export has no invalid bytes: they are escaped
			return
		}
		err := Read(bytes.NewReader(text), func(r *event.Record) error {
			line := AppendLine(nil, r, true)
			return Read(bytes.NewReader(line), func(again *event.Record) error {
				if second := AppendLine(nil, again, true); !bytes.Equal(line, second) {
					t.Errorf("%s becomes %s", line, second)
				}
				return nil
			})
		})
		if err != nil && !errors.Is(err, ErrLine) {
			t.Error(err)
		}
	})
}

// A line without its flags gets them back when it is read.
func TestReadAddsMissingFlags(t *testing.T) {
	const hiding = `{"seq":1,"kind":"event","server":"pager","type":"t","subscription":"aaaa","mode":"push","eventId":"e","timestamp":null,"receivedAt":"2026-03-14T14:03:00Z","cursor":null,"data":{"title":"\u001b[2J"}}`
	var flags []string
	if err := Read(strings.NewReader(hiding+"\n"), func(r *event.Record) error { flags = r.Flags; return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(flags, "term.csi") {
		t.Errorf("flags %v", flags)
	}
}

// named returns an event with a name, a priority and tags of its own, and a _meta.
func named() event.Record {
	raw := []byte(`{"id":"e1","type":"note.added","data":{"n":1},"metadata":{"sourceEventId":"up-7","x":"\u001b"}}`)
	part := func(from, to string) []byte {
		i := bytes.Index(raw, []byte(from))
		return raw[i : i+bytes.Index(raw[i:], []byte(to))+1]
	}
	return event.Record{
		Seq: 1, Kind: event.KindEvent, Sub: "abcd2345", Server: "digest", Type: trust.Untrusted("filtered-stream"), Mode: event.ModePush, ReceivedAt: at, EventID: trust.Untrusted("e1"),
		Raw: raw, Data: part(`{"n"`, "}"), Meta: part(`{"source`, "}"),
		Labels: &event.Labels{Name: trust.Untrusted("note.added"), Priority: trust.Untrusted("high"), Tags: []trust.Text{trust.Untrusted("team a"), trust.Untrusted("eu")}},
	}
}

// The event name is the type in every format; the type that was subscribed to stands beside it.
func TestEveryFormatHasTheEventName(t *testing.T) {
	r := named()
	for format, want := range map[Format][]string{
		NDJSON:      {`"type":"note.added"`, `"subscribed":"filtered-stream"`, `"priority":"high"`, `"tags":["team a","eu"]`, `"_meta":{"sourceEventId":"up-7","x":"\u001b"}`},
		CloudEvents: {`"type":"note.added"`, `"subscribedtype":"filtered-stream"`, `"priority":"high"`, `"tags":"team a eu"`},
		CSV:         {"type,subscribed,", "digest,note.added,filtered-stream,abcd2345,", ",high,team a eu,"},
	} {
		text := write(t, Options{Format: format}, []event.Record{r})
		for _, want := range want {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %s:\n%s", format, want, text)
			}
		}
	}
	if text := write(t, Options{Format: CSV, Columns: []string{"_meta", "type"}}, []event.Record{r}); !strings.Contains(text, "up-7") {
		t.Errorf("the column _meta is %s", text)
	}
	for _, raw := range []bool{true, false} {
		var got []event.Record
		text := write(t, Options{Format: NDJSON, Raw: raw}, []event.Record{r})
		if err := Read(strings.NewReader(text), func(r *event.Record) error { got = append(got, *r); return nil }); err != nil || len(got) != 1 {
			t.Fatalf("%v of %s", err, text)
		}
		if g := got[0]; g.Name() != r.Name() || g.Type != r.Type || g.Priority() != r.Priority() || !reflect.DeepEqual(g.Tags(), r.Tags()) || string(g.Meta) != string(r.Meta) {
			t.Errorf("read back with raw %v: %+v", raw, g)
		}
		if raw {
			text = strings.Replace(text, `"sourceEventId":"up-7"`, `"sourceEventId":"up-8"`, 1)
			if err := Read(strings.NewReader(text), func(*event.Record) error { return nil }); !errors.Is(err, ErrLine) || !strings.Contains(err.Error(), "_meta differs") {
				t.Errorf("a _meta that differs from the exact bytes: %v", err)
			}
		}
	}
}

func TestEnvelopeNamesTheEvent(t *testing.T) {
	r := named()
	sealed, err := Envelope(&r).Seal()
	for _, want := range []string{`"type":"note.added","subscribed":"filtered-stream","priority":"high","tags":["team%20a","eu"]`, `"received on a connection to the server"`} {
		if err != nil || !strings.Contains(string(sealed), want) {
			t.Errorf("no %s in %s, %v", want, sealed, err)
		}
	}
	plain := event.Record{Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("incident.created"), Mode: event.ModeWebhook, Data: []byte(`{}`)}
	if sealed, err = Envelope(&plain).Seal(); err != nil || !strings.Contains(string(sealed), `"type":"incident.created","verified":"webhook signature verified"`) {
		t.Errorf("%s, %v", sealed, err)
	}
}
