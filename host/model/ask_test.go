package model_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"eventdeck/host/model"
	"eventdeck/host/model/modeltest"
	"eventdeck/host/react"
	"eventdeck/host/redact"
)

func TestErrorStatuses(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		says   []string
		is     error
	}{
		"no such key":    {401, `{"error":{"message":"bad key","type":"invalid_request_error"}}`, []string{"HTTP 401", "key", "it says: bad key"}, model.ErrRefused},
		"no such model":  {404, `{"error":"model 'x' not found"}`, []string{"HTTP 404", "\"model\"", "model 'x' not found"}, model.ErrRefused},
		"anthropic":      {400, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: too many"}}`, []string{"max_tokens: too many"}, model.ErrRefused},
		"gemini":         {400, `[{"error":{"code":400,"message":"bad"}}]`, []string{"HTTP 400", "bad"}, model.ErrRefused},
		"text":           {403, "  go away\x1b[2J  ", []string{"HTTP 403", `go away\x1b[2J`}, model.ErrRefused},
		"too many":       {429, `{"detail":"slow down"}`, []string{"HTTP 429", "too many", "slow down"}, model.ErrRefused},
		"overloaded":     {529, `{}`, []string{"HTTP 529"}, model.ErrRefused},
		"not there":      {503, "", []string{"HTTP 503", "later"}, model.ErrRefused},
		"a fault":        {500, "", []string{"HTTP 500"}, model.ErrUnknown},
		"a gateway":      {504, "", []string{"HTTP 504"}, model.ErrUnknown},
		"no stream":      {200, `{"choices":[{"message":{"content":"hi"}}]}`, []string{"stream"}, model.ErrUnknown},
		"endless":        {400, strings.Repeat("x", 100_000), []string{"…"}, model.ErrRefused},
		"no content":     {204, "", []string{"HTTP 204"}, model.ErrUnknown},
		"JSON in JSON":   {400, `{"error":{"message":"{\"error\":{\"message\":\"deep\"}}"}}`, []string{"deep"}, model.ErrRefused},
		"broken JSON":    {400, `{"error":`, []string{`{"error":`}, model.ErrRefused},
		"other redirect": {301, "", []string{"redirect"}, model.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			for _, wire := range wires {
				got := reply(t, wire, modeltest.Reply{Status: c.status, Body: c.body, Header: http.Header{"Retry-After": {"7"}}})
				if !errors.Is(got.err, c.is) {
					t.Fatalf("%v", got.err)
				}
				for _, says := range append(c.says, "stub") {
					if !strings.Contains(got.err.Error(), says) {
						t.Errorf("%q does not say %q", got.err, says)
					}
				}
				if len(got.err.Error()) > 1000 {
					t.Errorf("%d bytes of an error", len(got.err.Error()))
				}
				if want := map[bool]string{true: "nothing", false: "bound"}[c.is == model.ErrRefused]; got.charged() != want {
					t.Errorf("charged %s", got.charged())
				}
				var status *model.StatusError
				if errors.As(got.err, &status) && status.After != 7*time.Second {
					t.Errorf("after %v", status.After)
				}
			}
		})
	}
}

// A redirect is not followed, and what is asked again is not the key's next holder: neither
// another place of this machine nor where clouds give out keys.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := modeltest.New(t)
	for _, to := range []string{"http://169.254.169.254/latest/meta-data/", elsewhere.Model(react.WireChat).URL} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			got := reply(t, react.WireChat, modeltest.Reply{Status: status, Header: http.Header{"Location": {to}}})
			if !errors.Is(got.err, model.ErrRefused) || got.charged() != "nothing" {
				t.Errorf("%d to %s: %v, charged %s", status, to, got.err, got.charged())
			}
		}
	}
	if n := len(elsewhere.Asked()); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

const key = "sk-live-0123456789abcdefghij"

func TestKeyIsNeverShown(t *testing.T) {
	for name, r := range map[string]modeltest.Reply{
		"in an error":   {Status: 401, Body: `{"error":{"message":"Incorrect API key provided: ` + key + `."}}`},
		"in a text":     {Status: 500, Body: "key=" + key},
		"in the middle": {Stream: `data: {"type":"error","error":{"message":"` + key + `"}}` + "\n\n"},
		"in the answer": {Text: "Your key is " + key, Piece: 3},
		"in arguments":  {Calls: []react.Call{{ID: "a", Name: "a__b", Args: []byte(`{"x":"` + key + `"}`)}}},
		"in a name":     {Calls: []react.Call{{ID: "a", Name: key, Args: []byte(`{}`)}}},
		"in a kind":     {Status: 200, Header: http.Header{"Content-Type": {"text/" + key}}, Body: key},
		"in broken":     {Stream: "data: {" + key + "\n\n"},
		"in a twin":     {Stream: `data: {"` + key + `":1,"` + key + `":1}` + "\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, wire := range wires {
				var logged bytes.Buffer
				s := modeltest.New(t)
				s.Play(r)
				m := s.Model(wire)
				m.Key = "${STUB_KEY}"
				set := &redact.Set{}
				c := open(t, m, model.Options{
					Env:    func(name string) (string, bool) { return key, name == "STUB_KEY" },
					Log:    slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
					Redact: set,
				})
				got := ask(t, c)
				if got.err == nil {
					t.Fatalf("%s: %+v", wire, got.answer)
				}
				for _, text := range []string{got.err.Error(), fmt.Sprintf("%+v %#v", got.err, got.err), logged.String(), fmt.Sprintf("%+v", c)} {
					if strings.Contains(text, key) {
						t.Errorf("%s: the key is told: %s", wire, text)
					}
				}
				if logged.Len() == 0 || !strings.Contains(set.String("x "+key), redact.Shown) {
					t.Errorf("%s: nothing was logged, or the key is not known to what masks", wire)
				}
			}
		})
	}
}

// ring is a keyring.
type ring func(service, account string) (string, error)

func (r ring) Get(_ context.Context, service, account string) (string, error) {
	return r(service, account)
}

// silentRing never answers.
type silentRing struct{}

func (silentRing) Get(ctx context.Context, _, _ string) (string, error) {
	<-ctx.Done()
	return "", context.Cause(ctx)
}

func TestKeysAreLookedUp(t *testing.T) {
	for name, c := range map[string]struct {
		key  string
		env  string
		ring ring
		want string // what is sent; "": nothing
	}{
		"none":             {"", "", nil, "none"},
		"the environment":  {"${STUB_KEY}", "abc", nil, "abc"},
		"not set":          {"${OTHER_KEY}", "abc", nil, ""},
		"empty":            {"${STUB_KEY}", "", nil, ""},
		"in the file":      {"sk-abc", "abc", nil, ""},
		"with a line end":  {"${STUB_KEY}", "abc\n", nil, ""},
		"no keyring":       {"keyring", "", nil, ""},
		"the keyring":      {"keyring", "", func(s, a string) (string, error) { return s + "/" + a, nil }, "eventdeck/model-stub"},
		"no entry":         {"keyring", "", func(string, string) (string, error) { return "", errors.New("no entry") }, ""},
		"an empty entry":   {"keyring", "", func(string, string) (string, error) { return "", nil }, ""},
		"other characters": {"${STUB_KEY}", "ключ", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.New(t)
			s.Play(modeltest.Reply{Text: "Yes."})
			m := s.Model(react.WireMessages)
			m.Key = c.key
			o := model.Options{Env: func(name string) (string, bool) { return c.env, name == "STUB_KEY" }}
			if c.ring != nil {
				o.Keyring = c.ring
			}
			client := open(t, m, o)
			got := ask(t, client)
			if has := client.HasKey(t.Context()); (has == nil) != (c.want != "") {
				t.Errorf("has the key: %v", has)
			}
			if c.want == "" {
				if !errors.Is(got.err, model.ErrKey) || got.charged() != "nothing" || len(s.Asked()) != 0 {
					t.Errorf("%v, charged %s, asked %d times", got.err, got.charged(), len(s.Asked()))
				}
				return
			}
			if got.err != nil {
				t.Fatal(got.err)
			}
			if sent := s.Asked()[0].Header.Get("X-Api-Key"); sent != strings.Replace(c.want, "none", "", 1) {
				t.Errorf("sent %q", sent)
			}
		})
	}
}

func TestTheKeyringIsNotWaitedForWithoutEnd(t *testing.T) {
	s := modeltest.New(t)
	m := s.Model(react.WireChat)
	m.Key = "keyring"
	c := open(t, m, model.Options{Keyring: silentRing{}})
	c.SetTimes(time.Hour, time.Hour, time.Hour, 10*time.Millisecond)
	if err := c.HasKey(t.Context()); !errors.Is(err, model.ErrKey) || !strings.Contains(err.Error(), "unlock") {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.HasKey(gone); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestModelAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://api.example.com/v1":         true,
		"https://10.0.0.7:8443/v1":           true,
		"http://127.0.0.1:11434/v1":          true,
		"http://[::1]:8080/v1":               true,
		"http://localhost:8080/v1":           true,
		"https://localhost:8080/v1":          true,
		"http://10.0.0.7/v1":                 false,
		"http://example.com/v1":              false,
		"http://localhost.example.com/v1":    false,
		"https://169.254.169.254/v1":         false,
		"https://[fd00:ec2::254]/v1":         false,
		"https://[::ffff:169.254.169.254]/":  false,
		"https://0.0.0.0/v1":                 false,
		"https://224.0.0.1/v1":               false,
		"https://user:pw@api.example.com/v1": false,
		"https://api.example.com/v1?key=abc": false,
		"https://api.example.com/v1#x":       false,
		"ftp://api.example.com/v1":           false,
		"api.example.com/v1":                 false,
		"":                                   false,
		"https://":                           false,
		"http://0x7f000001/":                 false,
	} {
		_, err := model.Open(react.Model{Name: "m", Wire: react.WireChat, URL: address, Model: "x", Output: 10}, model.Options{})
		if (err == nil) != ok || err != nil && !errors.Is(err, model.ErrModel) {
			t.Errorf("%s: %v", address, err)
		}
		if err != nil && strings.Contains(err.Error(), "pw") {
			t.Errorf("%s: %v", address, err)
		}
	}
	for name, m := range map[string]react.Model{
		"no wire":          {URL: "https://a.example", Model: "x", Output: 1},
		"no model":         {Wire: react.WireChat, URL: "https://a.example", Output: 1},
		"no output":        {Wire: react.WireChat, URL: "https://a.example", Model: "x"},
		"much output":      {Wire: react.WireChat, URL: "https://a.example", Model: "x", Output: 1e9},
		"a negative price": {Wire: react.WireChat, URL: "https://a.example", Model: "x", Output: 1, Price: &react.Price{In: -1}},
	} {
		if _, err := model.Open(m, model.Options{}); !errors.Is(err, model.ErrModel) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A name that leads elsewhere than it should leads nowhere; nothing was sent then.
func TestAddressesAreCheckedWhenDialed(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("asked") }))
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	// A name of this machine that does not look like one.
	for _, host := range []string{"localhost.", "0x7f.1"} {
		c, err := model.Open(react.Model{Name: "m", Wire: react.WireChat, URL: "https://" + host + ":" + port, Model: "x", Output: 10}, model.Options{Roots: roots})
		if err != nil {
			continue
		}
		if got := ask(t, c); !errors.Is(got.err, model.ErrNotSent) || got.charged() != "nothing" {
			t.Errorf("%s: %v, charged %s", host, got.err, got.charged())
		}
	}
}

func TestUnreachableModels(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	tls.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	defer tls.Close()
	for _, address := range []string{gone, tls.URL, "https://name.invalid/v1"} {
		got := ask(t, open(t, react.Model{Name: "m", Wire: react.WireChat, URL: address, Model: "x", Output: 10}, model.Options{}))
		if !errors.Is(got.err, model.ErrNotSent) || got.charged() != "nothing" || !strings.Contains(got.err.Error(), address) {
			t.Errorf("%s: %v, charged %s", address, got.err, got.charged())
		}
	}
	// With TLS and authorities of the operator's own it is there.
	roots := x509.NewCertPool()
	roots.AddCert(tls.Certificate())
	if got := ask(t, open(t, react.Model{Name: "m", Wire: react.WireChat, URL: tls.URL, Model: "x", Output: 10}, model.Options{Roots: roots})); !errors.Is(got.err, model.ErrRefused) {
		t.Error(got.err)
	}
}

// stubborn answers with what fn writes.
func stubborn(t *testing.T, fn func(w io.Writer, gone <-chan struct{})) react.Model {
	t.Helper()
	done := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		gone := make(chan struct{})
		stop := context.AfterFunc(r.Context(), func() { close(gone) })
		defer stop()
		_ = http.NewResponseController(w).Flush()
		fn(flushing{w}, gone)
	}))
	t.Cleanup(func() { close(done); s.Close() })
	return react.Model{Name: "m", Wire: react.WireChat, URL: s.URL, Model: "x", Output: 10, Price: &react.Price{In: 1, Out: 1}}
}

// flushing sends what is written.
type flushing struct{ http.ResponseWriter }

func (f flushing) Write(b []byte) (int, error) {
	n, err := f.ResponseWriter.Write(b)
	if err != nil {
		return n, err
	}
	return n, http.NewResponseController(f.ResponseWriter).Flush()
}

func TestAnswersThatDoNotEnd(t *testing.T) {
	endless := func(piece string) func(io.Writer, <-chan struct{}) {
		return func(w io.Writer, gone <-chan struct{}) {
			for {
				if _, err := io.WriteString(w, piece); err != nil {
					return
				}
				select {
				case <-gone:
					return
				default:
				}
			}
		}
	}
	for name, c := range map[string]struct {
		piece string
		is    error
	}{
		"text":      {`data: {"choices":[{"delta":{"content":"` + strings.Repeat("y", 8000) + `"}}]}` + "\n\n", model.ErrAnswer},
		"one line":  {strings.Repeat("x", 64<<10), model.ErrAnswer},
		"comments":  {strings.Repeat(": still here\n", 10_000), model.ErrAnswer},
		"no text":   {strings.Repeat(`data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}`+"\n\n", 1000), model.ErrAnswer},
		"data":      {strings.Repeat("data: x\n", 1000), model.ErrAnswer},
		"no events": {strings.Repeat("\n", 100_000), model.ErrAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			client := open(t, stubborn(t, endless(c.piece)), model.Options{})
			if was := client.SetStream(2 << 20); was != model.MaxStream {
				t.Errorf("%d bytes are read", was)
			}
			got := ask(t, client)
			if !errors.Is(got.err, c.is) || got.charged() != "bound" {
				t.Errorf("%v, charged %s", got.err, got.charged())
			}
		})
	}
}

func TestAnswersThatAreSlow(t *testing.T) {
	drip := func(piece string) func(io.Writer, <-chan struct{}) {
		return func(w io.Writer, gone <-chan struct{}) {
			tick := time.NewTicker(2 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-gone:
					return
				case <-tick.C:
					if _, err := io.WriteString(w, piece); err != nil {
						return
					}
				}
			}
		}
	}
	silent := func(_ io.Writer, gone <-chan struct{}) { <-gone }
	const long = 10 * time.Minute
	for name, c := range map[string]struct {
		answer             func(io.Writer, <-chan struct{})
		first, idle, whole time.Duration
		says               string
	}{
		"nothing comes":             {silent, 30 * time.Millisecond, long, long, "nothing came"},
		"bytes without a line":      {drip("x"), 100 * time.Millisecond, long, long, "nothing came"},
		"it stops":                  {func(w io.Writer, gone <-chan struct{}) { fmt.Fprint(w, ": hello\n"); <-gone }, long, 30 * time.Millisecond, long, "silent"},
		"a line that does not end":  {func(w io.Writer, gone <-chan struct{}) { fmt.Fprint(w, ": hello\n"); drip("x")(w, gone) }, long, 100 * time.Millisecond, long, "silent"},
		"it goes on without an end": {drip(": still here\n"), long, long, 100 * time.Millisecond, "did not end"},
	} {
		t.Run(name, func(t *testing.T) {
			client := open(t, stubborn(t, c.answer), model.Options{})
			var got asked
			for factor := time.Duration(1); ; factor *= 2 { // on a busy machine it must be connected first
				client.SetTimes(c.first*factor, c.idle, c.whole*factor, long)
				if got = ask(t, client); !errors.Is(got.err, model.ErrNotSent) {
					break
				}
			}
			if !errors.Is(got.err, model.ErrUnknown) || !strings.Contains(got.err.Error(), c.says) || got.charged() != "bound" {
				t.Errorf("%v, charged %s", got.err, got.charged())
			}
		})
	}
}

func TestHeadersAreBounded(t *testing.T) {
	got := reply(t, react.WireChat, modeltest.Reply{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}, "X-Long": {strings.Repeat("x", 100_000)}}})
	if !errors.Is(got.err, model.ErrUnknown) || got.charged() != "bound" {
		t.Errorf("%v, charged %s", got.err, got.charged())
	}
}
