package receiver

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The published vector of Standard Webhooks, and a second secret for rotation.
var (
	vectorSecret = event.NewSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	secondSecret = event.NewSecret("whsec_oKGio6SlpqeoqaqrrK2ur7CxsrO0tba3uLm6u7y9vr8=")
	otherSecret  = event.NewSecret("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	vectorTime   = time.Unix(1614265330, 0)
)

const (
	vectorID   = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	vectorBody = `{"test": 2432232314}`
	vectorV1   = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	secondV1   = "v1,muR9NUpLyhdWg8SyQR6X7075a13eHWC2x8thNge5qgw="
	ownV1a     = "v1a,yoUrgEkc12aGqm0n4Sydmdz55xJfTz4AsAgieHFjmkR7LJtqVCZOQYzvvHjI5kAey+r4iaBGxTFRrl2iBQxtDQ=="

	eventBody = `{"eventId":"evt_1","name":"a.b","timestamp":"2026-02-19T16:00:00Z","data":{}}`
)

type page struct {
	entry Entry
	state PathState
}

// fakeBook is a Book that does not change while it is asked.
type fakeBook map[string]page

func (b fakeBook) Lookup(path string) (Entry, PathState) {
	p := b[path]
	return p.entry, p.state
}

// fakeSink keeps deliveries and drops repeated ids, as a store would.
type fakeSink struct {
	mu     sync.Mutex
	taken  []Delivery
	before func(ctx context.Context, d Delivery) error // may fail or wait
}

func (s *fakeSink) Deliver(ctx context.Context, d Delivery) error {
	if s.before != nil {
		if err := s.before(ctx, d); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, old := range s.taken {
		if old.Sub == d.Sub && old.WebhookID == d.WebhookID {
			return nil
		}
	}
	s.taken = append(s.taken, d)
	return nil
}

func (s *fakeSink) deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Delivery(nil), s.taken...)
}

// rig is a running server with its book and sink.
type rig struct {
	t      *testing.T
	server *Server
	sink   *fakeSink
	client *http.Client
	base   string
	now    time.Time

	mu         sync.Mutex
	refusals   []event.Refusal
	challenged []trust.Text

	unknownKeys []event.SubID
}

func newRig(t *testing.T, book Book, tlsOn bool, change func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, sink: &fakeSink{}, now: vectorTime}
	o := Options{
		Book: book,
		Sink: r.sink,
		Now:  func() time.Time { return r.now },
		Refused: func(f event.Refusal) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.refusals = append(r.refusals, f)
		},
		Challenged: func(_ event.SubID, server trust.Text) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.challenged = append(r.challenged, server)
		},
		UnknownKey: func(sub event.SubID) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.unknownKeys = append(r.unknownKeys, sub)
		},
		AllowPlain: !tlsOn,
	}
	transport := &http.Transport{ForceAttemptHTTP2: true}
	r.base = "http://"
	if tlsOn {
		ca, err := OpenCA(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		o.Certificate = ca.GetCertificate
		transport.TLSClientConfig = &tls.Config{RootCAs: poolOf(t, ca)}
		r.base = "https://"
	}
	if change != nil {
		change(&o)
	}
	server, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Listen(""); err != nil {
		t.Fatal(err)
	}
	if err := server.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.server, r.client, r.base = server, &http.Client{Transport: transport}, r.base+server.Addr()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
	})
	return r
}

func (r *rig) lastRefusal() event.Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.refusals) == 0 {
		return event.Refusal{}
	}
	return r.refusals[len(r.refusals)-1]
}

// request makes a well-signed delivery.
func (r *rig) request(path, id, body string, secret event.Secret) *http.Request {
	r.t.Helper()
	req, err := http.NewRequest(http.MethodPost, r.base+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	signInto(r.t, req.Header, id, r.now, []byte(body), secret)
	return req
}

func signInto(t testing.TB, header http.Header, id string, at time.Time, body []byte, secret event.Secret) {
	t.Helper()
	sig, err := Sign(secret, id, at, body)
	if err != nil {
		t.Fatal(err)
	}
	header.Set("Content-Type", "application/json")
	header.Set(HeaderID, id)
	header.Set(HeaderTimestamp, strconv.FormatInt(at.Unix(), 10))
	header.Set(HeaderSignature, sig)
	header.Set(HeaderSubscription, "sub_remote")
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (r *rig) do(req *http.Request) answer {
	r.t.Helper()
	resp, err := r.client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, resp.Body); err != nil {
		r.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, b.String()}
}
