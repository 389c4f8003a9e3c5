package signin_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/signin"
	"eventdeck/host/signin/signintest"
)

// naming makes the server name other authorization servers.
func (r *rig) naming(issuers ...string) {
	guarded := r.server.Config.Handler
	r.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.Contains(req.URL.Path, "oauth-protected-resource") {
			signintest.Answer(w, 200, map[string]any{"resource": r.server.URL + "/mcp", "authorization_servers": issuers})
			return
		}
		guarded.ServeHTTP(w, req)
	})
}

// With either grant, a client secret is not sent to an authorization server that only the MCP
// server names; the error says how to configure it.
func TestConfiguredSecretIsSentOnlyToTheConfiguredIssuer(t *testing.T) {
	for name, credentials := range map[string]bool{"client credentials": true, "authorization code": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) {
				r.authority.Secret = robotSecret
				r.spec.OAuth = event.OAuth{ClientID: "robot", ClientSecret: event.NewSecret(robotSecret), ClientCredentials: credentials}
			})
			r.want(401)
			err := r.signIn()
			if !errors.Is(err, signin.ErrIssuer) || !strings.Contains(err.Error(), `"issuer": "`+r.authority.URL+`"`) {
				t.Errorf("the sign-in ends with %v", err)
			}
			if need := r.account.Need(); credentials && !strings.Contains(need, `"issuer": "`+r.authority.URL+`"`) {
				t.Errorf("need %q", need)
			}
			if asked := r.authority.Requests(); len(asked) != 0 {
				t.Errorf("the token endpoint was asked: %v", asked)
			}

			r.spec.OAuth.Issuer = r.authority.URL
			r.open()
			r.use()
			if err := r.signIn(); err != nil {
				t.Fatal(err)
			}
			r.want(200)

			other := signintest.New()
			t.Cleanup(other.Close)
			r.naming(other.URL)
			r.open()
			if err := r.signIn(); err != nil {
				t.Errorf("the configured issuer, although the server names another: %v", err)
			}
			if asked := other.Requests(); len(asked) != 0 {
				t.Errorf("another issuer was asked: %v", asked)
			}
		})
	}
}

// Some servers name an address whose metadata are of another issuer. The error says how to configure
// that one, and then it is asked itself.
func TestIssuerOfTheOperatorIsAskedDirectly(t *testing.T) {
	r := newRig(t, nil)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { signintest.Answer(w, 200, r.authority.Metadata()) }))
	t.Cleanup(front.Close)
	r.naming(front.URL)
	if err := r.signIn(); !errors.Is(err, signin.ErrMetadata) || !strings.Contains(err.Error(), `"issuer": "`+r.authority.URL+`"`) {
		t.Errorf("metadata of another issuer: %v", err)
	}

	r.spec.OAuth.Issuer = r.authority.URL
	for what, names := range map[string]func(){"another": func() {}, "none": func() { r.naming() }, "no metadata": func() { r.server.Config.Handler = http.NotFoundHandler() }} {
		names()
		r.vault.kept = map[string]event.Secret{}
		r.open()
		if err := r.signIn(); err != nil {
			t.Errorf("the server names %s: %v", what, err)
		}
	}

	r.spec.OAuth.Issuer = front.URL // which is none: its metadata are of another
	r.open()
	if err := r.signIn(); !errors.Is(err, signin.ErrMetadata) || !strings.Contains(err.Error(), front.URL+", which oauth.issuer names") {
		t.Errorf("an issuer that does not answer as such: %v", err)
	}
}

// The issuer of the first sign-in is kept until the operator signs out, for a registered client and
// for a configured one.
func TestServerThatNamesAnotherIssuerLater(t *testing.T) {
	for name, id := range map[string]string{"registered by itself": "", "a configured id": "known"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) {
				r.authority.Life = 3600
				r.spec.OAuth.ClientID = id
			})
			r.mustSignIn()
			other := signintest.New()
			t.Cleanup(other.Close)
			r.naming(other.URL)
			r.open()
			r.later(time.Hour)
			r.want(200) // renewed where the token came from
			err := r.signIn()
			if !errors.Is(err, signin.ErrIssuer) || !strings.Contains(err.Error(), other.URL) || !strings.Contains(err.Error(), `eventdeck sign-out "files"`) {
				t.Errorf("the sign-in ends with %v", err)
			}
			if asked := other.Requests(); len(asked) != 0 {
				t.Errorf("another issuer was asked: %v", asked)
			}
			if err := r.account.SignOut(r.ctx()); err != nil {
				t.Fatal(err)
			}
			r.mustSignIn()
			if asked := other.Requests(); len(asked) == 0 {
				t.Error("after signing out no server was asked")
			}
		})
	}
}

// If the configuration names another issuer, older tokens are not renewed any more.
func TestTokensOfAnIssuerThatIsNoLongerAllowed(t *testing.T) {
	r := newRig(t, func(r *rig) { r.authority.Life = 3600 })
	r.mustSignIn()
	asked := len(r.authority.Requests())
	r.spec.OAuth.Issuer = "https://only.example"
	r.open()
	r.later(2 * time.Hour)
	r.want(200) // the server still takes the old token
	if n := len(r.authority.Requests()); n != asked {
		t.Errorf("the old issuer was asked %d times", n-asked)
	}
	if need := r.account.Need(); !strings.Contains(need, "only.example") {
		t.Errorf("need %q", need)
	}
}
