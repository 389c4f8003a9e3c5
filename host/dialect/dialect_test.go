package dialect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect returns the dialect of a server that answers each method with the
// result or error that answers holds, as JSON text of that member.
func connect(t *testing.T, answers func(method string, params json.RawMessage) string) Dialect {
	t.Helper()
	return connectWith(t, Options{}, answers)
}

func connectWith(t *testing.T, o Options, answers func(method string, params json.RawMessage) string) Dialect {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		if m.Method == "server/discover" {
			w.Write([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"events":{}}}}`))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,` + answers(m.Method, m.Params) + `}`))
	}))
	s, err := session.Dial(context.Background(), event.Server{Name: "s", URL: srv.URL}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		srv.Close()
	})
	return For(s, o)
}

func TestListPagesOnAndEndsWhenAPageRepeats(t *testing.T) {
	calls := 0
	d := connect(t, func(_ string, params json.RawMessage) string {
		calls++
		var p struct{ Cursor *string }
		if err := json.Unmarshal(params, &p); err != nil {
			t.Error(err)
		}
		if calls == 1 && p.Cursor != nil {
			t.Errorf("the first page is asked for with cursor %q", *p.Cursor)
		}
		return `"result":{"events":[{"name":"a","delivery":["push","push","smoke",null]},{"name":"b","delivery":null},{"name":""},7],"nextCursor":"again"}`
	})
	types, skipped, err := d.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(types) != 2 || types[0].Name.Raw() != "a" || types[1].Name.Raw() != "b" {
		t.Errorf("types %v", types)
	}
	if m := types[0].Modes; len(m) != 1 || m[0] != event.ModePush {
		t.Errorf("modes %v", m)
	}
	if o := types[0].OtherModes; len(o) != 1 || o[0].Raw() != "smoke" {
		t.Errorf("other modes %v", o)
	}
	if calls != 2 || skipped.Count != 4 || len(skipped.Why) != 4 || !strings.HasPrefix(skipped.Why[0], "page 1, descriptor 3: ") || !strings.HasPrefix(skipped.Why[3], "page 2, descriptor 4: ") {
		t.Errorf("%d calls and %d skipped, want 2 and 4, because %q", calls, skipped.Count, skipped.Why)
	}
}

// A name that is listed twice is ambiguous: the operator is told.
func TestTypesListedTwiceAreReported(t *testing.T) {
	calls := 0
	d := connect(t, func(string, json.RawMessage) string {
		if calls++; calls == 1 {
			return `"result":{"events":[{"name":"a","title":"first"},{"name":"a"},{"name":"b"}],"nextCursor":"2"}`
		}
		return `"result":{"events":[{"name":"b","title":"other"},{"name":"c"}]}`
	})
	types, skipped, err := d.List(context.Background())
	if err != nil || strings.Join(typeNames(types), " ") != "a b c" || types[0].Title.Raw() != "first" {
		t.Fatalf("%v, %v", types, err)
	}
	if skipped.Count != 2 || len(skipped.Why) != 2 || !strings.HasPrefix(skipped.Why[0], "page 1: a is listed twice") || !strings.HasPrefix(skipped.Why[1], "page 2: b ") {
		t.Errorf("%d skipped, because %q", skipped.Count, skipped.Why)
	}
}

// Why a descriptor is skipped stands in the log, and is returned.
func TestListReportsWhyDescriptorsAreHidden(t *testing.T) {
	var out bytes.Buffer
	d := connectWith(t, Options{Log: slog.New(slog.NewTextHandler(&out, nil))}, func(string, json.RawMessage) string {
		return `"result":{"events":[{"name":"a"},{"name":""},7]}`
	})
	_, skipped, err := d.List(context.Background())
	if err != nil || skipped.Count != 2 || len(skipped.Why) != 2 {
		t.Fatalf("%+v, %v", skipped, err)
	}
	for _, want := range []string{"descriptor 2: ", "descriptor 3: ", "has no name"} {
		if !strings.Contains(out.String(), want) || !strings.Contains(strings.Join(skipped.Why, "\n"), want) {
			t.Errorf("%q is missing in %s or %q", want, out.String(), skipped.Why)
		}
	}
}

func TestListWithoutEvents(t *testing.T) {
	d := connect(t, func(string, json.RawMessage) string { return `"error":{"code":-32601,"message":"?"}` })
	if _, _, err := d.List(context.Background()); !errors.Is(err, ErrNoEvents) {
		t.Errorf("got %v, want ErrNoEvents", err)
	}
}

func TestVerbsCarryResultsAndErrors(t *testing.T) {
	d := connect(t, func(method string, _ json.RawMessage) string {
		switch method {
		case wire.MethodPoll:
			return `"result":{"cursor":"c1","hasMore":true}`
		case wire.MethodSubscribe:
			return `"result":{"id":"sub"}`
		case wire.MethodUnsubscribe:
			return `"result":{}`
		}
		return `"error":{"code":-32011,"message":"no","data":{"kind":"event"}}`
	})
	ctx, name := context.Background(), trust.Untrusted("t")
	if r, err := d.Poll(ctx, wire.PollRequest{Name: name}); err != nil || r.Cursor.Text.Raw() != "c1" || !r.HasMore {
		t.Errorf("poll: %+v, %v", r, err)
	}
	if r, err := d.Subscribe(ctx, wire.SubscribeRequest{Name: name}); err != nil || r.ID.Raw() != "sub" {
		t.Errorf("subscribe: %+v, %v", r, err)
	}
	if err := d.Unsubscribe(ctx, wire.UnsubscribeRequest{Name: name}); err != nil {
		t.Errorf("unsubscribe: %v", err)
	}
	s, err := d.Stream(ctx, wire.StreamRequest{Name: name}, func(wire.Note) { t.Error("a note on a refused stream") })
	if err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if err := s.Err(); wire.NameFrom(err) != wire.NotFound {
		t.Errorf("stream: %v, want NotFound", err)
	}
}

func TestRefusalByTheTransportIsForbidden(t *testing.T) {
	err := named(&session.HTTPError{Status: http.StatusUnauthorized})
	if wire.NameFrom(err) != wire.Forbidden || !errors.Is(err, wire.ErrDenied) {
		t.Errorf("got %v", err)
	}
	for _, code := range []int{-32000, -32603} { // no name that says more than the status
		if got := named(&session.HTTPError{Status: http.StatusForbidden, Err: &wire.Error{Code: code}}); !errors.Is(got, wire.ErrDenied) {
			t.Errorf("got %v", got)
		}
	}
	own := &session.HTTPError{Status: http.StatusForbidden, Err: &wire.Error{Code: -32602}}
	if got := named(own); wire.NameFrom(got) != wire.InvalidParams {
		t.Errorf("the server's own word is lost: %v", got)
	}
}

// A server that pages for ever is stopped, and that is said.
func TestTruncatedListIsReported(t *testing.T) {
	calls := 0
	d := connect(t, func(string, json.RawMessage) string {
		calls++
		return fmt.Sprintf(`"result":{"events":[{"name":"t%d"}],"nextCursor":"%d"}`, calls, calls)
	})
	types, _, err := d.List(context.Background())
	if !errors.Is(err, ErrPartial) || len(types) != maxPages || calls != maxPages {
		t.Errorf("%d types after %d calls, %v", len(types), calls, err)
	}
}

// If one of a server's two dialects fails, the types of the other are listed.
func TestFailingDialectHidesOnlyItsOwnTypes(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   error
		names  int
	}{
		"an error":  {`"error":{"code":-32603,"message":"the database is down"}`, ErrPartial, 1},
		"malformed": {`"result":[]`, ErrPartial, 1},
	} {
		p := newPeer(t, `{"events":{"listChanged":true},"resources":{"events":true,"subscribe":true}}`, func(call call) string {
			if call.method == wire.MethodList {
				return `"result":{"events":[{"name":"a.b","delivery":["poll"]}]}`
			}
			return c.answer
		})
		d, _ := p.connect(Options{})
		types, _, err := d.List(background(t))
		if !errors.Is(err, c.want) || len(types) != c.names {
			t.Errorf("%s: %v, %v", name, typeNames(types), err)
		}
	}
	p := newPeer(t, `{"resources":{"events":true,"subscribe":true}}`, func(call) string { return `"error":{"code":-32603,"message":"down"}` })
	d, _ := p.connect(Options{})
	if _, _, err := d.List(background(t)); errors.Is(err, ErrPartial) || wire.NameFrom(err) != wire.InternalError {
		t.Errorf("nothing at all is %v", err)
	}
}

func TestChangesOfTheListAreReported(t *testing.T) {
	all := newPeer(t, `{"tools":{},"events":{"features":{}},"resources":{"events":true}}`, func(call) string { return notFound })
	d, _ := all.connect(Options{})
	for method, want := range map[string]bool{wire.NoteListChanged: true, noteResources: true, noteTools: true, noteUpdated: false, "notifications/progress": false} {
		if got := d.Note(wire.Note{Method: method, Params: json.RawMessage(`{}`)}); got != want {
			t.Errorf("%s: list again %v, want %v", method, got, want)
		}
	}
}
