package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

func TestProbeFallsBackToInitialize(t *testing.T) {
	for name, discover := range map[string]func(ask){
		"HTTP 400 plain":         func(a ask) { a.plain(400, "unknown method") },
		"HTTP 404 plain":         func(a ask) { a.plain(404, "not found") },
		"HTTP 405":               func(a ask) { a.plain(405, "") },
		"-32601 with HTTP 200":   func(a ask) { a.fail(200, -32601, "null") },
		"-32000":                 func(a ask) { a.fail(400, -32000, "null") },
		"-32022 no versions":     func(a ask) { a.fail(400, -32022, "null") },
		"-32022 strange version": func(a ask) { a.fail(400, -32022, `{"supported":["1999-01-01"]}`) },
		"-32022 old version":     func(a ask) { a.fail(400, -32022, `{"supported":["2025-03-26"]}`) },
		"plain text with 200":    func(a ask) { a.plain(200, "hello") },
		"nothing with 202":       func(a ask) { a.w.WriteHeader(202) },
		"an empty result":        func(a ask) { a.result("{}") },
		"only old versions":      func(a ask) { a.result(`{"supportedVersions":["2025-06-18"],"capabilities":{}}`) },
		"silence":                func(a ask) { <-a.gone() },
	} {
		t.Run(name, func(t *testing.T) {
			f := handshakeFake(t, map[string]func(ask){methodDiscover: discover})
			o := Options{ProbeTimeout: time.Minute}
			if name == "silence" {
				o.ProbeTimeout = 100 * time.Millisecond
			}
			s := mustDial(t, f.server(), o)
			if i := s.Info(); i.Era != EraHandshake || i.Version != "2025-06-18" {
				t.Errorf("info %+v", i)
			}
			asked := string(f.wait(t, methodInitialize).params)
			if want := map[string]string{"-32022 old version": "2025-03-26", "only old versions": "2025-06-18"}[name]; !strings.Contains(asked, want) {
				t.Errorf("initialize asked for %s", asked)
			}
		})
	}
}

func TestProbeDoesNotFallBack(t *testing.T) {
	for status, denied := range map[int]bool{401: true, 403: true, 429: false, 503: false} {
		f := handshakeFake(t, map[string]func(ask){methodDiscover: func(a ask) {
			a.w.Header().Set("Retry-After", "7")
			a.plain(status, "no\x1b[31m")
		}})
		_, err := Dial(soon(t), f.server(), Options{})
		var refused *HTTPError
		if !errors.As(err, &refused) || refused.Status != status || refused.RetryAfter != 7*time.Second || Denied(err) != denied || f.count(methodInitialize) != 0 {
			t.Errorf("%d: %v", status, err)
		}
		if strings.Contains(err.Error(), "\x1b") {
			t.Errorf("live escape in %q", err)
		}
	}
}

func TestProbeSlowStatelessServer(t *testing.T) {
	within(t, func(limit time.Duration) error {
		awake := make(chan struct{})
		f := newFake(t, map[string]func(ask){
			methodDiscover: func(a ask) {
				select {
				case <-awake: // the second request is answered at once
					a.result(sepGreeting)
				case <-a.gone():
				}
			},
			methodInitialize: func(a ask) {
				close(awake)
				a.fail(400, -32022, `{"supported":["2026-07-28"]}`)
			},
		})
		s, err := Dial(soon(t), f.server(), Options{ProbeTimeout: limit})
		if err != nil {
			return err
		}
		defer s.Close()
		if s.Info().Era != EraStateless {
			return fmt.Errorf("info %+v", s.Info())
		}
		return nil
	})
}

func TestInitializeTakesTheVersionThatTheServerNames(t *testing.T) {
	f := newFake(t, map[string]func(ask){methodInitialize: func(a ask) {
		if strings.Contains(string(a.params), "2024-11-05") {
			a.result(`{"protocolVersion":"2024-11-05","capabilities":{}}`)
			return
		}
		a.fail(200, -32602, `{"supported":["2024-11-05"],"requested":"2025-11-25"}`)
	}})
	s := mustDial(t, f.server(), Options{})
	if i := s.Info(); i.Version != "2024-11-05" || i.Advertised || i.Profile != wire.ProfileNone {
		t.Errorf("info %+v", i)
	}
	f = newFake(t, map[string]func(ask){methodInitialize: func(a ask) { a.fail(200, -32602, `{"supported":["1999-01-01"]}`) }})
	if _, err := Dial(soon(t), f.server(), Options{}); !errors.Is(err, ErrVersion) {
		t.Errorf("error %v", err)
	}
}

func TestDialFailures(t *testing.T) {
	for _, address := range []string{"ftp://x/", "mcp", "http://", "http://[::1"} {
		if _, err := Dial(soon(t), event.Server{Name: "x", URL: address}, Options{}); !errors.Is(err, ErrServer) {
			t.Errorf("%q: %v", address, err)
		}
	}
	f := newFake(t, nil)
	f.Close()
	_, err := Dial(soon(t), event.Server{Name: "x", URL: f.URL + "/?key=hunter2"}, Options{})
	if !errors.Is(err, ErrUnreachable) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("closed port: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Dial(ctx, f.server(), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestCapabilities(t *testing.T) {
	for in, want := range map[string]Info{
		`{"capabilities":{"events":{}}}`:   {Profile: wire.ProfileSketch, Advertised: true},
		`{"capabilities":{"events":null}}`: {Profile: wire.ProfileSketch, Advertised: true},
		`{"capabilities":{"events":true,"extensions":{"io.modelcontextprotocol/events":{"listChanged":true}}}}`: {Profile: wire.ProfileSEP, Advertised: true, ListChanged: true},
		`{"capabilities":{"extensions":{"io.modelcontextprotocol/events":[]}}}`:                                 {Profile: wire.ProfileSEP, Advertised: true},
		`{"capabilities":{"extensions":{"events":{"subscribe":true}}}}`:                                         {Draft: true},
		`{"capabilities":{"events":{},"extensions":{"events":{"subscribe":true}}}}`:                             {Profile: wire.ProfileSketch, Advertised: true},
		`{"capabilities":{"extensions":{"events":{}}}}`:                                                         {},
		`{"capabilities":{"extensions":{"other":{}},"tools":{"listChanged":true}}}`:                             {},
		`{"capabilities":7,"serverInfo":"me","instructions":{},"supportedVersions":{}}`:                         {},
	} {
		g := readGreeting([]byte(in))
		if i := g.info; i.Profile != want.Profile || i.Advertised != want.Advertised || i.ListChanged != want.ListChanged || i.Draft != want.Draft || !g.known || string(i.Raw) != in {
			t.Errorf("%s: %+v", in, i)
		}
	}
}

// Servers of 2026-07-28 name themselves in the _meta of the result, older ones beside
// their capabilities.
func TestNameOfTheServerInEveryRevision(t *testing.T) {
	for in, want := range map[string][2]string{
		`{"supportedVersions":["2026-07-28"],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"3"}}}`: {"new", "3"},
		`{"serverInfo":{"name":"old","version":"2"}}`: {"old", "2"},
		`{"serverInfo":{"name":"old","version":"2"},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"3"}}}`: {"new", "3"},
		`{"serverInfo":{"name":"old","version":"2"},"_meta":{"io.modelcontextprotocol/serverInfo":null}}`:                         {"old", "2"},
		`{"serverInfo":{"name":"old","version":"2"},"_meta":7}`:                                                                   {"old", "2"},
	} {
		g := readGreeting([]byte(in))
		if got := [2]string{g.info.ServerName.Raw(), g.info.ServerVersion.Raw()}; got != want || !g.known {
			t.Errorf("%s: %q, known %v", in, got, g.known)
		}
	}
}
