package attach

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"eventdeck/host/react"
)

// A session with the token of a run has only its tools: no verb that approves, reads the log or
// ends anything. No other session has the tools.
func TestTokenOfARunOpensOnlyItsTools(t *testing.T) {
	s := newServer(Options{Gates: func(run react.RunID, token string) (react.Gate, error) {
		if run != "abcd" || token != "good" {
			return nil, react.ErrNoGate
		}
		return nil, nil
	}}, func() error { return nil })
	s.token = "operator"
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	session := func(headers map[string]string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+pathOf(pathSession), nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range headers {
			r.Header.Set(name, value)
		}
		res, err := web.Client().Do(r)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatal(res, err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res.Header.Get(headerSession)
	}
	status := func(session, verb string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL+pathOf(verb), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(headerSession, session)
		res, err := web.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	gate, operator := session(map[string]string{headerRun: "abcd", headerToken: "good"}), session(map[string]string{headerToken: "operator"})
	if len(s.verbs) < 40 || len(s.tools) != 2 {
		t.Fatalf("%d and %d verbs", len(s.verbs), len(s.tools))
	}
	for verb := range s.verbs {
		if got := status(gate, verb); got != http.StatusNotFound {
			t.Errorf("a run asks %s: HTTP %d", verb, got)
		}
		if got := status(operator, verb); got == http.StatusNotFound {
			t.Errorf("the operator asks %s: HTTP %d", verb, got)
		}
	}
	for verb := range s.tools {
		if got := status(operator, verb); got != http.StatusNotFound {
			t.Errorf("the operator asks %s: HTTP %d", verb, got)
		}
		if got := status(gate, verb); got == http.StatusNotFound {
			t.Errorf("a run asks %s: HTTP %d", verb, got)
		}
	}
	s.cancel()
}
