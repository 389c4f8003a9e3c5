package attach

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func encoded(t testing.TB, value any) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, gob.NewEncoder(&b).Encode(value))
	return b.Bytes()
}

// FuzzRequests reads what a client might send, for every verb.
func FuzzRequests(f *testing.F) {
	f.Add(string(verbState), encoded(f, stateRequest{Since: 3}))
	f.Add(string(verbPause), encoded(f, event.SubID("aa")))
	f.Add(string(verbSubscribe), encoded(f, request{Server: "s", Type: trust.Untrusted("\xff"), Args: []byte("{}")}))
	f.Add(string(verbMark), []byte("\xff\xff\xff\xff"))
	verbs := handlers()
	f.Fuzz(func(t *testing.T, verb string, body []byte) {
		if handle := verbs[verb]; handle != nil {
			if _, err := handle(gob.NewDecoder(bytes.NewReader(body))); err != nil && !errors.Is(err, ErrAnswer) {
				t.Error(err)
			}
		}
	})
}

// FuzzAnswers reads what an owner might send.
func FuzzAnswers(f *testing.F) {
	raw := []byte(`{"a":1}`)
	f.Add(encoded(f, page{Records: []record{newRecord(event.Record{Raw: raw, Data: raw[5:6]})}, Next: 2}))
	f.Add(encoded(f, failed(event.ErrNotFound)))
	f.Add(encoded(f, state{Snapshot: host.Snapshot{Subs: []host.SubscriptionView{{}}}}))
	f.Fuzz(func(t *testing.T, body []byte) {
		read := func(out any) bool { return gob.NewDecoder(bytes.NewReader(body)).Decode(out) == nil }
		var (
			p page
			s state
			n failure
		)
		if read(&p) {
			for _, r := range p.Records {
				r.record()
			}
		}
		if read(&n) && n.err().Error() != n.Text {
			t.Errorf("%q became %v", n.Text, n.err())
		}
		read(&s)
	})
}

// A request without a session, for an unknown verb, or above the bound of its size gets an error.
func TestBadRequestsAreRefused(t *testing.T) {
	s := newServer(Options{}, nil)
	e := &session{server: s}
	s.sessions["one"] = e
	ask := func(session, path string, body io.Reader) (int, string) {
		t.Helper()
		r := httptest.NewRequest(http.MethodPost, path, body)
		r.Header.Set(headerSession, session)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		var f failure
		must(t, gob.NewDecoder(w.Body).Decode(&f))
		return w.Code, f.Text
	}
	pause := pathOf(string(verbPause))
	for _, c := range []struct {
		what, session, path string
		body                io.Reader
		status              int
		says                string
	}{
		{"no session", "", pause, strings.NewReader(""), http.StatusNotFound, "no session"},
		{"an unknown verb", "one", pathOf("dance"), strings.NewReader(""), http.StatusNotFound, "dance"},
		{"a verb of another version", "one", "/v1/pause", strings.NewReader(""), http.StatusNotFound, "/v1/pause"},
		{"an empty body", "one", pause, strings.NewReader(""), http.StatusUnprocessableEntity, "EOF"},
		{"a body that is not gob", "one", pause, strings.NewReader("abc"), http.StatusUnprocessableEntity, ErrAnswer.Error()},
		{"a body that is too long", "one", pause, bytes.NewReader(encoded(t, strings.Repeat("x", maxRequest))), http.StatusUnprocessableEntity, "too large"},
	} {
		if status, says := ask(c.session, c.path, c.body); status != c.status || !strings.Contains(says, c.says) {
			t.Errorf("%s: %d %s", c.what, status, says)
		}
	}
	e.running = maxRunning
	if status, says := ask("one", pause, strings.NewReader("")); status != http.StatusTooManyRequests || !strings.Contains(says, ErrBusy.Error()) {
		t.Errorf("too many requests: %d %s", status, says)
	}
}

func TestErrorsKeepTheirIdentity(t *testing.T) {
	for _, k := range kinds() {
		err := failed(errors.Join(errors.New("no"), k.err)).err()
		if !errors.Is(err, k.err) {
			t.Errorf("%s does not cross", k.name)
		}
	}
	if err := failed(nil).err(); err != nil {
		t.Error(err)
	}
	if err := failed(errors.New("no")).err(); err == nil || err.Error() != "no" || errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
