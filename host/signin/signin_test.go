package signin_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"eventdeck/host/event"
	"eventdeck/host/signin"
	"eventdeck/host/signin/signintest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// vault keeps secrets in memory.
type vault struct {
	mu   sync.Mutex
	kept map[string]event.Secret
}

func (v *vault) Credential(name string) (event.Secret, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s, ok := v.kept[name]; ok {
		return s, nil
	}
	return event.Secret{}, event.ErrNotFound
}

func (v *vault) SetCredential(_ context.Context, name string, s event.Secret) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.kept[name] = s; s.IsZero() {
		delete(v.kept, name)
	}
	return nil
}

// rig is a protected server, its authority and the host's account.
type rig struct {
	t         *testing.T
	authority *signintest.Authority
	server    *httptest.Server
	scope     string // that the server demands
	vault     *vault
	spec      event.Server
	account   *signin.Account

	mu  sync.Mutex
	now time.Time
}

func newRig(t *testing.T, configure func(*rig)) *rig {
	r := &rig{t: t, authority: signintest.New(), vault: &vault{kept: map[string]event.Secret{}}, now: time.Now()}
	t.Cleanup(r.authority.Close)
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.authority.Protect("/mcp", r.scope, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, req)
	}))
	t.Cleanup(r.server.Close)
	r.spec = event.Server{Name: "files", URL: r.server.URL + "/mcp?key=hunter2"}
	if configure != nil {
		configure(r)
	}
	r.open()
	return r
}

// open makes the account anew, as another run of the host does.
func (r *rig) open() {
	r.account = signin.New(signin.Options{Server: r.spec, Vault: r.vault, Now: r.clock})
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) later(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

func (r *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	r.t.Cleanup(cancel)
	return ctx
}

// use makes a request as a session does, and returns its last status.
func (r *rig) use() (status int, err error) {
	r.t.Helper()
	for again := false; ; again = true {
		token, err := r.account.Token(r.ctx())
		if err != nil {
			return 0, err
		}
		req, err := http.NewRequest(http.MethodPost, r.spec.URL, nil)
		if err != nil {
			r.t.Fatal(err)
		}
		if !token.IsZero() {
			req.Header.Set("Authorization", "Bearer "+token.Reveal())
		}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Do(req)
		if err != nil {
			r.t.Fatal(err)
		}
		resp.Body.Close()
		if again || resp.StatusCode/100 == 2 {
			return resp.StatusCode, nil
		}
		more, err := r.account.Refused(r.ctx(), token, resp.StatusCode, resp.Header.Values("WWW-Authenticate"))
		if err != nil || !more {
			return resp.StatusCode, err
		}
	}
}

func (r *rig) want(status int) {
	r.t.Helper()
	if got, err := r.use(); err != nil || got != status {
		r.t.Fatalf("HTTP %d, %v; want %d; need %q", got, err, status, r.account.Need())
	}
}

// signIn goes through a sign-in as an operator with a browser does.
func (r *rig) signIn() error {
	r.t.Helper()
	flow, err := r.account.Begin(r.ctx())
	if err != nil {
		return err
	}
	if flow.URL != "" {
		if err := signintest.Visit(flow.URL); err != nil {
			flow.Close()
			return err
		}
	}
	return flow.Wait(r.ctx())
}

func (r *rig) mustSignIn() {
	r.t.Helper()
	if err := r.signIn(); err != nil {
		r.t.Fatal(err)
	}
}

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
	r.want(200) // another run of the host goes on with the token
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

func TestTokenThatWasJustIssuedAndIsRefusedIsNotRenewed(t *testing.T) {
	r := newRig(t, nil)
	r.mustSignIn()
	r.authority.Expire()
	r.want(401)
	if n := len(r.authority.Requests()); n != 1 {
		t.Errorf("%d requests for tokens", n)
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

func TestClientCredentials(t *testing.T) {
	const secret = "robots-secret-of-some-length"
	r := newRig(t, func(r *rig) {
		r.authority.Secret, r.authority.Life = secret, 60
		r.spec.OAuth = event.OAuth{ClientID: "robot", ClientSecret: event.NewSecret(secret), ClientCredentials: true}
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

	r = newRig(t, func(r *rig) {
		r.authority.Secret = secret
		r.spec.OAuth = event.OAuth{ClientID: "robot", ClientSecret: event.NewSecret("wrong"), ClientCredentials: true}
	})
	r.want(401)
	if need := r.account.Need(); !strings.Contains(need, "invalid_client") || strings.Contains(need, "wrong") {
		t.Errorf("need %q", need)
	}
}

func TestWhoTheHostIs(t *testing.T) {
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

// override makes the authority answer a path with these words.
func (r *rig) override(path string, status int, body string) {
	r.authority.Override = func(w http.ResponseWriter, req *http.Request) bool {
		if req.URL.Path != path {
			return false
		}
		kind := "application/json"
		if strings.HasPrefix(body, "<") {
			kind = "text/html"
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		w.Write([]byte(body))
		return true
	}
}

func TestTokenEndpointsThatLie(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"HTML":            {200, "<html><h1>Welcome", "text/html"},
		"HTML refusal":    {403, "<html>", "text/html"},
		"no JSON":         {200, "{{{", "JSON"},
		"no token":        {200, `{"token_type":"Bearer"}`, "no access token"},
		"another type":    {200, `{"access_token":"x","token_type":"mac"}`, "mac"},
		"a line break":    {200, `{"access_token":"x\r\nX-Evil: 1","token_type":"Bearer"}`, "no header"},
		"a list":          {200, `[]`, "JSON"},
		"an error":        {400, `{"error":"invalid_request","error_description":"\u001b[31mred"}`, "invalid_request"},
		"error, no name":  {418, `{}`, "HTTP 418"},
		"too large":       {200, `{"a":"` + strings.Repeat("x", 2<<20) + `"}`, "1 MiB"},
		"out of order":    {503, `{}`, "HTTP 503"},
		"too many of you": {429, `{}`, "HTTP 429"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) { r.override("/token", c.status, c.body) })
			err := r.signIn()
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "token endpoint 127.0.0.1") {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if strings.ContainsAny(err.Error(), "\x1b\n\r") {
				t.Errorf("live control characters in %q", err)
			}
			if r.account.SignedIn() {
				t.Error("signed in all the same")
			}
		})
	}
}

func TestTokenEndpointThatRedirects(t *testing.T) {
	reached := make(chan bool, 10)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached <- true }))
	defer elsewhere.Close()
	for _, status := range []int{302, 307, 308} {
		r := newRig(t, func(r *rig) {
			r.authority.Override = func(w http.ResponseWriter, req *http.Request) bool {
				if req.URL.Path != "/token" {
					return false
				}
				http.Redirect(w, req, elsewhere.URL, status)
				return true
			}
		})
		if err := r.signIn(); !errors.Is(err, signin.ErrToken) || !strings.Contains(err.Error(), "redirects") {
			t.Errorf("%d: %v", status, err)
		}
	}
	if len(reached) != 0 {
		t.Error("the code went elsewhere")
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

// RFC 9207: an answer of another authorization server is a mix-up.
func TestMixUp(t *testing.T) {
	r := newRig(t, func(r *rig) { r.authority.Issuer = "https://evil.example" })
	if err := r.signIn(); !errors.Is(err, signin.ErrMetadata) || !strings.Contains(err.Error(), "evil.example") {
		t.Errorf("error %v", err)
	}
	if n := len(r.authority.Requests()); n != 0 {
		t.Error("the code was sent all the same")
	}
}

func TestMetadataThatCannotBeTrusted(t *testing.T) {
	metadata := func(name string, value any) func(*rig) {
		return func(r *rig) {
			r.authority.Override = func(w http.ResponseWriter, req *http.Request) bool {
				if req.URL.Path != "/.well-known/oauth-authorization-server" {
					return false
				}
				m := r.authority.Metadata()
				if m[name] = value; value == nil {
					delete(m, name)
				}
				signintest.Answer(w, 200, m)
				return true
			}
		}
	}
	resource := func(m map[string]any) func(*rig) {
		return func(r *rig) {
			r.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if strings.Contains(req.URL.Path, "oauth-protected-resource") {
					if m["resource"] == nil {
						m["resource"] = r.server.URL + "/mcp"
					}
					signintest.Answer(w, 200, m)
					return
				}
				http.NotFound(w, req)
			})
		}
	}
	for name, c := range map[string]struct {
		configure func(*rig)
		want      error
		says      string
	}{
		"another issuer":          {metadata("issuer", "https://evil.example"), signin.ErrMetadata, "evil.example"},
		"no PKCE":                 {metadata("code_challenge_methods_supported", nil), signin.ErrMetadata, "PKCE"},
		"only plain PKCE":         {metadata("code_challenge_methods_supported", []string{"plain"}), signin.ErrMetadata, "S256"},
		"token over http":         {metadata("token_endpoint", "http://evil.example/token"), signin.ErrMetadata, "HTTPS"},
		"no token endpoint":       {metadata("token_endpoint", nil), signin.ErrMetadata, "token endpoint"},
		"authorize with a script": {metadata("authorization_endpoint", "javascript:alert(1)"), signin.ErrMetadata, "javascript"},
		"authorize as a file":     {metadata("authorization_endpoint", "file:///etc/passwd"), signin.ErrMetadata, ""},
		"with a user":             {metadata("authorization_endpoint", "https://a:b@h/x"), signin.ErrMetadata, "user name"},
		"HTML":                    {func(r *rig) { r.override("/.well-known/oauth-authorization-server", 200, "<html>") }, signin.ErrMetadata, "text/html"},
		"nothing":                 {func(r *rig) { r.override("/.well-known/oauth-authorization-server", 404, "{}") }, signin.ErrMetadata, "no metadata"},
		"down":                    {func(r *rig) { r.override("/.well-known/oauth-authorization-server", 500, "{}") }, signin.ErrMetadata, "500"},
		"for another resource":    {resource(map[string]any{"resource": "https://bank.example/", "authorization_servers": []string{"https://as.example"}}), signin.ErrMetadata, "bank.example"},
		"for a sibling": {func(r *rig) {
			resource(map[string]any{"resource": r.server.URL + "/mc", "authorization_servers": []string{r.authority.URL}})(r)
		}, signin.ErrMetadata, "not for"},
		"no authority":            {resource(map[string]any{}), signin.ErrMetadata, "no authorization server"},
		"authority over http":     {resource(map[string]any{"authorization_servers": []string{"http://as.example"}}), signin.ErrMetadata, "https"},
		"authority is no address": {resource(map[string]any{"authorization_servers": []string{"\x1b[31m"}}), signin.ErrMetadata, "no address"},
		"no sign-in at all":       {func(r *rig) { r.server.Config.Handler = http.NotFoundHandler() }, signin.ErrNone, "header"},
		"HTML on every address": {func(r *rig) {
			r.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>hello")) })
		}, signin.ErrNone, "header"},
		"not the configured one": {func(r *rig) { r.spec.OAuth.Issuer = "https://only.example" }, signin.ErrMetadata, "only.example"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.configure)
			_, err := r.account.Begin(r.ctx())
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("error %q, want %q that says %q", err, c.want, c.says)
			}
			if err := r.account.Discover(r.ctx()); !errors.Is(err, c.want) {
				t.Errorf("discover: %v", err)
			}
		})
	}
}

func TestMetadataForAllOfAnOrigin(t *testing.T) {
	r := newRig(t, nil)
	guard := r.server.Config.Handler
	r.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/.well-known/oauth-protected-resource":
			signintest.Answer(w, 200, map[string]any{"resource": r.server.URL, "authorization_servers": []string{r.authority.URL}})
		case "/mcp":
			guard.ServeHTTP(w, req)
		default:
			http.NotFound(w, req)
		}
	})
	r.mustSignIn()
	if got := r.authority.Requests()[0].Get("resource"); got != r.server.URL {
		t.Errorf("the token is for %s", got)
	}
	r.want(200)
}

func TestChallengeThatNamesMetadataElsewhereIsNotIgnored(t *testing.T) {
	r := newRig(t, nil)
	again, err := r.account.Refused(r.ctx(), event.Secret{}, 401, []string{`Bearer resource_metadata="` + r.authority.URL + `/nothing"`})
	if again || err != nil {
		t.Fatalf("%v, %v", again, err)
	}
	if err := r.account.Discover(r.ctx()); !errors.Is(err, signin.ErrMetadata) {
		t.Errorf("error %v", err)
	}
}

// A server on the public network must not make the host ask its neighbours.
func TestPublicServerCannotPointInside(t *testing.T) {
	r := newRig(t, func(r *rig) { r.spec.URL = "https://192.0.2.1/mcp" })
	for _, address := range []string{"http://127.0.0.1:1/x", "http://localhost/x", "http://[::1]/x"} {
		if _, err := r.account.Refused(r.ctx(), event.Secret{}, 401, []string{`Bearer resource_metadata="` + address + `"`}); err != nil {
			t.Fatal(err)
		}
		if err := r.account.Discover(r.ctx()); !errors.Is(err, signin.ErrMetadata) || !strings.Contains(err.Error(), "on this machine") {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"https://10.0.0.1/x", "https://169.254.169.254/latest", "https://[fd00::1]/x"} {
		if _, err := r.account.Refused(r.ctx(), event.Secret{}, 401, []string{`Bearer resource_metadata="` + address + `"`}); err != nil {
			t.Fatal(err)
		}
		if err := r.account.Discover(r.ctx()); !errors.Is(err, signin.ErrMetadata) || !strings.Contains(err.Error(), "not on the public network") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestBrowserThatBringsSomethingElse(t *testing.T) {
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

// Nothing that can be printed by accident holds a token.
func TestSecretsMaskThemselves(t *testing.T) {
	const secret = "a-client-secret-of-a-robot"
	r := newRig(t, func(r *rig) {
		r.authority.Secret = secret
		r.spec.OAuth = event.OAuth{ClientID: "robot", ClientSecret: event.NewSecret(secret), ClientCredentials: true}
	})
	r.want(200)
	token, err := r.account.Token(r.ctx())
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v %#v", r.account, r.account); strings.Contains(text, secret) || strings.Contains(text, token.Reveal()) {
		t.Error("an account that is printed shows its secrets")
	}
}
