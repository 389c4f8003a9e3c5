package demo

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/receiver"
	"eventdeck/host/wire"
)

// serving runs a server until the end of the test and returns its address.
func serving(t *testing.T, serve func(context.Context, net.Listener) error) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

// The events of a subscription come before the response that ends it: a client could not tell a
// later one from an event of its next subscription.
func TestArchiveSendsNothingAfterTheEndOfASubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := NewArchive(ServerOptions{Rate: 10})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		saying, say := make(chan struct{}), make(chan struct{})
		s, _, err := a.newSession(ctx, func([]byte) error {
			saying <- struct{}{}
			<-say
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		ask := func(method string) {
			params := json.RawMessage(`{"uri":"` + archiveTick + `"}`)
			if _, f := a.inBand(s, wire.Message{Method: method, Params: params}); f != nil {
				t.Error(f.Message)
			}
		}
		ask("resources/subscribe")
		<-saying
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			ask("resources/unsubscribe")
		}()
		synctest.Wait()
		select {
		case <-answered:
			t.Error("the end is answered while an event is on its way")
		default:
		}
		close(say)
		<-answered
		cancel()
		s.workers.Wait()
	})
}

// reader is a client of the archive.
type reader struct {
	t      *testing.T
	client *http.Client
	post   string
	frames chan string
	next   int
}

func newReader(t *testing.T, o ServerOptions) (*reader, *Archive) {
	t.Helper()
	a, err := NewArchive(o)
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + serving(t, a.Serve)
	r := &reader{t: t, client: &http.Client{Transport: &http.Transport{}}, frames: make(chan string, 1000)}
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+ArchivePath, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	endpoint := make(chan string, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lines, kind := bufio.NewScanner(res.Body), ""
		for lines.Scan() {
			line := lines.Text()
			switch {
			case strings.HasPrefix(line, "event: "):
				kind = line[len("event: "):]
			case strings.HasPrefix(line, "data: ") && kind == "endpoint":
				endpoint <- line[len("data: "):]
			case strings.HasPrefix(line, "data: "):
				r.frames <- line[len("data: "):]
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		res.Body.Close()
		<-ended
		r.client.CloseIdleConnections()
	})
	r.post = base + <-endpoint
	return r, a
}

// frame returns the next frame that matches.
func (r *reader) frame(match func(map[string]json.RawMessage) bool) map[string]json.RawMessage {
	r.t.Helper()
	late := time.After(patience)
	for {
		select {
		case text := <-r.frames:
			var m map[string]json.RawMessage
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				r.t.Fatal(err)
			}
			if match(m) {
				return m
			}
		case <-late:
			r.t.Fatal("the awaited frame did not come")
		}
	}
}

// call makes a request and returns its result or its error.
func (r *reader) call(method, params string) (result, fault json.RawMessage) {
	r.t.Helper()
	r.next++
	id := fmt.Sprint(r.next)
	res, err := r.client.Post(r.post, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`","params":`+params+`}`))
	if err != nil {
		r.t.Fatal(err)
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		r.t.Fatalf("%s: %s", method, res.Status)
	}
	m := r.frame(func(m map[string]json.RawMessage) bool { return string(m["id"]) == id })
	return m["result"], m["error"]
}

func TestArchiveUpdatesInTheConnection(t *testing.T) {
	r, _ := newReader(t, ServerOptions{Speed: 50, Rate: 100})
	if result, _ := r.call("initialize", `{"protocolVersion":"2024-11-05"}`); !strings.Contains(string(result), `"subscription":["notification","webhook"]`) {
		t.Errorf("greeting %s", result)
	}
	if result, _ := r.call("resources/list", `{}`); !strings.Contains(string(result), archiveFiled) || !strings.Contains(string(result), archiveTick) {
		t.Errorf("resources %s", result)
	}
	if result, _ := r.call("resources/templates/list", `{}`); !strings.Contains(string(result), archiveShelf) {
		t.Errorf("templates %s", result)
	}
	if _, fault := r.call("resources/subscribe", `{"uri":"event://archive/shelf/attic"}`); fault == nil {
		t.Error("a shelf that is not there can be subscribed to")
	}
	for _, uri := range []string{"event://archive/shelf/letters", archiveTick} {
		if _, fault := r.call("resources/subscribe", `{"uri":"`+uri+`"}`); fault != nil {
			t.Fatalf("%s: %s", uri, fault)
		}
	}
	under := func(prefix string) func(map[string]json.RawMessage) bool {
		return func(m map[string]json.RawMessage) bool {
			return strings.HasPrefix(string(m["params"]), `{"payload":{`) && strings.Contains(string(m["params"]), prefix)
		}
	}
	if m := r.frame(under(`"uri":"event://archive/shelf/letters/`)); !strings.Contains(string(m["params"]), `"shelf":"letters"`) {
		t.Errorf("update %s", m["params"])
	}
	before := 0
	for range 20 { // in order, without a hole
		var p struct{ Payload struct{ N int } }
		if err := json.Unmarshal(r.frame(under(archiveTick))["params"], &p); err != nil || before > 0 && p.Payload.N != before+1 {
			t.Fatalf("tick %d after %d, %v", p.Payload.N, before, err)
		}
		before = p.Payload.N
	}
	if _, fault := r.call("resources/unsubscribe", `{"uri":"`+archiveTick+`"}`); fault != nil {
		t.Error(string(fault))
	}
	if _, fault := r.call("tools/list", `{}`); fault == nil {
		t.Error("a method that is not there is answered")
	}
}

// inbox collects deliveries.
type inbox struct {
	secret chan event.Secret
	got    chan map[string]json.RawMessage
}

func TestArchiveDeliversWithItsOwnSecret(t *testing.T) {
	box := &inbox{secret: make(chan event.Secret, 1), got: make(chan map[string]json.RawMessage, 100)}
	ca, err := receiver.OpenCA(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var secret event.Secret
	n := 0
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		if n++; n == 1 { // the response with the secret may not have come yet
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if secret.IsZero() {
			secret = <-box.secret
		}
		h, err := receiver.ReadHeaders(q.Header)
		if err == nil {
			_, err = h.Verify(body, receiver.Entry{Current: secret}, time.Now())
		}
		if err != nil {
			t.Error(err)
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(body, &m); err != nil {
			t.Error(err)
		}
		m["id"] = json.RawMessage(h.ID.Raw())
		if n == 5 {
			w.WriteHeader(http.StatusGone)
		}
		box.got <- m
	})}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server.TLSConfig = tlsOf(ca)
	go server.ServeTLS(ln, "", "")
	t.Cleanup(func() { server.Close() })

	r, a := newReader(t, ServerOptions{Rate: 50, CAFile: ca.CertPath()})
	for _, bad := range []string{`{"uris":["` + archiveTick + `"],"targetUri":"http://x/"}`, `{"uris":[],"targetUri":"https://x/"}`, `{"uris":["event://no"],"targetUri":"https://x/"}`} {
		if _, fault := r.call("resources/subscriptions/register", bad); fault == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	result, fault := r.call("resources/subscriptions/register", fmt.Sprintf(`{"uris":[%q],"targetUri":"https://%s/hook"}`, archiveTick, ln.Addr()))
	if fault != nil {
		t.Fatal(string(fault))
	}
	var p struct {
		Subscription struct {
			URI           string
			WebhookSecret struct{ Type, Key string }
		}
	}
	if err := json.Unmarshal(result, &p); err != nil || p.Subscription.WebhookSecret.Type != "standard" {
		t.Fatalf("%s, %v", result, err)
	}
	box.secret <- event.NewSecret(p.Subscription.WebhookSecret.Key)
	ids := map[string]bool{}
	for range 4 {
		m := <-box.got
		if string(m["type"]) != `"load.tick"` || ids[string(m["id"])] {
			t.Errorf("delivery %s", m["id"])
		}
		ids[string(m["id"])] = true
	}
	a.workers.Wait() // the last answer was 410: the registration is over
	if _, fault := r.call("resources/subscriptions/deregister", `{"uri":"`+p.Subscription.URI+`"}`); fault == nil {
		t.Error("a registration that ended with 410 is still there")
	}
}

func TestServersRefuseStrangers(t *testing.T) {
	a, err := NewArchive(ServerOptions{Token: event.NewSecret("sesame-open")})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	base := "http://" + serving(t, a.Serve)
	for name, change := range map[string]func(*http.Request){
		"no token":     func(*http.Request) {},
		"wrong token":  func(r *http.Request) { r.Header.Set("Authorization", "Bearer guess") },
		"another name": func(r *http.Request) { r.Host = "evil.example" },
		"another page": func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
	} {
		req, err := http.NewRequest(http.MethodGet, base+ArchivePath, nil)
		if err != nil {
			t.Fatal(err)
		}
		change(req)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode/100 != 4 {
			t.Errorf("%s: %s", name, res.Status)
		}
	}
	for _, o := range []ServerOptions{{Speed: -1}, {Rate: -1}} {
		if _, err := NewArchive(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
		if _, err := NewDigest(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

func tlsOf(ca *receiver.CA) *tls.Config {
	return &tls.Config{GetCertificate: ca.GetCertificate, MinVersion: tls.VersionTLS12}
}
