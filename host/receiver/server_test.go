package receiver

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust/strict"
)

// testBook has one path for each state of a path.
func testBook() fakeBook {
	return fakeBook{
		"/hooks/known":   {Entry{Sub: "known", Current: vectorSecret}, PathKnown},
		"/hooks/flight":  {Entry{Sub: "flight", Current: vectorSecret, Previous: secondSecret, PreviousUntil: vectorTime.Add(time.Hour), InFlight: true}, PathKnown},
		"/hooks/locked":  {Entry{Sub: "locked"}, PathKnown},
		"/hooks/ended":   {Entry{Sub: "ended"}, PathEnded},
		"/hooks/removed": {Entry{Sub: "removed"}, PathRemoved},
		"/hooks/left":    {Entry{Sub: "left", Current: vectorSecret}, PathRemoved},
	}
}

func TestDeliveryReachesSink(t *testing.T) {
	r := newRig(t, testBook(), true, nil)
	got := r.do(r.request("/hooks/flight", "evt.1", eventBody, secondSecret))
	if got.status != 204 || got.body != "" || got.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("answer %+v", got)
	}
	all := r.sink.deliveries()
	if len(all) != 1 {
		t.Fatalf("%d deliveries", len(all))
	}
	d := all[0]
	if d.Sub != "flight" || d.WebhookID.Raw() != "evt.1" || d.ServerID.Raw() != "sub_remote" || string(d.Body) != eventBody ||
		d.Type != TypeEvent || !d.UsedPrevious || !d.At.Equal(vectorTime) || !d.SentAt.Equal(vectorTime) || d.At.Location() != time.UTC {
		t.Errorf("delivery %+v", d)
	}
}

func TestRefusals(t *testing.T) {
	r := newRig(t, testBook(), false, func(o *Options) { o.Hosts = []string{"hooks.example"} })
	malformed := `{"eventId":"a","eventId":"b"}`
	for name, tt := range map[string]struct {
		path, body string
		secret     event.Secret
		change     func(*http.Request)
		status     int
		reason     string
		sub        event.SubID
	}{
		"unknown path":        {path: "/hooks/nothing", status: 404, reason: ReasonUnknownPath},
		"unknown, not a POST": {path: "/", status: 404, reason: ReasonUnknownPath, change: func(q *http.Request) { q.Method = "PUT" }},
		"path is exact":       {path: "/hooks//known", status: 404, reason: ReasonUnknownPath},
		"ended":               {path: "/hooks/ended", status: 503, reason: ReasonNoSuchID, sub: "ended"},
		"removed":             {path: "/hooks/removed", status: 410, reason: ReasonNoSuchID, sub: "removed"},
		"removed, signed":     {path: "/hooks/left", status: 410, reason: ReasonNoSuchID, sub: "left"},
		"removed, unsigned":   {path: "/hooks/left", secret: otherSecret, status: 401, reason: ErrSignature.Error(), sub: "left"},
		"no secret":           {path: "/hooks/locked", status: 503, reason: ErrNoSecret.Error(), sub: "locked"},
		"wrong signature":     {path: "/hooks/known", secret: otherSecret, status: 401, reason: ErrSignature.Error(), sub: "known"},
		"duplicate keys":      {path: "/hooks/known", body: malformed, status: 400, reason: ReasonMalformed, sub: "known"},
		"foreign host":        {path: "/hooks/known", status: 421, reason: ReasonHost, change: func(q *http.Request) { q.Host = "evil.example" }},
		"encoded":             {path: "/hooks/known", status: 415, reason: ReasonMediaType, sub: "known", change: func(q *http.Request) { q.Header.Set("Content-Encoding", "gzip") }},
		"charset":             {path: "/hooks/known", status: 415, reason: ReasonMediaType, sub: "known", change: func(q *http.Request) { q.Header.Set("Content-Type", "application/json; charset=utf-16") }},
		"two types":           {path: "/hooks/known", status: 415, reason: ReasonMediaType, sub: "known", change: func(q *http.Request) { q.Header.Add("Content-Type", "application/json") }},
		"bad id":              {path: "/hooks/known", status: 400, reason: ReasonMalformed, sub: "known", change: func(q *http.Request) { q.Header.Set(HeaderID, "{}") }},
		"not in flight":       {path: "/hooks/known", body: `{"type":"verification","challenge":"x"}`, status: 403, reason: ReasonNotInFlight, sub: "known"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.body == "" {
				tt.body = eventBody
			}
			if tt.secret.IsZero() {
				tt.secret = vectorSecret
			}
			req := r.request(tt.path, "evt_1", tt.body, tt.secret)
			if tt.change != nil {
				tt.change(req)
			}
			got := r.do(req)
			if got.status != tt.status || got.body != http.StatusText(tt.status)+"\n" {
				t.Errorf("answer %+v, want status %d", got, tt.status)
			}
			if (tt.status == 503) != (got.header.Get("Retry-After") != "") {
				t.Errorf("Retry-After %q", got.header.Get("Retry-After"))
			}
			if (tt.status == 401) != (got.header.Get("WWW-Authenticate") != "") {
				t.Errorf("WWW-Authenticate %q", got.header.Get("WWW-Authenticate"))
			}
			last := r.lastRefusal()
			if !strings.HasPrefix(last.Reason, tt.reason) || last.Status != tt.status || last.Sub != tt.sub || !last.At.Equal(vectorTime) {
				t.Errorf("refusal %+v, want %q of %q", last, tt.reason, tt.sub)
			}
		})
	}
	all := r.sink.deliveries()
	if len(all) != 1 || all[0].Type != TypeMalformed || !errors.Is(all[0].Refused, strict.ErrDuplicateKey) || string(all[0].Body) != malformed {
		t.Errorf("the sink got %+v, want the malformed body only", all)
	}
}

func TestHostsThatAreServed(t *testing.T) {
	r := newRig(t, testBook(), false, func(o *Options) { o.Hosts = []string{"hooks.example"} })
	for _, host := range []string{"localhost", "LOCALHOST.:99", "127.0.0.1:1", "[::1]:8443", "[::1]", "hooks.example", "Hooks.Example:443"} {
		req := r.request("/hooks/known", "evt_1", eventBody, vectorSecret)
		req.Host = host
		if got := r.do(req); got.status != 204 {
			t.Errorf("%s: %d", host, got.status)
		}
	}
}

func TestChallenge(t *testing.T) {
	r := newRig(t, testBook(), true, nil)
	for name, secret := range map[string]event.Secret{"current": vectorSecret, "previous": secondSecret} {
		body := `{"type":"verification","challenge":"a\"<\u001b\u2028é"}`
		got := r.do(r.request("/hooks/flight", "msg_verification_1", body, secret))
		if got.status != 200 || got.header.Get("Content-Type") != "application/json" || got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: answer %+v", name, got)
		}
		members, err := strict.ParseObject([]byte(got.body), strict.Limits{})
		if err != nil || len(members) != 1 {
			t.Fatalf("%s: body %q: %v", name, got.body, err)
		}
		challenge, _, err := stringMember(members, "challenge")
		if err != nil || challenge.Raw() != "a\"<\x1b\u2028é" {
			t.Errorf("%s: challenge %v, %v", name, challenge, err)
		}
	}
	if n := len(r.sink.deliveries()); n != 0 {
		t.Errorf("%d challenges reached the sink", n)
	}
	if len(r.challenged) != 2 || r.challenged[0].Raw() != "sub_remote" {
		t.Errorf("challenged %v", r.challenged)
	}
}

func TestChangedDataUnderAKnownIDAreReported(t *testing.T) {
	r := newRig(t, testBook(), true, nil)
	r.sink.before = func(context.Context, Delivery) error { return ErrChanged }
	got := r.do(r.request("/hooks/known", "evt_1", eventBody, vectorSecret))
	if f := r.lastRefusal(); got.status != 204 || f.Reason != ReasonChanged || f.Status != 204 || f.Sub != "known" {
		t.Errorf("%+v, %+v", got, f)
	}
}

func TestSinkErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		deliver func(context.Context, Delivery) error
		status  int
		reason  string
	}{
		"rejected": {func(context.Context, Delivery) error { return ErrRejected }, 400, ReasonMalformed},
		"busy":     {func(context.Context, Delivery) error { return ErrBusy }, 503, ReasonNotStored},
		"full":     {func(context.Context, Delivery) error { return event.ErrFull }, 503, ReasonNotStored},
		"other":    {func(context.Context, Delivery) error { return errors.New("x") }, 503, ReasonNotStored},
		"panic":    {func(context.Context, Delivery) error { panic("x") }, 503, ReasonPanic},
		"too slow": {func(ctx context.Context, _ Delivery) error { <-ctx.Done(); return ctx.Err() }, 503, ReasonNotStored},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, testBook(), true, func(o *Options) {
				if name == "too slow" {
					o.Limits.Deliver = 20 * time.Millisecond
				}
			})
			r.sink.before = tt.deliver
			got := r.do(r.request("/hooks/known", "evt_1", eventBody, vectorSecret))
			if got.status != tt.status || r.lastRefusal().Reason != tt.reason {
				t.Errorf("answer %+v, reason %q", got, r.lastRefusal().Reason)
			}
			if (tt.status == 503) != (got.header.Get("Retry-After") != "") {
				t.Errorf("Retry-After %q", got.header.Get("Retry-After"))
			}
		})
	}
	t.Run("malformed and not stored", func(t *testing.T) {
		r := newRig(t, testBook(), true, nil)
		r.sink.before = func(context.Context, Delivery) error { return event.ErrFull }
		if got := r.do(r.request("/hooks/known", "evt_1", `[]`, vectorSecret)); got.status != 503 {
			t.Errorf("status %d: 400 before the commit", got.status)
		}
	})
}

// endless is a body that counts the bytes read from it.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += int64(len(p))
	return len(p), nil
}

func TestEndlessBodyIsNotRead(t *testing.T) {
	s, err := New(Options{Book: testBook(), Sink: &fakeSink{}, AllowPlain: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, length := range map[string]int64{"chunked": -1, "declared": MaxBody + 1} {
		body := &endless{}
		req := httptest.NewRequest(http.MethodPost, "http://localhost/hooks/known", body)
		req.ContentLength = length
		signInto(t, req.Header, "evt_1", time.Now(), nil, vectorSecret)
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, req)
		if w.Code != 413 || body.read > 270_000 || length > 0 && body.read > 0 {
			t.Errorf("%s: status %d after %d bytes", name, w.Code, body.read)
		}
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

type brokenBody struct{ err error }

func (b brokenBody) Read([]byte) (int, error) { return 0, b.err }

func TestBodyThatBreaksOff(t *testing.T) {
	s, err := New(Options{Book: testBook(), Sink: &fakeSink{}, AllowPlain: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.abandon()
	for want, failure := range map[int]error{400: io.ErrUnexpectedEOF, 408: errDeadline()} {
		req := httptest.NewRequest(http.MethodPost, "http://localhost/hooks/known", brokenBody{failure})
		signInto(t, req.Header, "evt_1", time.Now(), nil, vectorSecret)
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, req)
		if w.Code != want {
			t.Errorf("%v: status %d, want %d", failure, w.Code, want)
		}
	}
}

// errDeadline is the network's error after a deadline.
func errDeadline() error {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if err := a.SetReadDeadline(time.Unix(1, 0)); err != nil {
		return err
	}
	_, err := a.Read(make([]byte, 1))
	return err
}

func TestTooManyInFlight(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	r := newRig(t, testBook(), true, func(o *Options) { o.Limits.InFlight = 1 })
	r.sink.before = func(context.Context, Delivery) error {
		close(entered)
		<-release
		return nil
	}
	first := make(chan answer)
	req := r.request("/hooks/known", "evt_1", eventBody, vectorSecret)
	go func() { first <- r.do(req) }()
	<-entered
	got := r.do(r.request("/hooks/known", "evt_2", eventBody, vectorSecret))
	if got.status != 503 || got.header.Get("Retry-After") == "" || r.lastRefusal().Reason != ReasonBusy {
		t.Errorf("answer %+v", got)
	}
	close(release)
	if got := <-first; got.status != 204 {
		t.Errorf("the first got %d", got.status)
	}
}

func TestShutdownFinishesDeliveriesUnderWay(t *testing.T) {
	for _, tlsOn := range []bool{true, false} {
		entered, release := make(chan struct{}), make(chan struct{})
		r := newRig(t, testBook(), tlsOn, nil)
		r.sink.before = func(context.Context, Delivery) error {
			close(entered)
			<-release
			return nil
		}
		first, ended := make(chan answer), make(chan error)
		req := r.request("/hooks/known", "evt_1", eventBody, vectorSecret)
		go func() { first <- r.do(req) }()
		<-entered
		go func() { ended <- r.server.Shutdown(context.Background()) }()
		for closed := false; !closed; {
			r.server.handler.gate.mu.Lock()
			closed = r.server.handler.gate.closed
			r.server.handler.gate.mu.Unlock()
		}
		late := httptest.NewRequest(http.MethodPost, "http://localhost/hooks/known", strings.NewReader(eventBody))
		signInto(t, late.Header, "evt_2", r.now, []byte(eventBody), vectorSecret)
		w := httptest.NewRecorder()
		r.server.handler.ServeHTTP(w, late)
		if w.Code != 503 || r.lastRefusal().Reason != ReasonClosing {
			t.Errorf("a late delivery got %d", w.Code)
		}
		select {
		case err := <-ended:
			t.Errorf("Shutdown returned (%v) before the delivery", err)
		default:
		}
		close(release)
		if got := <-first; got.status != 204 {
			t.Errorf("the delivery that had begun got %d", got.status)
		}
		r.client.CloseIdleConnections()
		if err := <-ended; err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := r.server.Wait(); err != nil {
			t.Errorf("Wait: %v", err)
		}
		if conn, err := net.Dial("tcp", r.server.Addr()); err == nil {
			t.Error("still listening", conn.Close())
		}
	}
}

func TestShutdownGivesUp(t *testing.T) {
	entered, gaveUp := make(chan struct{}), make(chan error, 1)
	r := newRig(t, testBook(), true, nil)
	r.sink.before = func(ctx context.Context, _ Delivery) error {
		close(entered)
		<-ctx.Done()
		gaveUp <- ctx.Err()
		return ctx.Err()
	}
	failed := make(chan error)
	req := r.request("/hooks/known", "evt_1", eventBody, vectorSecret)
	go func() {
		resp, err := r.client.Do(req)
		if err == nil {
			err = resp.Body.Close()
			if resp.StatusCode < 300 {
				t.Errorf("acknowledged with %d", resp.StatusCode)
			}
		}
		failed <- err
	}()
	<-entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.server.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v", err)
	}
	if err := <-gaveUp; !errors.Is(err, context.Canceled) {
		t.Errorf("the sink saw %v", err)
	}
	<-failed
}

func TestContextEndsServer(t *testing.T) {
	s, err := New(Options{Book: testBook(), Sink: &fakeSink{}, AllowPlain: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := s.Start(ctx); !errors.Is(err, ErrOptions) {
		t.Errorf("Start before Listen: %v", err)
	}
	if s.Addr() != "" {
		t.Errorf("Addr before Listen: %q", s.Addr())
	}
	if err := s.Listen("localhost:0"); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := s.Wait(); err != nil {
		t.Errorf("Wait: %v", err)
	}
}

func TestWaitReturnsWhyItStopped(t *testing.T) {
	s, err := New(Options{Book: testBook(), Sink: &fakeSink{}, AllowPlain: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(""); err != nil {
		t.Fatal(err)
	}
	if err := s.listener.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Wait: %v", err)
	}
	if err := s.Shutdown(context.Background()); err == nil {
		t.Error("Shutdown hides that the server had stopped")
	}
}

func TestNewAndListenRefuse(t *testing.T) {
	ca, err := OpenCA(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{
		{Sink: &fakeSink{}, AllowPlain: true},
		{Book: testBook(), AllowPlain: true},
		{Book: testBook(), Sink: &fakeSink{}},
	} {
		if _, err := New(o); !errors.Is(err, ErrOptions) {
			t.Errorf("New(%+v): %v", o, err)
		}
	}
	plain, err := New(Options{Book: testBook(), Sink: &fakeSink{}, AllowPlain: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := plain.Listen("0.0.0.0:0"); !errors.Is(err, ErrPlain) {
		t.Errorf("plain on every address: %v", err)
	}
	if err := plain.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	second, err := New(Options{Book: testBook(), Sink: &fakeSink{}, Certificate: ca.GetCertificate})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Listen(plain.Addr()); err == nil || !strings.Contains(err.Error(), plain.Addr()) {
		t.Errorf("an address in use: %v", err)
	}
	if err := plain.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if err := second.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	r := newRig(t, testBook(), true, nil)
	conn, err := tls.Dial("tcp", r.server.Addr(), &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10, InsecureSkipVerify: true})
	if err == nil {
		t.Error("TLS 1.1 was taken", conn.Close())
	}
}
