package session

import (
	"encoding/pem"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/host/event"
	plain "eventdeck/host/internal/proxy"
)

// clearText serves h over HTTP/2 without TLS, and also over HTTP/1 if both is set.
func clearText(t *testing.T, h http.Handler, both bool) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(both)
	protocols.SetUnencryptedHTTP2(true)
	srv := &http.Server{Handler: h, Protocols: protocols, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	go srv.Serve(ln)
	t.Cleanup(func() { srv.Close() })
	return "http://" + ln.Addr().String()
}

func TestHTTP2WithoutTLS(t *testing.T) {
	f := modernFake(t, map[string]func(ask){"m": func(a ask) { a.result("1") }})
	for name, c := range map[string]struct {
		url, hint, want string
	}{
		"a server that knows nothing else": {clearText(t, f, false), "", "HTTP/2.0"},
		"one that knows both":              {clearText(t, f, true), "", "HTTP/1.1"},
		"one that knows both, with a hint": {clearText(t, f, true), event.TransportH2C, "HTTP/2.0"},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustDial(t, event.Server{Name: "x", URL: c.url, Transport: c.hint}, Options{})
			if got := s.Info().HTTP; got != c.want {
				t.Errorf("spoke %s", got)
			}
			if _, err := s.Call(soon(t), "m", nil); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCertificateAuthoritiesOfAServer(t *testing.T) {
	f := modernFake(t, map[string]func(ask){})
	secure := httptest.NewUnstartedServer(f)
	secure.EnableHTTP2 = true
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	server := event.Server{Name: "x", URL: secure.URL}
	if _, err := Dial(soon(t), server, Options{}); !errors.Is(err, ErrUnreachable) {
		t.Errorf("a certificate of an unknown authority: %v", err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	raw := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	server.CAFile = file
	if got := mustDial(t, server, Options{}).Info().HTTP; got != "HTTP/2.0" {
		t.Errorf("spoke %s", got)
	}
	for _, bad := range []string{filepath.Join(t.TempDir(), "none"), os.Args[0]} {
		server.CAFile = bad
		if _, err := Dial(soon(t), server, Options{}); !errors.Is(err, ErrServer) || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestCertificateFileOfTheEnvironment(t *testing.T) {
	for goos, itself := range map[string]bool{"linux": true, "freebsd": true, "darwin": false, "windows": false} {
		if heedsCertFile(goos) != itself {
			t.Errorf("%s: %v", goos, !itself)
		}
	}
}

// The environment is read once per process, so the test inspects the function, not
// requests.
func TestProxiesAreThoseOfTheEnvironment(t *testing.T) {
	for _, address := range []string{"https://h/", "http://h/", "http://127.0.0.1/", "wss://h/"} {
		rt, err := newTransport(event.Server{URL: address}, Options{}.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		base, ok := rt.Base.(*http.Transport)
		if !ok {
			base = rt.Base.(*cleartext).one
		}
		if base.Proxy == nil {
			t.Errorf("%s: no proxy is asked for", address)
		}
	}
}

func TestRequestsGoThroughAProxy(t *testing.T) {
	f := modernFake(t, map[string]func(ask){})
	target := make(chan string, 10)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target <- r.URL.Host
		f.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	to, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWeb(event.Server{URL: "http://far.example/mcp"}, Options{}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	w.client.Transport.(plain.Plain).Base.(*http.Transport).Proxy = http.ProxyURL(to)
	s := newSession(Options{}.withDefaults())
	s.link = newHTTPLink(w, s.unsolicited, s.end)
	defer s.Close()
	if err := s.greet(soon(t)); err != nil {
		t.Fatal(err)
	}
	if got := get(t, "request", target); got != "far.example" {
		t.Errorf("the proxy was asked for %s", got)
	}
}
