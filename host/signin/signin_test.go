package signin_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/signin"
	"eventdeck/host/signin/signintest"
)

func TestSignIn(t *testing.T) {
	r := newRig(t, nil)
	r.want(401)
	if need := r.account.Need(); need == "" || r.account.SignedIn() {
		t.Errorf("need %q", need)
	}
	if err := r.account.Discover(r.ctx()); err != nil {
		t.Fatal(err)
	}
	r.mustSignIn()
	r.want(200)
	if need := r.account.Need(); need != "" || !r.account.SignedIn() {
		t.Errorf("need %q", need)
	}
	asked := r.authority.Requests()[0]
	if asked.Get("resource") != r.server.URL+"/mcp" || asked.Get("code_verifier") == "" || asked.Get("client_id") != "client-1" {
		t.Errorf("asked %v", asked)
	}
	r.open()
	r.want(200) // another run of the host uses the token
	for name, secret := range r.vault.kept {
		if strings.Contains(name, "hunter2") || strings.Contains(secret.Reveal(), "hunter2") {
			t.Errorf("the query of the address is kept in %s", name)
		}
	}
}

func TestTokensRenewThemselves(t *testing.T) {
	r := newRig(t, func(r *rig) { r.authority.Life = 3600 })
	r.mustSignIn()
	r.later(time.Hour - 10*time.Second)
	r.want(200)
	if n := len(r.authority.Requests()); n != 2 {
		t.Fatalf("%d requests for tokens, want the renewal before the end", n)
	}
	if form := r.authority.Requests()[1]; form.Get("grant_type") != "refresh_token" || form.Get("resource") == "" {
		t.Errorf("asked %v", form)
	}
	r.later(time.Minute)
	r.authority.Expire()
	r.want(200) // renewed after a refusal
	r.open()
	r.later(time.Minute)
	r.authority.Expire()
	r.want(200) // and the newest refresh token was kept
	r.later(time.Minute)
	r.authority.Forget()
	r.want(401)
	if need := r.account.Need(); !strings.Contains(need, "the sign-in is over") {
		t.Errorf("need %q", need)
	}
	n := len(r.authority.Requests())
	r.want(401)
	if got := len(r.authority.Requests()); got != n {
		t.Errorf("a dead token was shown %d times more", got-n)
	}
}

func TestManyRefusalsRenewOnce(t *testing.T) {
	r := newRig(t, nil)
	r.mustSignIn()
	r.later(time.Minute)
	r.authority.Expire()
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			if status, err := r.use(); status != 200 {
				t.Errorf("HTTP %d, %v", status, err)
			}
		})
	}
	all.Wait()
	if n := len(r.authority.Requests()); n != 2 {
		t.Errorf("%d requests for tokens, want the first and one renewal", n)
	}
}

func TestRefusedTokenOfASignInIsRenewed(t *testing.T) {
	r := newRig(t, nil)
	r.mustSignIn()
	r.authority.Expire()
	r.want(200)
	if n := len(r.authority.Requests()); n != 2 {
		t.Errorf("%d requests for tokens, want the first and one renewal", n)
	}
}

// A server that accepts no token must not cause endless renewals.
func TestRefusedTokenOfARenewalIsNotRenewed(t *testing.T) {
	r := newRig(t, nil)
	r.mustSignIn()
	for n := range 5 {
		token, err := r.account.Token(r.ctx())
		if err != nil {
			t.Fatal(err)
		}
		again, err := r.account.Refused(r.ctx(), token, http.StatusUnauthorized, nil)
		if err != nil || again != (n == 0) {
			t.Errorf("refusal %d: again %t, %v", n+1, again, err)
		}
	}
	if n := len(r.authority.Requests()); n != 2 {
		t.Errorf("%d requests for tokens, want the first and one renewal", n)
	}
	if r.account.Need() == "" {
		t.Error("the operator is not told")
	}
}

func TestStepUp(t *testing.T) {
	r := newRig(t, nil)
	r.mustSignIn()
	r.scope = "admin"
	r.want(403)
	if need := r.account.Need(); !strings.Contains(need, "admin") {
		t.Fatalf("need %q", need)
	}
	r.open() // the operator signs in with another command
	r.mustSignIn()
	r.want(200)
	if n := len(r.authority.Clients()); n != 1 {
		t.Errorf("the host registered %d times", n)
	}
}

func TestSignOut(t *testing.T) {
	r := newRig(t, nil)
	r.mustSignIn()
	if err := r.account.SignOut(r.ctx()); err != nil {
		t.Fatal(err)
	}
	if got := r.authority.Revoked(); len(got) != 1 || !strings.HasPrefix(got[0], "refresh-") {
		t.Errorf("revoked %v", got)
	}
	if len(r.vault.kept) != 0 || r.account.SignedIn() {
		t.Errorf("%d secrets are left", len(r.vault.kept))
	}
	r.want(401)
}

const robotSecret = "robots-secret-of-some-length"

// robot gives the host client credentials with a secret; the authority expects robotSecret.
func (r *rig) robot(secret string) {
	r.authority.Secret = robotSecret
	r.spec.OAuth = event.OAuth{ClientID: "robot", ClientSecret: event.NewSecret(secret), ClientCredentials: true, Issuer: r.authority.URL}
}

func TestClientCredentials(t *testing.T) {
	r := newRig(t, func(r *rig) {
		r.robot(robotSecret)
		r.authority.Life = 60
	})
	r.want(200)
	r.later(time.Minute)
	r.want(200)
	r.scope = "admin"
	r.want(200)
	last := r.authority.Requests()
	if got := strings.Fields(last[len(last)-1].Get("scope")); !slices.Contains(got, "admin") || !slices.Contains(got, "events") {
		t.Errorf("asked for %v", got)
	}
	if len(r.vault.kept) != 0 {
		t.Error("what can be had at any time is kept")
	}
	r.mustSignIn()

	r = newRig(t, func(r *rig) { r.robot("wrong") })
	r.want(401)
	if need := r.account.Need(); !strings.Contains(need, "invalid_client") || strings.Contains(need, "wrong") {
		t.Errorf("need %q", need)
	}
}

func TestClientRegistrations(t *testing.T) {
	for name, c := range map[string]struct {
		configure func(*rig)
		want      string
		err       error
	}{
		"registers itself": {func(*rig) {}, "client-1", nil},
		"a configured id":  {func(r *rig) { r.spec.OAuth.ClientID = "known" }, "known", nil},
		"a document": {func(r *rig) {
			r.authority.Documents = true
			r.spec.OAuth.MetadataURL = "https://me.example/client.json"
		}, "https://me.example/client.json", nil},
		"no documents":      {func(r *rig) { r.spec.OAuth.MetadataURL = "https://me.example/client.json" }, "client-1", nil},
		"no registration":   {func(r *rig) { r.authority.NoDynamic = true }, "", signin.ErrClient},
		"refused":           {func(r *rig) { r.override("/register", 403, `{"error":"no"}`) }, "", signin.ErrClient},
		"refused with HTML": {func(r *rig) { r.override("/register", 200, "<html>") }, "", signin.ErrClient},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.configure)
			if err := r.signIn(); !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if c.err == nil {
				if got := r.authority.Requests()[0].Get("client_id"); got != c.want {
					t.Errorf("the host is %q", got)
				}
			}
		})
	}
}

func TestRenewalWaitsForATokenEndpointThatIsDown(t *testing.T) {
	r := newRig(t, func(r *rig) { r.authority.Life = 3600 })
	r.mustSignIn()
	r.override("/token", 503, "{}")
	r.later(time.Hour - 10*time.Second)
	r.want(200) // the old one still serves
	r.later(time.Minute)
	if status, err := r.use(); err == nil || errors.Is(err, signin.ErrToken) {
		t.Errorf("HTTP %d, %v; want an error that passes", status, err)
	}
	r.authority.Override = nil
	r.want(200)
}

func TestDenied(t *testing.T) {
	r := newRig(t, func(r *rig) { r.authority.Deny = "access_denied" })
	if err := r.signIn(); !errors.Is(err, signin.ErrDenied) || !strings.Contains(err.Error(), "access_denied") {
		t.Errorf("error %v", err)
	}
}

func TestWrongRedirectsAreIgnored(t *testing.T) {
	r := newRig(t, nil)
	flow, err := r.account.Begin(r.ctx())
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(flow.URL)
	if err != nil {
		t.Fatal(err)
	}
	back := u.Query().Get("redirect_uri")
	for _, path := range []string{"?state=wrong&code=x", "?code=x", "/../other?state=" + u.Query().Get("state")} {
		if err := signintest.Visit(back + path); err == nil {
			t.Errorf("%s was taken", path)
		}
	}
	if err := signintest.Visit(flow.URL); err != nil {
		t.Fatal(err)
	}
	if err := flow.Wait(r.ctx()); err != nil {
		t.Errorf("a stranger's visit ended the sign-in: %v", err)
	}
}

func TestOperatorWhoDoesNotComeBack(t *testing.T) {
	r := newRig(t, nil)
	flow, err := r.account.Begin(r.ctx())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(r.ctx())
	cancel()
	if err := flow.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	flow.Close()
}

func TestNothingToSignInTo(t *testing.T) {
	for _, s := range []event.Server{
		{Command: "x"},
		{URL: "https://h/", Headers: map[string]event.Secret{"authorization": event.NewSecret("Bearer x")}},
		{URL: "::"},
	} {
		if signin.New(signin.Options{Server: s}) != nil {
			t.Errorf("%+v has an account", s)
		}
	}
}

func TestDamagedVault(t *testing.T) {
	r := newRig(t, nil)
	r.mustSignIn()
	for name := range r.vault.kept {
		r.vault.kept[name] = event.NewSecret("{{{ not what it was")
	}
	r.open()
	r.want(401)
	r.mustSignIn()
	r.want(200)
}

// A sign-in that cannot be read is waited for, and is neither forgotten nor asked for again.
func TestLockedVault(t *testing.T) {
	r := newRig(t, nil)
	r.mustSignIn()
	r.vault.locked = event.ErrKeyLocked
	for _, lazy := range []bool{false, true} {
		r.account = signin.New(signin.Options{Server: r.spec, Vault: r.vault, Now: r.clock, Lazy: lazy})
		if _, err := r.use(); !errors.Is(err, event.ErrKeyLocked) || r.account.Need() != "" || r.account.SignedIn() {
			t.Errorf("lazy %t: %v, need %q", lazy, err, r.account.Need())
		}
	}
	r.vault.locked = nil
	r.want(200)
}

// An account that is printed does not show tokens.
func TestSecretsMaskThemselves(t *testing.T) {
	r := newRig(t, func(r *rig) { r.robot(robotSecret) })
	r.want(200)
	token, err := r.account.Token(r.ctx())
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v %#v", r.account, r.account); strings.Contains(text, robotSecret) || strings.Contains(text, token.Reveal()) {
		t.Error("an account that is printed shows its secrets")
	}
}
