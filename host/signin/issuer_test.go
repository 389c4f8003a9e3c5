package signin_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/signin"
	"eventdeck/host/signin/signintest"
)

// naming makes the server name another authorization server.
func (r *rig) naming(issuer string) {
	guarded := r.server.Config.Handler
	r.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.Contains(req.URL.Path, "oauth-protected-resource") {
			signintest.Answer(w, 200, map[string]any{"resource": r.server.URL + "/mcp", "authorization_servers": []string{issuer}})
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
			if err := r.signIn(); !errors.Is(err, signin.ErrMetadata) || !strings.Contains(err.Error(), r.authority.URL+" only") {
				t.Errorf("another issuer: %v", err)
			}
			if asked := other.Requests(); len(asked) != 0 {
				t.Errorf("another issuer was asked: %v", asked)
			}
		})
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
