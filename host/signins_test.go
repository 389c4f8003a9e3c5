package host_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/signin/signintest"
	"eventdeck/host/trust"
)

// protect puts a guard with an authority of its own before the rig's pager.
func (r *rig) protect(scope *atomic.Value) (*signintest.Authority, event.Server) {
	r.t.Helper()
	authority := signintest.New()
	r.t.Cleanup(authority.Close)
	pager := relay(r.t, r.url)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		need, _ := scope.Load().(string)
		authority.Protect("/mcp", need, pager).ServeHTTP(w, req)
	}))
	r.t.Cleanup(func() {
		r.close() // or it would connect again, and the server wait for that connection
		srv.CloseClientConnections()
		srv.Close()
	})
	return authority, event.Server{Name: "locked", URL: srv.URL + "/mcp"}
}

func view(s host.Snapshot, name string) host.ServerView {
	for _, v := range s.Servers {
		if v.Name == name {
			return v
		}
	}
	return host.ServerView{}
}

func (r *rig) signIn(name string) {
	r.t.Helper()
	s, err := r.host.SignIn(r.ctx(), name)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := signintest.Visit(s.URL); err != nil {
		r.t.Fatal(err)
	}
	if err := s.Wait(r.ctx()); err != nil {
		r.t.Fatal(err)
	}
}

func TestSignInEndsARefusal(t *testing.T) {
	r := newRig(t)
	var scope atomic.Value
	authority, server := r.protect(&scope)
	r.host.AddServer(server)
	if _, err := r.host.Connected(r.ctx(), "locked", true); !errors.Is(err, host.ErrSignIn) || !errors.Is(err, host.ErrRefused) {
		t.Fatalf("error %v", err)
	}
	v := view(r.await("the demand for a sign-in", func(s host.Snapshot) bool { return view(s, "locked").Reach == host.ReachSignIn }), "locked")
	if v.SignIn == "" || v.SignedIn {
		t.Errorf("view %+v", v)
	}
	r.signIn("locked")
	if _, err := r.host.Connected(r.ctx(), "locked", true); err != nil {
		t.Errorf("signed in, and told: %v", err)
	}
	v = view(r.await("the connection", func(s host.Snapshot) bool { return view(s, "locked").Reach == host.ReachReady }), "locked")
	if v.SignIn != "" || !v.SignedIn {
		t.Errorf("view %+v", v)
	}
	if _, err := r.host.Types(r.ctx(), "locked"); err != nil {
		t.Error(err)
	}
	r.close()
	r.open() // another run has the tokens
	r.host.AddServer(server)
	if _, err := r.host.Connected(r.ctx(), "locked", true); err != nil {
		t.Error(err)
	}
	authority.Expire() // a token that ends is renewed while the operator looks elsewhere
	if err := r.host.Reconnect("locked"); err != nil {
		t.Fatal(err)
	}

	if err := r.host.SignOut(r.ctx(), "locked"); err != nil {
		t.Fatal(err)
	}
	r.await("the demand for a sign-in", func(s host.Snapshot) bool { return view(s, "locked").Reach == host.ReachSignIn })
	if len(authority.Revoked()) != 1 {
		t.Errorf("revoked %v", authority.Revoked())
	}
	said := ""
	if err := r.host.Audit().Before(0, func(e event.AuditEntry) bool {
		said += e.Action + " " + e.Server + "; "
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said, "sign in locked") || !strings.Contains(said, "sign out locked") {
		t.Errorf("the audit log says %s", said)
	}
}

// locked returns a host with a server that wants a sign-in, and the scope that it wants.
func locked(t *testing.T) (*rig, *atomic.Value) {
	t.Helper()
	r, scope := newRig(t), new(atomic.Value)
	_, server := r.protect(scope)
	r.host.AddServer(server)
	return r, scope
}

func TestStepUpOverASession(t *testing.T) {
	r, scope := locked(t)
	if err := r.host.Reconnect("locked"); err != nil {
		t.Fatal(err)
	}
	r.signIn("locked")
	if _, err := r.host.Connected(r.ctx(), "locked", false); err != nil {
		t.Fatal(err)
	}
	scope.Store("admin")
	if _, err := r.host.Types(r.ctx(), "locked"); err == nil {
		// The list was kept; a new connection asks again.
		if err := r.host.Reconnect("locked"); err != nil {
			t.Fatal(err)
		}
	}
	v := view(r.await("the demand for more rights", func(s host.Snapshot) bool { return strings.Contains(view(s, "locked").SignIn, "admin") }), "locked")
	if !v.SignedIn {
		t.Errorf("view %+v", v)
	}
	r.signIn("locked")
	r.await("the connection", func(s host.Snapshot) bool {
		return view(s, "locked").Reach == host.ReachReady && view(s, "locked").SignIn == ""
	})
}

// In every mode, a right that is missing is not waited for: the scope and the sign-in are told.
func TestMissingScopeDeniesASubscription(t *testing.T) {
	for _, mode := range []event.Mode{event.ModePoll, event.ModePush} {
		r, scope := locked(t)
		r.signIn("locked")
		if _, err := r.host.Connected(r.ctx(), "locked", false); err != nil {
			t.Fatal(err)
		}
		if _, err := r.host.Types(r.ctx(), "locked"); err != nil {
			t.Fatal(err)
		}
		scope.Store("admin")
		_, err := r.host.Subscribe(r.ctx(), host.Request{Server: "locked", Type: trust.Untrusted("load.tick"), Mode: mode})
		if v := view(r.host.Snapshot(), "locked"); !errors.Is(err, host.ErrRefused) || host.Transient(err) || !strings.Contains(v.SignIn, "admin") {
			t.Errorf("%s: %v, need %q", mode, err, v.SignIn)
		}
		r.close()
	}
}

// A refusal of a server that knows no OAuth stays one: a token goes into a header.
func TestRefusalWithoutOAuth(t *testing.T) {
	r := newRig(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="x"`)
		http.Error(w, "<html>who?", http.StatusUnauthorized)
	}))
	t.Cleanup(srv.Close)
	r.host.AddServer(event.Server{Name: "closed", URL: srv.URL + "/mcp"})
	_, err := r.host.Connected(r.ctx(), "closed", true)
	if !errors.Is(err, host.ErrRefused) || errors.Is(err, host.ErrSignIn) || !session.Denied(err) {
		t.Errorf("error %v", err)
	}
	if _, err := r.host.SignIn(r.ctx(), "closed"); !errors.Is(err, host.ErrNoSignIn) {
		t.Errorf("sign-in: %v", err)
	}
	if _, err := r.host.TestServer(r.ctx(), event.Server{Name: "other", URL: srv.URL}); !errors.Is(err, host.ErrRefused) {
		t.Errorf("test: %v", err)
	}
}

func TestSignInWithoutOAuth(t *testing.T) {
	r := newRig(t)
	r.host.AddServer(event.Server{Name: "process", Command: "/nonexistent"})
	if _, err := r.host.SignIn(r.ctx(), "process"); !errors.Is(err, host.ErrNoSignIn) {
		t.Errorf("error %v", err)
	}
	if err := r.host.SignOut(r.ctx(), "process"); !errors.Is(err, host.ErrNoSignIn) {
		t.Errorf("error %v", err)
	}
	if _, err := r.host.SignIn(r.ctx(), "nobody"); !errors.Is(err, host.ErrUnknownServer) {
		t.Errorf("error %v", err)
	}
}

func TestCancelledSignIn(t *testing.T) {
	r, _ := locked(t)
	s, err := r.host.SignIn(r.ctx(), "locked")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestClientCredentialsNeedNoOperator(t *testing.T) {
	const secret = "a-secret-for-the-robot"
	r := newRig(t)
	var scope atomic.Value
	authority, server := r.protect(&scope)
	authority.Secret = secret
	server.OAuth = event.OAuth{ClientID: "robot", ClientSecret: event.NewSecret(secret), ClientCredentials: true, Issuer: authority.URL}
	r.host.AddServer(server)
	if _, err := r.host.Connected(r.ctx(), "locked", true); err != nil {
		t.Fatal(err)
	}
}

// A subscription that was refused when the tokens were gone goes on at its position after a sign-in.
func TestSignInRestartsDeniedSubscriptions(t *testing.T) {
	r := newRig(t)
	var scope atomic.Value
	authority, server := r.protect(&scope)
	r.host.AddServer(server)
	r.signIn("locked")
	sub, err := r.host.Subscribe(r.ctx(), host.Request{Server: "locked", Type: trust.Untrusted("load.tick"), Mode: event.ModePoll})
	if err != nil {
		t.Fatal(err)
	}
	r.awaitStored(5)
	authority.Forget()
	r.await("the refusal", func(s host.Snapshot) bool {
		return len(s.Subs) == 1 && s.Subs[0].State == event.StateDenied && view(s, "locked").SignIn != ""
	})
	stored := r.host.Snapshot().Subs[0].Stored
	r.signIn("locked")
	snap := r.awaitStored(stored + 20)
	if snap.Subs[0].ID != sub.ID {
		t.Errorf("another subscription: %s", snap.Subs[0].ID)
	}
	ids, gaps := r.ids()
	if gaps != 0 || unbroken(t, ids) != uint64(len(ids)) {
		t.Errorf("%d gaps, %d of %d in a row", gaps, unbroken(t, ids), len(ids))
	}
}
