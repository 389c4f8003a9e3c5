package act

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/receiver"
)

const hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

// hookRunner returns a runner that trusts a server and knows the secret.
func hookRunner(t *testing.T, s *httptest.Server) *Runner {
	t.Helper()
	o := Options{Dir: t.TempDir(), Executable: "none", Jitter: func() float64 { return 0.5 }, Now: func() time.Time { return time.Unix(2e9, 0).UTC() },
		Env: func(name string) (string, bool) { return hookSecret, name == "HOOK_SECRET" }}
	if s != nil && s.Certificate() != nil {
		o.Roots = x509.NewCertPool()
		o.Roots.AddCert(s.Certificate())
	}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func hookRequest(t *testing.T, r *Runner, w react.Webhook) react.Request {
	t.Helper()
	if w.Secret == "" {
		w.Secret = "${HOOK_SECRET}"
	}
	m := event.Record{Seq: 7, Kind: event.KindEvent, Server: "pager", Data: []byte(`{"a": "$(x)"}`)}
	run := react.Run{ID: "abcd", Rule: "page", Created: time.Unix(1e9, 0), Members: react.Members{Count: 1, First: []uint64{7}}}
	rule := react.Rule{Name: "page", Limits: react.Limits{Time: 10 * time.Minute}, Do: react.Do{Webhook: &w}} // however busy the machine is
	req, err := r.Prepare(rule, run, []event.Record{m})
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// sent sends a webhook in the given attempt.
func sent(t *testing.T, r *Runner, req react.Request, attempt int) react.Result {
	t.Helper()
	a, err := r.Ready(t.Context(), req, attempt)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Go(nil); err != nil {
		t.Fatal(err)
	}
	if err := a.Go(nil); err == nil {
		t.Error("it was sent twice")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	result, err := a.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestAWebhookIsSignedAndHasTheIDOfItsRun(t *testing.T) {
	var problems []string
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			problems = append(problems, err.Error())
		}
		want, err := receiver.Sign(event.NewSecret(hookSecret), "abcd", time.Unix(2e9, 0), body)
		if err != nil || r.Header.Get("webhook-id") != "abcd" || r.Header.Get("webhook-timestamp") != "2000000000" || r.Header.Get("webhook-signature") != want {
			problems = append(problems, "the headers are wrong")
		}
		if !strings.HasPrefix(string(body), `{"type":"eventdeck.reaction","timestamp":"2001-09-09T01:46:40Z","data":{"run":"abcd","rule":"page","count":1`) || !strings.Contains(string(body), `"data":{"a":"$(x)"}`) {
			problems = append(problems, string(body))
		}
		_, _ = io.WriteString(w, "thanks")
	}))
	defer s.Close()
	r := hookRunner(t, s)
	result := sent(t, r, hookRequest(t, r, react.Webhook{URL: s.URL, Private: true}), 1)
	if result.Outcome != react.OutcomeDone || result.Status != 200 || result.Output.Stdout.Head.Raw() != "thanks" || len(problems) > 0 {
		t.Errorf("%+v, %q", result, problems)
	}
}

func TestWebhookStatuses(t *testing.T) {
	var status int
	var after string
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			t.Error("a redirect was followed")
		}
		w.Header().Set("Location", "/elsewhere")
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
	}))
	defer s.Close()
	r := hookRunner(t, s)
	req := hookRequest(t, r, react.Webhook{URL: s.URL, Private: true})
	for _, c := range []struct {
		status  int
		after   string
		attempt int
		outcome react.Outcome
		wait    time.Duration
	}{
		{204, "", 1, react.OutcomeDone, 0},
		{302, "", 1, react.OutcomeRetry, 11 * time.Second},
		{400, "", 2, react.OutcomeRetry, 66 * time.Second},
		{410, "", 1, react.OutcomeFailed, 0},
		{413, "", 1, react.OutcomeFailed, 0},
		{429, "120", 1, react.OutcomeRetry, 2 * time.Minute},
		{503, "99999999", 1, react.OutcomeRetry, time.Hour},
		{503, "Wed, 18 May 2033 03:34:20 GMT", 1, react.OutcomeRetry, time.Minute},
		{503, "1", 1, react.OutcomeRetry, 11 * time.Second},
		{503, "soon", 6, react.OutcomeRetry, 27*time.Minute + 30*time.Second},
	} {
		status, after = c.status, c.after
		if got := sent(t, r, req, c.attempt); got.Outcome != c.outcome || got.After != c.wait || got.Status != c.status {
			t.Errorf("%d, %q, try %d: %+v", c.status, c.after, c.attempt, got)
		}
	}
}

func TestAllTriesFallIntoAnHour(t *testing.T) {
	all := time.Duration(0)
	for _, wait := range backoff {
		all += wait + wait/5 + webhookTime
	}
	if all+webhookTime > time.Hour {
		t.Error(all)
	}
}

func TestAddressesThatAreRefused(t *testing.T) {
	r := hookRunner(t, nil)
	for _, c := range []struct {
		url     string
		private bool
	}{
		{"http://example.com/", true}, {"http://127.0.0.1/", false}, {"ftp://example.com/", true}, {"https://", true}, {"", true},
		{"https://user:pass@example.com/", true}, {"https://example.com/#x", true},
		{"https://127.0.0.1/", false}, {"https://[::1]/", false}, {"https://10.0.0.1/", false}, {"https://[fd00::1]/", false}, {"https://[::ffff:10.0.0.1]/", false},
		{"https://169.254.169.254/", true}, {"https://169.254.169.254/", false}, {"https://[fe80::1]/", true}, {"https://[fd00:ec2::254]/", true},
		{"https://0.0.0.0/", true}, {"https://224.0.0.1/", true},
	} {
		rule := react.Rule{Name: "page", Do: react.Do{Webhook: &react.Webhook{URL: c.url, Private: c.private, Secret: "${HOOK_SECRET}"}}}
		if _, err := r.Prepare(rule, react.Run{ID: "abcd"}, nil); !errors.Is(err, react.ErrTarget) {
			t.Errorf("%s, private %v: %v", c.url, c.private, err)
		}
	}
}

// The IP address is checked each time it is dialed, whatever the host name is.
func TestNameThatResolvesToPrivateAddressIsRefused(t *testing.T) {
	asked := false
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer s.Close()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	r := hookRunner(t, s)
	result := sent(t, r, hookRequest(t, r, react.Webhook{URL: "https://localhost:" + port}), 1)
	if result.Outcome != react.OutcomeFailed || !strings.Contains(result.Why, "not a public address") || asked {
		t.Errorf("%+v, asked: %v", result, asked)
	}
}

func TestSlowAndEndlessAnswersAreBounded(t *testing.T) {
	over := make(chan struct{})
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			select {
			case <-r.Context().Done():
			case <-over:
			}
			return
		}
		chunk := make([]byte, 1<<20)
		for range 1 << 10 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	defer close(over)
	r := hookRunner(t, s)
	req := hookRequest(t, r, react.Webhook{URL: s.URL + "/slow", Private: true})
	req.Time = 500 * time.Millisecond
	if result := sent(t, r, req, 1); result.Outcome != react.OutcomeRetry || !strings.Contains(result.Why, "no answer") {
		t.Errorf("slow: %+v", result)
	}
	if result := sent(t, r, hookRequest(t, r, react.Webhook{URL: s.URL + "/endless", Private: true}), 1); result.Outcome != react.OutcomeDone || result.Output.Stdout.Bytes != maxAnswer {
		t.Errorf("endless: %s, %d bytes", result.Outcome, result.Output.Stdout.Bytes)
	}
	a, err := r.Ready(t.Context(), hookRequest(t, r, react.Webhook{URL: s.URL + "/slow", Private: true}), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Go(nil); err != nil {
		t.Fatal(err)
	}
	a.Kill()
	if result, err := a.Wait(t.Context()); err != nil || result.Outcome != react.OutcomeKilled {
		t.Errorf("stopped: %+v, %v", result, err)
	}
}

func TestSecretsOfWebhooks(t *testing.T) {
	r := hookRunner(t, nil)
	for _, secret := range []string{"", "plain", "${MISSING}", "$HOOK_SECRET", "${HOOK_SECRET}x"} {
		rule := react.Rule{Name: "page", Do: react.Do{Webhook: &react.Webhook{URL: "https://example.com", Secret: secret}}}
		if _, err := r.Prepare(rule, react.Run{ID: "abcd"}, nil); !errors.Is(err, react.ErrSecretMissing) || strings.Contains(err.Error(), "whsec_M") {
			t.Errorf("%q: %v", secret, err)
		}
	}
	if req := hookRequest(t, r, react.Webhook{URL: "https://example.com"}); req.Secret != "${HOOK_SECRET}" {
		t.Errorf("the request holds %q", req.Secret)
	}
}

func TestAWebhookOfAKilledHostIsSentAgain(t *testing.T) {
	r := hookRunner(t, nil)
	a, err := r.Adopt(t.Context(), react.Request{Kind: react.RequestWebhook, Run: "abcd"}, react.Handle{Attempt: 2})
	if err != nil {
		t.Fatal(err)
	}
	if result, err := a.Wait(t.Context()); err != nil || result.Outcome != react.OutcomeRetry || result.After != 66*time.Second {
		t.Errorf("%+v, %v", result, err)
	}
}
