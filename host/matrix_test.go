package host_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
)

// way is a transport over which a host reaches a pager.
type way struct {
	name, transport, http, era string
	server                     func(t *testing.T, pager string, c *cutter) event.Server
}

func ways() []way {
	const modern, old = "2026-07-28 stateless", "handshake"
	return []way{
		{"streamable HTTP", "streamable-http", "HTTP/1.1", modern, func(t *testing.T, pager string, c *cutter) event.Server {
			return event.Server{URL: "http://" + serve(t, c, relay(t, pager), nil)}
		}},
		{"streamable HTTP, HTTP/2 without TLS", "streamable-http", "HTTP/2.0", modern, func(t *testing.T, pager string, c *cutter) event.Server {
			return event.Server{URL: "http://" + serve(t, c, relay(t, pager), func(s *http.Server) {
				s.Protocols = new(http.Protocols)
				s.Protocols.SetUnencryptedHTTP2(true)
			})}
		}},
		{"streamable HTTP, HTTP/2 with TLS", "streamable-http", "HTTP/2.0", modern, func(t *testing.T, pager string, c *cutter) event.Server {
			file, tune := secure(t)
			return event.Server{URL: "https://" + serve(t, c, relay(t, pager), tune), CAFile: file}
		}},
		{"streamable HTTP with a session", "streamable-http", "HTTP/1.1", old, func(t *testing.T, pager string, c *cutter) event.Server {
			return event.Server{URL: "http://" + serve(t, c, http.HandlerFunc(bridge{pager, true}.streamable), nil)}
		}},
		{"HTTP+SSE", "http+sse", "HTTP/1.1", old, func(t *testing.T, pager string, c *cutter) event.Server {
			return event.Server{URL: "http://" + serve(t, c, &sse{bridge: bridge{pager, true}, talks: map[string]func([]byte){}}, nil)}
		}},
		{"WebSocket", "websocket", "HTTP/1.1", modern, func(t *testing.T, pager string, c *cutter) event.Server {
			return event.Server{URL: "ws://" + serve(t, c, http.HandlerFunc(bridge{pager, false}.socket), nil)}
		}},
		{"WebSocket, handshake, TLS", "websocket", "HTTP/1.1", old, func(t *testing.T, pager string, c *cutter) event.Server {
			file, tune := secure(t)
			return event.Server{URL: "wss://" + serve(t, c, http.HandlerFunc(bridge{pager, true}.socket), tune), CAFile: file}
		}},
		{"stdio", "stdio", "", old, func(t *testing.T, pager string, c *cutter) event.Server {
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				for {
					if _, err := c.Accept(); err != nil {
						return
					}
				}
			}()
			t.Cleanup(func() { c.Close(); c.cut(); <-done })
			return event.Server{Command: exe, Env: map[string]event.Secret{
				bridgePager: event.NewSecret(pager), bridgeLife: event.NewSecret(c.Addr().String()), "GORACE": event.NewSecret("atexit_sleep_ms=0"),
			}}
		}},
	}
}

func serve(t *testing.T, c *cutter, h http.Handler, tune func(*http.Server)) string {
	if tune == nil {
		tune = func(*http.Server) {}
	}
	t.Cleanup(c.serve(h, tune))
	return c.Addr().String() + "/mcp"
}

// relay forwards requests to the pager unchanged.
func relay(t *testing.T, pager string) http.Handler {
	u, err := url.Parse(pager)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &httputil.ReverseProxy{FlushInterval: -1, Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(u)
		r.Out.URL.Path = u.Path
		r.Out.Host = u.Host
	}}
}

// secure returns a certificate for loopback as a file and as a server's.
func secure(t *testing.T) (file string, tune func(*http.Server)) {
	maker := httptest.NewTLSServer(nil)
	defer maker.Close()
	file = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: maker.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	config := maker.TLS.Clone()
	config.NextProtos = nil
	return file, func(s *http.Server) { s.TLSConfig = config }
}

// Every delivery mode works over every transport: events come, and after all
// connections were cut it goes on where it was, without a loss or a repetition.
func TestEveryModeOverEveryTransport(t *testing.T) {
	for _, w := range ways() {
		for _, mode := range []event.Mode{event.ModePoll, event.ModePush, event.ModeWebhook} {
			t.Run(w.name+"/"+string(mode), func(t *testing.T) {
				r := newRig(t)
				c, err := newCutter()
				if err != nil {
					t.Fatal(err)
				}
				s := w.server(t, r.url, c)
				s.Name = "pager"
				r.host.AddServer(s) // in place of the direct way
				view, err := r.host.Connected(r.ctx(), "pager", false)
				if err != nil {
					t.Fatal(err)
				}
				if view.Transport != w.transport || view.HTTP != w.http || view.Era != w.era {
					t.Errorf("speaks %s %s, %s; want %s %s, %s", view.Transport, view.HTTP, view.Era, w.transport, w.http, w.era)
				}
				r.subscribe(mode, host.From{})
				r.awaitStored(10)
				if c.cut() == 0 {
					t.Error("there was nothing to cut")
				}
				snap := r.host.Snapshot()
				r.awaitStored(snap.Subs[0].Stored + 40)
				// Deliveries by webhook overtake each other, so a hole may still be filled.
				whole := snap.Subs[0].Stored + 20
				r.await("an unbroken row of events", func(host.Snapshot) bool {
					ids, gaps := r.ids()
					if gaps != 0 {
						t.Fatalf("%d gaps, want none", gaps)
					}
					return unbroken(t, ids) >= whole
				})
			})
		}
	}
}

// unbroken returns how many of the numbers at the end of the ids follow each
// other without a hole, from the smallest on.
func unbroken(t *testing.T, ids []string) (n uint64) {
	t.Helper()
	have := map[int]bool{}
	low := -1
	for _, id := range ids {
		n, err := strconv.Atoi(id[strings.LastIndexAny(id, ".-:")+1:])
		if err != nil {
			t.Fatalf("id %q ends in no number", id)
		}
		have[n] = true
		if low < 0 || n < low {
			low = n
		}
	}
	for have[low] {
		low++
		n++
	}
	return n
}
