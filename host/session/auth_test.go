package session

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"eventdeck/host/event"
)

// guard is an Authorizer with one token, and another after a refusal.
type guard struct {
	mu       sync.Mutex
	token    string
	next     string
	refusals []int
	err      error
}

func (g *guard) Token(context.Context) (event.Secret, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return event.NewSecret(g.token), g.err
}

func (g *guard) Refused(_ context.Context, token event.Secret, status int, challenges []string) (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refusals = append(g.refusals, status)
	if token.Reveal() != g.token || len(challenges) != 1 {
		return false, errors.New("wrong question")
	}
	changed := g.token != g.next
	g.token = g.next
	return changed, nil
}

func demand(a ask, token string) bool {
	if a.r.Header.Get("Authorization") == "Bearer "+token {
		return true
	}
	a.w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="x"`)
	a.plain(http.StatusUnauthorized, "who?")
	return false
}

func TestRefusedRequestIsRepeatedWithABetterToken(t *testing.T) {
	f := modernFake(t, map[string]func(ask){"m": func(a ask) {
		if demand(a, "new") {
			a.result(string(a.params))
		}
	}})
	g := &guard{token: "old", next: "new"}
	s := mustDial(t, f.server(), Options{Auth: g})
	if raw, err := s.Call(soon(t), "m", map[string]int{"x": 1}); err != nil || len(raw) < 10 {
		t.Errorf("%s, %v", raw, err)
	}
	if len(g.refusals) != 1 || f.count("m") != 2 {
		t.Errorf("refused %v, asked %d times", g.refusals, f.count("m"))
	}
}

func TestRefusalStands(t *testing.T) {
	f := modernFake(t, map[string]func(ask){"m": func(a ask) { demand(a, "never") }})
	g := &guard{token: "old", next: "new"}
	s := mustDial(t, f.server(), Options{Auth: g})
	_, err := s.Call(soon(t), "m", nil)
	var refused *HTTPError
	if !errors.As(err, &refused) || !Denied(err) || len(refused.Challenges) != 1 || f.count("m") != 2 {
		t.Errorf("%v, asked %d times", err, f.count("m"))
	}
	if _, err := s.Call(soon(t), "m", nil); !Denied(err) || f.count("m") != 3 {
		t.Errorf("%v, asked %d times: there was no better token", err, f.count("m"))
	}
	g.err = errors.New("token endpoint is down")
	if _, err := s.Call(soon(t), "m", nil); !errors.Is(err, g.err) || f.count("m") != 3 {
		t.Errorf("%v, asked %d times", err, f.count("m"))
	}
}

// renewing is an Authorizer whose token was renewed elsewhere, and is refused too.
type renewing struct{ tokens, refused []string }

func (r *renewing) Token(context.Context) (event.Secret, error) {
	return event.NewSecret(r.tokens[0]), nil
}

func (r *renewing) Refused(_ context.Context, token event.Secret, _ int, _ []string) (bool, error) {
	r.refused = append(r.refused, token.Reveal())
	if len(r.tokens) == 1 {
		return false, nil
	}
	r.tokens = r.tokens[1:]
	return true, nil
}

func TestAccountIsToldOfEveryRefusal(t *testing.T) {
	f := modernFake(t, map[string]func(ask){"m": func(a ask) {
		if demand(a, "renewed") {
			a.result("{}")
		}
	}})
	r := &renewing{tokens: []string{"", "kept", "renewed"}}
	s := mustDial(t, f.server(), Options{Auth: r})
	if _, err := s.Call(soon(t), "m", nil); err != nil || len(r.refused) != 2 || r.refused[1] != "kept" {
		t.Errorf("%v, told of %q", err, r.refused)
	}
	r.tokens, r.refused = []string{"a", "b"}, nil
	if _, err := s.Call(soon(t), "m", nil); !Denied(err) || len(r.refused) != 2 || r.refused[1] != "b" {
		t.Errorf("%v, told of %q; the last refusal says that the operator is needed", err, r.refused)
	}
	r.tokens, r.refused = []string{"a", "b", "c", "d", "e", "f"}, nil
	if _, err := s.Call(soon(t), "m", nil); !Denied(err) || len(r.refused) != maxAttempts {
		t.Errorf("%v, told of %q; want an end", err, r.refused)
	}
}

func TestHeaderOfTheOperatorWins(t *testing.T) {
	f := modernFake(t, map[string]func(ask){})
	server := f.server()
	server.Headers = map[string]event.Secret{"authorization": event.NewSecret("Basic abc")}
	mustDial(t, server, Options{Auth: &guard{token: "mine"}})
	if got := f.wait(t, methodDiscover).r.Header.Get("Authorization"); got != "Basic abc" {
		t.Errorf("sent %q", got)
	}
}

func TestEveryTransportBearsTheToken(t *testing.T) {
	l := &legacy{}
	f := newLegacy(t, l)
	g := &guard{token: "t", next: "t"}
	server := f.server()
	server.Transport = event.TransportSSE
	mustDial(t, server, Options{Auth: g})
	for _, m := range []string{http.MethodGet, methodInitialize} {
		if got := f.wait(t, m).r.Header.Get("Authorization"); got != "Bearer t" {
			t.Errorf("%s: %q", m, got)
		}
	}

	outer := newFake(t, map[string]func(ask){})
	outer.handlers[http.MethodGet] = func(a ask) {
		if !demand(a, "new") {
			return
		}
		conn, err := websocket.Accept(a.w, a.r, mcp())
		if err != nil {
			return
		}
		defer conn.CloseNow()
		for err == nil {
			_, _, err = conn.Read(context.Background())
		}
	}
	g = &guard{token: "old", next: "new"}
	_, err := Dial(soon(t), event.Server{Name: "x", URL: "ws" + outer.URL[len("http"):]}, Options{Auth: g, ProbeTimeout: 1, CallTimeout: 1})
	if err == nil || Denied(err) || len(g.refusals) != 1 {
		t.Errorf("%v, refused %v; want a socket that no server answers on", err, g.refusals)
	}
}
