package receiver

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
)

// Each bound of a request: below it, at it and above it.
func TestBoundsOfARequest(t *testing.T) {
	entry := func(n int) string { return strings.Repeat(" v9,x", n) }
	sized := func(n int) string {
		return strings.TrimSuffix(eventBody, "}") + strings.Repeat(" ", n-len(eventBody)) + "}"
	}
	type change = func(t *testing.T, q *http.Request)
	header := func(name string, value func(n int) string) func(int) change {
		return func(n int) change {
			return func(_ *testing.T, q *http.Request) { q.Header.Set(name, value(n)) }
		}
	}
	id := func(n int) change {
		return func(t *testing.T, q *http.Request) {
			signInto(t, q.Header, strings.Repeat("i", n), vectorTime, []byte(eventBody), vectorSecret)
		}
	}
	signatures := func(n int) change {
		return func(_ *testing.T, q *http.Request) {
			q.Header.Set(HeaderSignature, q.Header.Get(HeaderSignature)+entry(n-1))
		}
	}
	signatureBytes := func(n int) change {
		return func(_ *testing.T, q *http.Request) {
			have := q.Header.Get(HeaderSignature)
			q.Header.Set(HeaderSignature, have+" "+strings.Repeat("x", n-len(have)-1))
		}
	}
	body := func(n int) change {
		return func(t *testing.T, q *http.Request) {
			signInto(t, q.Header, "evt_1", vectorTime, []byte(sized(n)), vectorSecret)
			q.Body, q.ContentLength = io.NopCloser(strings.NewReader(sized(n))), int64(n)
		}
	}
	clock := func(n int) change {
		return func(t *testing.T, q *http.Request) {
			signInto(t, q.Header, "evt_1", vectorTime.Add(time.Duration(n)*time.Second), []byte(eventBody), vectorSecret)
		}
	}
	for _, tt := range []struct {
		name        string
		with        func(n int) change
		inside, out []int
		status      int
	}{
		{"webhook-id", id, []int{1, maxIDBytes - 1, maxIDBytes}, []int{0, maxIDBytes + 1}, 400},
		{"subscription id", header(HeaderSubscription, func(n int) string { return strings.Repeat("s", n) }), []int{1, maxSubscriptionBytes - 1, maxSubscriptionBytes}, []int{maxSubscriptionBytes + 1}, 400},
		{"signatures", signatures, []int{1, maxSignatures - 1, maxSignatures}, []int{maxSignatures + 1}, 400},
		{"bytes of signatures", signatureBytes, []int{maxSignatureBytes - 1, maxSignatureBytes}, []int{maxSignatureBytes + 1}, 400},
		{"body", body, []int{len(eventBody), MaxBody - 1, MaxBody}, []int{MaxBody + 1}, 413},
		{"clock", clock, []int{-299, -300, 0, 300}, []int{-301, 301}, 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, testBook(), false, nil)
			try := func(n, want int) {
				req := r.request("/hooks/known", "evt_1", eventBody, vectorSecret)
				tt.with(n)(t, req)
				if got := r.do(req); got.status != want {
					t.Errorf("%d: status %d, want %d (%s)", n, got.status, want, r.lastRefusal().Reason)
				}
			}
			for _, n := range tt.inside {
				try(n, 204)
			}
			for _, n := range tt.out {
				try(n, tt.status)
			}
		})
	}
}

func TestBoundOfAllHeaders(t *testing.T) {
	r := newRig(t, testBook(), false, nil)
	for padding, want := range map[int]int{maxHeaderBytes - 1024: 204, maxHeaderBytes + 8192: 431} {
		req := r.request("/hooks/known", "evt_1", eventBody, vectorSecret)
		req.Header.Set("X-Padding", strings.Repeat("p", padding))
		resp, err := r.client.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		// A sender that is still writing may not see the refusal.
		if err == nil && resp.StatusCode != want || err != nil && want == 204 {
			t.Errorf("%d bytes more: %v, %v, want status %d", padding, resp, err, want)
		}
	}
}

func TestBoundOfAChallenge(t *testing.T) {
	r := newRig(t, testBook(), false, nil)
	for n, want := range map[int]int{0: 400, 1: 200, maxChallenge - 1: 200, maxChallenge: 200, maxChallenge + 1: 400} {
		body := `{"type":"verification","challenge":"` + strings.Repeat("é", n) + `"}`
		if got := r.do(r.request("/hooks/flight", "msg_1", body, vectorSecret)); got.status != want {
			t.Errorf("%d characters: status %d, want %d", n, got.status, want)
		}
	}
}

// from is a request that comes from an address, on a connection of its own.
func from(t *testing.T, address, path string, secret event.Secret) *http.Request {
	req := httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(eventBody))
	req.RemoteAddr = address
	signInto(t, req.Header, "evt_1", vectorTime, []byte(eventBody), secret)
	return req
}

func TestBadRequestsAreBounded(t *testing.T) {
	now := vectorTime
	s, err := New(Options{
		Book: testBook(), Sink: &fakeSink{}, AllowPlain: true, Now: func() time.Time { return now },
		Limits: Limits{Bad: Rate{PerSecond: 2, Burst: 5}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.abandon()
	do := func(req *http.Request) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, req)
		return w
	}
	expect := func(what string, want int, req *http.Request) {
		t.Helper()
		w := do(req)
		if w.Code != want {
			t.Errorf("%s: status %d, want %d", what, w.Code, want)
		}
		if retry, err := strconv.Atoi(w.Header().Get("Retry-After")); want == 429 && (err != nil || retry < 1) {
			t.Errorf("%s: Retry-After %q", what, w.Header().Get("Retry-After"))
		}
	}
	const bad, good = "192.0.2.1:1", "192.0.2.2:1"
	for range 5 {
		expect("below and at the limit", 401, from(t, bad, "/hooks/known", otherSecret))
		expect("below and at the limit", 404, from(t, bad, "/hooks/nothing", otherSecret))
	}
	expect("above it", 429, from(t, bad, "/hooks/known", otherSecret))
	expect("above it", 429, from(t, bad, "/hooks/nothing", otherSecret))
	expect("above it, also a genuine one", 429, from(t, bad, "/hooks/known", vectorSecret))
	expect("at another path", 204, from(t, bad, "/hooks/flight", vectorSecret))
	expect("from elsewhere", 204, from(t, good, "/hooks/known", vectorSecret))
	now = now.Add(500 * time.Millisecond)
	expect("after a while", 401, from(t, bad, "/hooks/known", otherSecret))
	expect("after a while, above it", 429, from(t, bad, "/hooks/known", otherSecret))
	now = now.Add(-time.Hour) // the clock is set back
	expect("above it at another time", 429, from(t, bad, "/hooks/known", otherSecret))
	now = now.Add(time.Hour)
	for range 100 {
		expect("genuine ones do not count", 204, from(t, good, "/hooks/known", vectorSecret))
	}
}

// Behind a trusted proxy senders are told apart by what it says of them, and no other header can
// put the blame on another sender.
func TestSendersBehindAProxyAreToldApart(t *testing.T) {
	now := vectorTime
	s, err := New(Options{
		Book: testBook(), Sink: &fakeSink{}, AllowPlain: true, Now: func() time.Time { return now },
		Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.1/32")},
		Limits:  Limits{Bad: Rate{PerSecond: 1, Burst: 2}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.abandon()
	status := func(address, forwarded string, secret event.Secret) int {
		req := from(t, address, "/hooks/known", secret)
		if forwarded != "" {
			req.Header.Set("X-Forwarded-For", forwarded)
		}
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, req)
		return w.Code
	}
	const proxy = "127.0.0.1:4711"
	for range 5 {
		status(proxy, "192.0.2.2, 203.0.113.9, 10.1.1.1", otherSecret) // names an innocent one in front
	}
	for name, tt := range map[string]struct {
		address, forwarded string
		want               int
	}{
		"the one that floods":            {proxy, "203.0.113.9", 429},
		"the one that it named":          {proxy, "192.0.2.2", 204},
		"a third one":                    {proxy, "2001:db8::1", 204},
		"an untrusted proxy says so":     {"192.0.2.7:1", "203.0.113.9", 204},
		"the proxy itself":               {proxy, "", 204},
		"the proxy, with an empty list":  {proxy, ", ,", 204},
		"the proxy, with what is no one": {proxy, "unknown", 204},
	} {
		if got := status(tt.address, tt.forwarded, vectorSecret); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

// A connection that has brought a genuine delivery works on while others from the same address, such as
// one tunnel, flood the receiver.
func TestGenuineConnectionIsNotRateLimited(t *testing.T) {
	r := newRig(t, testBook(), true, func(o *Options) { o.Limits.Bad = Rate{PerSecond: 0.001, Burst: 3} })
	if got := r.do(r.request("/hooks/known", "evt_1", eventBody, vectorSecret)); got.status != 204 {
		t.Fatal(got.status)
	}
	flood := &http.Client{Transport: &http.Transport{TLSClientConfig: plainTLS(r)}}
	defer flood.CloseIdleConnections()
	statuses := map[int]int{}
	for range 6 {
		resp, err := flood.Do(r.request("/hooks/known", "evt_1", eventBody, otherSecret))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		statuses[resp.StatusCode]++
	}
	if statuses[401] != 3 || statuses[429] != 3 {
		t.Errorf("statuses of the flood: %v", statuses)
	}
	for range 5 {
		if got := r.do(r.request("/hooks/known", "evt_2", eventBody, vectorSecret)); got.status != 204 {
			t.Errorf("status %d", got.status)
		}
	}
	if got := r.do(r.request("/hooks/known", "evt_3", eventBody, otherSecret)); got.status != 401 {
		t.Errorf("a wrong one on it: %d", got.status)
	}
	if got := r.do(r.request("/hooks/known", "evt_4", eventBody, vectorSecret)); got.status != 429 {
		t.Errorf("after the wrong one: %d", got.status)
	}
}

func TestSources(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7:80": "192.0.2.7", "[::ffff:192.0.2.7]:80": "192.0.2.7",
		"[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::", "[fe80::1%eth0]:80": "fe80::", "pipe": "invalid IP",
	} {
		if got := sourceOf(address).String(); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestManySourcesShareABucket(t *testing.T) {
	l := newLimiter(Rate{PerSecond: 1, Burst: 1}, 3)
	source := func(n byte) origin { return origin{source: netip.AddrFrom4([4]byte{192, 0, 2, n})} }
	now := vectorTime
	for n := range byte(3) {
		l.charge(source(n), now)
	}
	if l.wait(source(9), now) != 0 {
		t.Error("a source without a bucket waits for others")
	}
	l.charge(source(9), now)
	if l.wait(source(9), now) == 0 || l.wait(source(10), now) == 0 {
		t.Error("further sources are not bounded")
	}
	if len(l.buckets) > 4 {
		t.Errorf("%d buckets", len(l.buckets))
	}
	now = now.Add(2 * time.Second)
	l.charge(source(10), now)
	if len(l.buckets) != 1 || l.wait(source(0), now) != 0 {
		t.Errorf("%d buckets after all were full again", len(l.buckets))
	}
}

// plainTLS is the client's configuration for HTTP/1.1.
func plainTLS(r *rig) *tls.Config {
	return &tls.Config{RootCAs: r.client.Transport.(*http.Transport).TLSClientConfig.RootCAs}
}

// dialer opens connections that are answered once.
type dialer struct {
	t *testing.T
	r *rig
}

func (d dialer) dial() *tls.Conn {
	d.t.Helper()
	c, err := tls.Dial("tcp", d.r.server.Addr(), plainTLS(d.r))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { c.Close() })
	return c
}

// ask sends a request over c and returns the status, 0 if the connection is gone.
func (d dialer) ask(c net.Conn, secret event.Secret) int {
	d.t.Helper()
	var b bytes.Buffer
	if err := d.r.request("/hooks/known", "evt_1", eventBody, secret).Write(&b); err != nil {
		d.t.Fatal(err)
	}
	if _, err := c.Write(b.Bytes()); err != nil {
		return 0
	}
	line := make([]byte, 512)
	n, err := c.Read(line)
	if err != nil {
		return 0
	}
	status, err := strconv.Atoi(string(line[9:min(12, n)]))
	if err != nil {
		d.t.Fatalf("answer %q", line[:n])
	}
	return status
}

func TestConnectionsAreBounded(t *testing.T) {
	r := newRig(t, testBook(), true, func(o *Options) { o.Limits.Connections = 3 })
	d := dialer{t, r}
	proven := []*tls.Conn{d.dial(), d.dial()}
	for _, c := range proven {
		if got := d.ask(c, vectorSecret); got != 204 {
			t.Fatal(got)
		}
	}
	idle := d.dial()
	if got := d.ask(idle, otherSecret); got != 401 {
		t.Fatal(got)
	}
	if got := d.ask(d.dial(), vectorSecret); got != 204 { // gets the place of the idle one
		t.Errorf("above the limit: %d", got)
	}
	if got := d.ask(idle, vectorSecret); got != 0 {
		t.Errorf("the idle connection still answers: %d", got)
	}
	for _, c := range proven {
		if got := d.ask(c, vectorSecret); got != 204 {
			t.Errorf("a genuine sender lost its connection: %d", got)
		}
	}

	raw, err := net.Dial("tcp", r.server.Addr()) // waits: no connection yields
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if err := raw.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if err := tls.Client(raw, &tls.Config{InsecureSkipVerify: true}).Handshake(); err == nil {
		t.Error("a connection above the limit was served")
	}
}

// The page for operators matches the program.
func TestLimitsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "limits.md"))
	if err != nil {
		t.Fatal(err)
	}
	l := Limits{}.withDefaults()
	for _, row := range []string{
		fmt.Sprintf("| body of a delivery | %d KiB |", MaxBody>>10),
		fmt.Sprintf("| all headers of a request | %d KiB |", maxHeaderBytes>>10),
		fmt.Sprintf("| `webhook-id` | 1 to %d visible ASCII characters |", maxIDBytes),
		fmt.Sprintf("| `X-MCP-Subscription-Id` | %d bytes |", maxSubscriptionBytes),
		fmt.Sprintf("| `webhook-signature` | %d KiB, %d entries |", maxSignatureBytes>>10, maxSignatures),
		fmt.Sprintf("| challenge | 1 to %d characters |", maxChallenge),
		fmt.Sprintf("| clock of the sender | %d s, both ways |", Tolerance/time.Second),
		fmt.Sprintf("| time for the headers; for a whole request; for the answer; idle | %v; %v; %v; %v |", readHeaderTimeout, readTimeout, writeTimeout, idleTimeout),
		fmt.Sprintf("| streams of one HTTP/2 connection | %d |", maxStreams),
		fmt.Sprintf("| connections | %d |", l.Connections),
		fmt.Sprintf("| deliveries in flight | %d |", l.InFlight),
		fmt.Sprintf("| requests that prove nothing | %d at once, then %.0f a second |", l.Bad.Burst, l.Bad.PerSecond),
		fmt.Sprintf("| sources told apart | %d |", maxBuckets),
		fmt.Sprintf("| time for a commit | %v |", l.Deliver),
		fmt.Sprintf("| key set of a server | %d KiB, %d keys |", MaxKeySet>>10, MaxKeys),
	} {
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/limits.md does not say %q", row)
		}
	}
}
